// Feature: inline PTX | special registers (`%laneid`, `%lanemask_lt`, `%globaltimer`, ...), arithmetic, `mad`, `bfe`, `bfi`, `prmt`, `cvt.pack`, `lop3`, `shf`, `popc`, `selp`, loads and stores, predicates, `.reg`
#include "../runtime_expect.h"

__device__ unsigned int lane() {
    unsigned int id;
    asm("mov.u32 %0, %%laneid;" : "=r"(id));
    return id;
}

__global__ void compute(int* out, const int* in) {
    unsigned int below, block, bits, picked;
    long long time;
    asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
    asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(block));
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    EXPECT(lane() == threadIdx.x % 32 && below == (1u << lane()) - 1 && block == blockIdx.x &&
           time > 0);
    if (threadIdx.x != 3) return;

    int sum = -7, high, wide = 0;
    asm("add.s32 %0, %1, %2;" : "=r"(sum) : "r"(20), "r"(-5));
    asm("mad.lo.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(3), "r"(4));
    out[0] = sum;  // 27
    asm("mul.hi.s32 %0, %1, %2;" : "=r"(high) : "r"(1 << 30), "r"(-8));
    out[1] = high;  // -2
    asm("bfe.u32 %0, %1, 4, 8;" : "=r"(bits) : "r"(0xabcdu));
    out[2] = static_cast<int>(bits);  // 0xbc
    asm("bfi.b32 %0, %1, %2, 8, 4;" : "=r"(bits) : "r"(0xfu), "r"(0u));
    out[3] = static_cast<int>(bits);  // 0xf00
    asm("prmt.b32 %0, %1, %2, 0x5140;" : "=r"(bits) : "r"(0x03020100u), "r"(0x07060504u));
    out[4] = static_cast<int>(bits);
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(bits) : "r"(12u), "r"(10u), "r"(9u));
    out[5] = static_cast<int>(bits);  // 12 ^ 10 ^ 9
    asm("{ .reg .pred p;\n\t setp.lt.s32 p, %1, %2;\n\t selp.u32 %0, 100, 200, p;\n\t @!p add.u32 "
        "%0, %0, 1; }"
        : "=r"(picked)
        : "r"(3), "r"(2));
    out[6] = static_cast<int>(picked);  // 201
    asm volatile("ld.global.s32 %0, [%1+4];" : "=r"(wide) : "l"(in));
    asm volatile("st.global.s32 [%0], %1;" ::"l"(out + 7), "r"(wide + 1) : "memory");
    float root = 0;
    asm("fma.rn.f32 %0, %1, %1, %2;" : "=f"(root) : "f"(1.5f), "f"(0.25f));
    out[8] = static_cast<int>(root * 2);  // 5
    unsigned long long product;
    asm("mul.wide.u32 %0, %1, %2;" : "=l"(product) : "r"(0xffffffffu), "r"(2u));
    out[9] = static_cast<int>(product >> 32);
    asm("popc.b32 %0, %1;" : "=r"(bits) : "r"(0xff0fu));
    out[10] = static_cast<int>(bits);
    asm("shl.b32 %0, %1, 40;" : "=r"(bits) : "r"(1u));
    out[11] = static_cast<int>(bits);
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(bits) : "r"(300), "r"(-5), "r"(0x7001234));
    out[12] = static_cast<int>(bits);  // two bytes of the last, 300 as 255, -5 as 0
}

int main() {
    const int right[13] = {27, -2, 0xbc, 0xf00, 0x05010400, 12 ^ 10 ^ 9, 201,
                           43, 5,  1,    12,    0,          0x1234ff00};
    int *out = zeros<int>(13), *in = zeros<int>(2), given[2] = {1, 42};
    SUCCEEDS(cudaMemcpy(in, given, sizeof given, cudaMemcpyHostToDevice));
    compute<<<2, 64>>>(out, in);
    EXPECT_RUN();
    for (int i = 0; i < 13; ++i) {
        if (read_back(out + i) != right[i])
            printf("%d: %d, not %d\n", i, read_back(out + i), right[i]);
        EXPECT(read_back(out + i) == right[i]);
    }
    SUCCEEDS(cudaFree(out));
    SUCCEEDS(cudaFree(in));
    printf("ok\n");
}
