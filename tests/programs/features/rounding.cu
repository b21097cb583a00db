// Feature: directed rounding | `__fadd_rd`, `__fmul_ru`, `__ddiv_rz`, `__fsqrt_ru`, `__fmaf_rd`, ... and conversions such as `__double2float_ru`, `__int2float_rz`
#include "../runtime_expect.h"

// Each pair holds a result rounded down and up, which are neighbours around the exact one.
__global__ void compute(float* f, double* d, float a, float b) {
    f[0] = __fadd_rd(a, b), f[1] = __fadd_ru(a, b);
    f[2] = __fsub_rd(b, a), f[3] = __fsub_ru(b, a);
    f[4] = __fmul_rd(a, a), f[5] = __fmul_ru(a, a);
    f[6] = __fdiv_rd(a, b), f[7] = __fdiv_ru(a, b);
    f[8] = __fmaf_rd(a, a, b), f[9] = __fmaf_ru(a, a, b);
    f[10] = __frcp_rd(b), f[11] = __frcp_ru(b);
    f[12] = __fsqrt_rd(a), f[13] = __fsqrt_ru(a);
    f[14] = __double2float_rd(0.1), f[15] = __double2float_ru(0.1);
    f[16] = __int2float_rd(16777217), f[17] = __int2float_ru(16777217);
    f[18] = __fadd_rz(-a, -b), f[19] = __fadd_rz(a, b);
    const double x = a, y = 3;
    d[0] = __dadd_rd(x, 1e-20), d[1] = __dadd_ru(x, 1e-20);
    d[2] = __dmul_rd(0.1, 0.1), d[3] = __dmul_ru(0.1, 0.1);
    d[4] = __ddiv_rd(x, 7), d[5] = __ddiv_ru(x, 7);
    d[6] = __dsqrt_rd(2), d[7] = __dsqrt_ru(2);
    d[8] = __drcp_rd(y), d[9] = __drcp_ru(y);
    d[10] = __fma_rd(x, x, 1e-20), d[11] = __fma_ru(x, x, 1e-20);
}

int main() {
    float* f = zeros<float>(20);
    double* d = zeros<double>(12);
    const float a = 1.1f, b = 3e-3f;
    compute<<<1, 1>>>(f, d, a, b);
    EXPECT_RUN();
    const double exact[9] = {double(a) + b,     double(b) - a, double(a) * a,   double(a) / b,
                             double(a) * a + b, 1.0 / b,       sqrt(double(a)), 0.1,
                             16777217};
    for (int i = 0; i < 9; ++i) {
        const float down = read_back(f + 2 * i), up = read_back(f + 2 * i + 1);
        EXPECT(down < exact[i] && exact[i] < up && nextafterf(down, INFINITY) == up);
    }
    EXPECT(read_back(f + 19) == read_back(f) && read_back(f + 18) == -read_back(f));
    for (int i = 0; i < 6; ++i) {
        const double down = read_back(d + 2 * i), up = read_back(d + 2 * i + 1);
        EXPECT(down < up && nextafter(down, INFINITY) == up);
    }
    EXPECT(read_back(d) == a && read_back(d + 9) > 1.0 / 3 - 1e-15);
    SUCCEEDS(cudaFree(f));
    SUCCEEDS(cudaFree(d));
    std::puts("ok");
}
