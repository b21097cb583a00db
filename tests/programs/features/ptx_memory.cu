// Feature: inline PTX of memory | `ld`, `st` with vectors, spaces and hints, `ld.acquire`, `st.release`, `atom`, `red`, `cvta`, `cp.async` with its groups, `bar.sync` by number, `bar.red`, `add.cc`, packing of registers
#include <cstdint>

#include "../runtime_expect.h"

__device__ uint32_t shared_address(const void* memory) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(memory));
}

__global__ void load_and_store(const int* in, int* out) {
    __shared__ alignas(16) int tile[64];
    const int t = threadIdx.x;
    int4 four;
    asm volatile("ld.global.v4.s32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(four.x), "=r"(four.y), "=r"(four.z), "=r"(four.w)
                 : "l"(in + 4 * (t % 8)));
    int streamed, kept;
    asm volatile("ld.global.nc.L1::no_allocate.s32 %0, [%1];" : "=r"(streamed) : "l"(in + t));
    asm volatile("st.shared.s32 [%0], %1;" ::"r"(shared_address(tile + t)), "r"(streamed)
                 : "memory");
    __syncthreads();
    asm volatile("ld.shared.s32 %0, [%1 + 4];" : "=r"(kept) : "r"(shared_address(tile + t / 2)));
    EXPECT(four.w == 4 * (t % 8) + 3 && kept == t / 2 + 1);
    asm volatile("st.global.cs.v2.s32 [%0], {%1, %2};" ::"l"(out + 2 * t), "r"(four.x), "r"(kept)
                 : "memory");
}

__global__ void copy(const int* in, int* out) {
    __shared__ alignas(16) int tile[2][64];
    const int t = threadIdx.x;
    for (int part = 0; part < 2; ++part) {
        if (t < 16)
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                             shared_address(&tile[part][4 * t])),
                         "l"(in + 64 * part + 4 * t)
                         : "memory");
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    asm volatile("cp.async.wait_group %0;" ::"n"(1) : "memory");
    __syncthreads();
    out[t] = tile[0][63 - t];
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    out[64 + t] = tile[1][63 - t];
}

__global__ void count(int* total, unsigned int* most, float* sum, unsigned long long* wide) {
    int before;
    asm volatile("atom.global.add.s32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(total), "r"(2)
                 : "memory");
    EXPECT(before % 2 == 0);
    asm volatile("red.global.max.u32 [%0], %1;" ::"l"(most), "r"(threadIdx.x) : "memory");
    asm volatile("red.global.add.f32 [%0], %1;" ::"l"(sum), "f"(0.5f) : "memory");
    asm volatile("red.relaxed.gpu.global.add.u64 [%0], %1;" ::"l"(wide), "l"(1ull << 32)
                 : "memory");
}

// The second warp waits for the flag that the first one sets, and for its value.
__global__ void hand_over(int* value, int* flag, int* received) {
    if (threadIdx.x == 0) {
        *value = 5;
        asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(flag), "r"(1) : "memory");
    } else if (threadIdx.x == 32) {
        int seen = 0;
        while (seen == 0)
            asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
        *received = *value;
    }
}

// Two halves of the block meet at barriers of their own.
__global__ void meet_in_halves(int* out) {
    __shared__ int values[128];
    const int t = threadIdx.x, half = t / 64;
    values[t] = t;
    asm volatile("bar.sync %0, 64;" ::"r"(half + 1) : "memory");
    int any;
    asm volatile(
        "{ .reg .pred %%own, %%some;\n\t setp.eq.s32 %%own, %1, 100;\n\t"
        "bar.red.or.pred %%some, 3, %%own;\n\t selp.s32 %0, 1000, 0, %%some; }"
        : "=r"(any)
        : "r"(t)
        : "memory");
    out[t] = values[64 * half + 63 - t % 64] + any;
}

__global__ void registers(unsigned int* out) {
    unsigned int low, high, sum, carry;
    unsigned long long whole;
    asm("mov.b64 {%0, %1}, %2;" : "=r"(low), "=r"(high) : "l"(0x500000003ull));
    asm("mov.b64 %0, {%1, %2};" : "=l"(whole) : "r"(high), "r"(low));
    asm("add.cc.u32 %0, %2, %3;\n\taddc.u32 %1, 0, 0;"
        : "=r"(sum), "=r"(carry)
        : "r"(0xfffffffeu), "r"(5u));
    out[0] = low, out[1] = high, out[2] = sum, out[3] = carry;
    EXPECT(whole == 0x300000005ull);
}

int main() {
    int* in = nullptr;
    SUCCEEDS(cudaMallocManaged(&in, 128 * sizeof(int)));
    for (int i = 0; i < 128; ++i) in[i] = i;
    int* out = zeros<int>(128);
    load_and_store<<<1, 64>>>(in, out);
    EXPECT_RUN();
    EXPECT(read_back(out + 2 * 9) == 4 && read_back(out + 2 * 9 + 1) == 5);
    copy<<<1, 64>>>(in, out);
    EXPECT_RUN();
    EXPECT(read_back(out) == 63 && read_back(out + 64) == 127);
    int* total = zeros<int>(1);
    auto* most = zeros<unsigned int>(4);
    auto* sum = zeros<float>(1);
    auto* wide = zeros<unsigned long long>(1);
    count<<<2, 64>>>(total, most, sum, wide);
    EXPECT_RUN();
    EXPECT(read_back(total) == 256 && read_back(most) == 63 && read_back(sum) == 64 &&
           read_back(wide) == 128ull << 32);
    hand_over<<<1, 64>>>(zeros<int>(1), zeros<int>(1), out);
    EXPECT_RUN();
    EXPECT(read_back(out) == 5);
    meet_in_halves<<<1, 128>>>(out);
    EXPECT_RUN();
    EXPECT(read_back(out) == 1063 && read_back(out + 64) == 1127);
    registers<<<1, 1>>>(most);
    EXPECT_RUN();
    EXPECT(read_back(most) == 3 && read_back(most + 1) == 5 && read_back(most + 2) == 3 &&
           read_back(most + 3) == 1);
    printf("ok\n");
}
