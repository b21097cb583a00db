// Feature: inline PTX of warps | `shfl.sync`, `vote.sync`, `activemask`, `match.any.sync`, `redux.sync`, `bar.warp.sync`
#include "../runtime_expect.h"

__global__ void together(unsigned int* out) {
    const unsigned int lane = threadIdx.x;
    unsigned int value, mask;
    asm volatile("shfl.sync.down.b32 %0, %1, 3, 0x1f, 0xffffffff;"
                 : "=r"(value)
                 : "r"(lane * lane));
    EXPECT(value == (lane + 3 < 32 ? (lane + 3) * (lane + 3) : lane * lane));
    asm volatile("shfl.sync.up.b32 %0, %1, 1, 0x0, 0xffffffff;" : "=r"(value) : "r"(lane));
    EXPECT(value == (lane > 0 ? lane - 1 : 0));
    // In sections of 8 lanes.
    asm volatile("shfl.sync.bfly.b32 %0, %1, 5, 0x181f, 0xffffffff;" : "=r"(value) : "r"(lane));
    EXPECT(value == (lane ^ 5));
    asm volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, 0xffffffff;"
                 : "=r"(value)
                 : "r"(lane + 100), "r"(31 - lane));
    EXPECT(value == 131 - lane);

    asm volatile(
        "{\n\t.reg .pred p;\n\tsetp.lt.u32 p, %1, 5;\n\tvote.sync.ballot.b32 %0, p, "
        "0xffffffff;\n\t}"
        : "=r"(mask)
        : "r"(lane));
    EXPECT(mask == 0x1f);
    asm volatile("activemask.b32 %0;" : "=r"(mask));
    EXPECT((mask >> lane & 1) == 1);
    asm volatile("match.any.sync.b32 %0, %1, 0xffffffff;" : "=r"(mask) : "r"(lane % 4));
    EXPECT(mask == 0x11111111u << lane % 4);
    asm volatile("bar.warp.sync %0;" ::"r"(0xffffffffu) : "memory");
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm volatile("redux.sync.add.u32 %0, %1, 0xffffffff;" : "=r"(value) : "r"(lane));
    EXPECT(value == 496);
#endif
    if (lane == 0) *out = 1;
}

int main() {
    auto* out = zeros<unsigned int>(1);
    together<<<1, 32>>>(out);
    EXPECT_RUN();
    EXPECT(read_back(out) == 1);
    printf("ok\n");
}
