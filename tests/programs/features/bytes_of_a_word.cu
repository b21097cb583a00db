// Feature: SIMD intrinsics | `__vadd4`, `__vmaxs2`, `__vsadu4`, ... on the bytes and halves of a word, `__dp4a`, `__dp2a_lo`, also of `char4`
#include "../runtime_expect.h"

__global__ void compute(unsigned int* out, unsigned int a, unsigned int b) {
    out[0] = __vadd4(a, b);
    out[1] = __vaddus4(a, b);
    out[2] = __vsubss4(a, b);
    out[3] = __vmaxs4(a, b);
    out[4] = __vminu2(a, b);
    out[5] = __vabsdiffu4(a, b);
    out[6] = __vsadu4(a, b);
    out[7] = __vcmpgtu4(a, b);
    out[8] = __vseteq4(a, b);
    out[9] = __vavgu4(a, b);
    out[10] = __vhaddu4(a, b);
    out[11] = __vneg2(a);
    out[12] = static_cast<unsigned int>(__dp4a(static_cast<int>(a), static_cast<int>(b), 100));
    out[13] = __dp4a(a, b, 1u);
    out[14] = static_cast<unsigned int>(__dp2a_lo(static_cast<int>(a), static_cast<int>(b), 0));
    out[15] = __dp2a_hi(a, b, 0u);
    const char4 x = make_char4(1, 127, -1, -128), y = make_char4(127, 1, 1, 127);
    out[16] = static_cast<unsigned int>(__dp4a(x, y, 100));
    out[17] = __dp2a_hi(make_ushort2(0x7f01, 0x80ff), make_uchar4(0x7f, 1, 1, 0x7f), 0u);
}

int main() {
    const unsigned int a = 0x80ff7f01u, b = 0x7f01017fu;
    const unsigned int right[18] = {
        0xff008080u,
        0xffff8080u,
        0x80fe7e82u,
        0x7f017f7fu,
        0x7f01017fu,
        0x01fe7e7eu,
        0x1fbu,
        0xffffff00u,
        0x00000000u,
        0x80804040u,
        0x7f804040u,
        0x7f0180ffu,
        static_cast<unsigned int>(100 - 128 * 127 - 1 + 127 + 127),
        1u + 128 * 127 + 255 + 127 + 127,
        static_cast<unsigned int>(0x7f01 * 127 + (0x80ff - 0x10000) * 1),
        0x7f01u * 1 + 0x80ffu * 0x7f,
        right[12],
        right[15]};
    unsigned int* out = zeros<unsigned int>(18);
    compute<<<1, 1>>>(out, a, b);
    EXPECT_RUN();
    for (int i = 0; i < 18; ++i) {
        if (read_back(out + i) != right[i])
            printf("%d: %08x, not %08x\n", i, read_back(out + i), right[i]);
        EXPECT(read_back(out + i) == right[i]);
    }
    SUCCEEDS(cudaFree(out));
    printf("ok\n");
}
