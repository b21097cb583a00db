// Intrinsics against known values, and the vector types, on the device; sizes at compile time.
#include <math_constants.h>

#include <climits>
#include <cmath>

#include "runtime_expect.h"

// ---------------------------------------------------------------- vector types
#define SIZE_AND_ALIGNMENT(type, size, alignment) \
    static_assert(sizeof(type) == size && alignof(type) == alignment, #type)
#define FOUR_SIZES(name, one, two, three, four, most) \
    SIZE_AND_ALIGNMENT(name##1, one, one);            \
    SIZE_AND_ALIGNMENT(name##2, two, two);            \
    SIZE_AND_ALIGNMENT(name##3, three, one);          \
    SIZE_AND_ALIGNMENT(name##4, four, most)
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // of CUDA 13, for double4 and its kin
#ifdef __NVCC__
#pragma nv_diag_suppress 1444
#endif
FOUR_SIZES(char, 1, 2, 3, 4, 4);
FOUR_SIZES(uchar, 1, 2, 3, 4, 4);
FOUR_SIZES(short, 2, 4, 6, 8, 8);
FOUR_SIZES(ushort, 2, 4, 6, 8, 8);
FOUR_SIZES(int, 4, 8, 12, 16, 16);
FOUR_SIZES(uint, 4, 8, 12, 16, 16);
FOUR_SIZES(float, 4, 8, 12, 16, 16);
SIZE_AND_ALIGNMENT(long1, 8, 8);
SIZE_AND_ALIGNMENT(long2, 16, 16);
SIZE_AND_ALIGNMENT(ulong3, 24, 8);
SIZE_AND_ALIGNMENT(longlong1, 8, 8);
SIZE_AND_ALIGNMENT(longlong2, 16, 16);
SIZE_AND_ALIGNMENT(ulonglong2, 16, 16);
SIZE_AND_ALIGNMENT(ulonglong3, 24, 8);
SIZE_AND_ALIGNMENT(double1, 8, 8);
SIZE_AND_ALIGNMENT(double2, 16, 16);
SIZE_AND_ALIGNMENT(double3, 24, 8);
SIZE_AND_ALIGNMENT(double4, 32, 16);
SIZE_AND_ALIGNMENT(long4, 32, 16);
SIZE_AND_ALIGNMENT(ulonglong4, 32, 16);
SIZE_AND_ALIGNMENT(dim3, 12, 4);
struct __align__(16) Aligned {
    char letter;
};
SIZE_AND_ALIGNMENT(Aligned, 16, 16);

__global__ void vector_kernel(float4* values, uchar4* pixels) {
    const float4 value = make_float4(1, 2, 3, 4);
    values[threadIdx.x] = value;
    values[threadIdx.x].w += threadIdx.x;
    pixels[threadIdx.x] = make_uchar4(threadIdx.x, 1, 255, 0);
    const dim3 shape(threadIdx.x), other(blockIdx), block = blockDim;
    EXPECT(shape.x == threadIdx.x && shape.y == 1 && other.z == 0 && block.x == 8);
    const int2 pair = {1, 2};
    const double3 triple = make_double3(0.5, 1.5, pair.y);
    EXPECT(triple.z == 2.0);
}

// ---------------------------------------------------------------- intrinsics
__global__ void bits_kernel() {
    EXPECT(__popc(0xf0f0u) == 8 && __popc(~0u) == 32 && __popcll(~0ull) == 64);
    EXPECT(__clz(0) == 32 && __clz(1) == 31 && __clz(-1) == 0 && __clzll(0) == 64);
    EXPECT(__clzll(1ll << 40) == 23 && __ffs(0) == 0 && __ffs(8) == 4 && __ffs(INT_MIN) == 32);
    EXPECT(__ffsll(1ll << 40) == 41 && __ffsll(0) == 0);
    EXPECT(__brev(1) == 0x80000000u && __brev(0x12345678u) == 0x1e6a2c48u);
    EXPECT(__brevll(1) == 1ull << 63 && __brevll(0x123456789abcdef0ull) == 0x0f7b3d591e6a2c48ull);
    EXPECT(__byte_perm(0x33221100u, 0x77665544u, 0x7531) == 0x77553311u);
    EXPECT(__byte_perm(0x33221100u, 0x77665544u, 0x0123) == 0x00112233u);
    EXPECT(__byte_perm(0x83221180u, 0, 0x3b80) == 0x83838080u);
    EXPECT(__funnelshift_l(0x80000000u, 0x1u, 1) == 3u && __funnelshift_l(1, 2, 32) == 2u);
    EXPECT(__funnelshift_r(0x80000000u, 0x1u, 1) == 0xc0000000u && __funnelshift_r(1, 2, 33) == 0u);
    EXPECT(__funnelshift_lc(7, 2, 40) == 7u && __funnelshift_rc(7, 2, 32) == 2u);
    EXPECT(__mulhi(INT_MIN, INT_MIN) == 0x40000000 && __mulhi(-1, 1) == -1);
    EXPECT(__umulhi(0xffffffffu, 0xffffffffu) == 0xfffffffeu);
    EXPECT(__umul64hi(~0ull, ~0ull) == ~0ull - 1 && __mul64hi(-1ll, 1ll) == -1);
    EXPECT(__mul24(-3, 5) == -15 && __umul24(0x1000003u, 4) == 12u);
    EXPECT(__mul24(0x7fffff, 0x7fffff) == int(0xff000001u));
    EXPECT(__sad(3, 10, 5) == 12u && __sad(INT_MAX, INT_MIN, 0) == UINT_MAX);
    EXPECT(__usad(10, 3, 5) == 12u && __hadd(-3, 2) == -1 && __rhadd(3, 4) == 4);
    EXPECT(__uhadd(0xffffffffu, 0xfffffffdu) == 0xfffffffeu);
    EXPECT(__float_as_int(1.0f) == 0x3f800000 && __int_as_float(0x40490fdb) == 3.14159274f);
    EXPECT(__float_as_uint(-0.0f) == 0x80000000u && __uint_as_float(0x7f800000u) == INFINITY);
    EXPECT(__double_as_longlong(1.0) == 0x3ff0000000000000ll);
    EXPECT(__longlong_as_double(0x4000000000000000ll) == 2.0);
    EXPECT(__hiloint2double(0x40080000, 0) == 3.0 && __double2hiint(-2.0) == int(0xc0000000u));
    EXPECT(__double2loint(0.1) == int(0x9999999au));
}

__global__ void whole_kernel() {
    EXPECT(__float2int_rn(2.5f) == 2 && __float2int_rn(3.5f) == 4 && __float2int_rz(-2.7f) == -2);
    EXPECT(__float2int_rd(-2.1f) == -3 && __float2int_ru(2.1f) == 3 && __float2int_rn(-0.5f) == 0);
    EXPECT(__float2int_rz(1e20f) == INT_MAX && __float2int_rn(-1e20f) == INT_MIN);
    EXPECT(__float2int_rz(INFINITY) == INT_MAX && __float2int_rz(NAN) == 0);
    EXPECT(__float2uint_rz(-5.0f) == 0u && __float2uint_rn(5e9f) == UINT_MAX);
    EXPECT(__float2uint_rd(3e9f) == 3000000000u && __float2uint_ru(1.5f) == 2u);
    EXPECT(__float2ll_rz(1e30f) == LLONG_MAX && __float2ll_rn(-1e18f) == -999999984306749440ll);
    EXPECT(__float2ull_rz(1.8e19f) == 18000000404716257280ull && __float2ull_rd(-1.0f) == 0ull);
    EXPECT(__double2int_rn(2.5) == 2 && __double2int_rz(1e10) == INT_MAX);
    EXPECT(__double2int_rd(-0.1) == -1 && __double2uint_rn(4294967295.0) == UINT_MAX);
    EXPECT(__double2ll_rn(-4503599627370497.5) == -4503599627370498ll);
    EXPECT(__double2ll_rz(1e300) == LLONG_MAX && __double2ull_rz(1e19) == 10000000000000000000ull);
    EXPECT(__int2float_rn(16777217) == 16777216.0f && __uint2float_rn(UINT_MAX) == 4294967296.0f);
    EXPECT(__ll2double_rn(LLONG_MAX) == 9223372036854775808.0 && __int2double_rn(-7) == -7.0);
    EXPECT(__double2float_rn(0.1) == 0.1f && __ll2float_rn(-1) == -1.0f);
}

__device__ bool close(double got, double expected, double tolerance = 2e-6) {
    return fabs(got - expected) <= tolerance * fmax(1.0, fabs(expected));
}

__global__ void real_kernel(float zero) {
    const float nan = zero / zero, one = zero + 1;
    EXPECT(min(nan, 1.0f) == 1.0f && max(1.0f, nan) == 1.0f && fminf(nan, 2.0f) == 2.0f);
    EXPECT(min(2.0, double(nan)) == 2.0 && isnan(nan) && !isfinite(one / zero));
    EXPECT(min(3, -2) == -2 && max(3u, 2u) == 3u && max(-1ll, 4ll) == 4ll &&
           max(-1, 4u) == UINT_MAX);
    EXPECT(min(2.0f, 1.5) == 1.5 && max(size_t(3), size_t(5)) == 5 && abs(-3) == 3);
    EXPECT(abs(-2.5f) == 2.5f && abs(-2.5) == 2.5 && llabs(-5ll) == 5);
    EXPECT(__fadd_rn(one, 2) == 3 && __fmul_rn(one, 2) == 2 && __fdiv_rn(one, 4) == 0.25f);
    EXPECT(__fmaf_rn(16777216.0f, one, -one) == 16777215.0f && fmaf(2, 3, one) == 7);
    EXPECT(__fsqrt_rn(one * 9) == 3 && __frcp_rn(one * 4) == 0.25f && __dsqrt_rn(one * 16) == 4);
    EXPECT(__dadd_rn(one, 0.5) == 1.5 && __fma_rn(one, 2.0, 3.0) == 5.0);
    EXPECT(__saturatef(2 * one) == 1 && __saturatef(-one) == 0 && __saturatef(nan) == 0);
    EXPECT(close(rsqrtf(one * 4), 0.5) && close(rsqrt(double(one) * 16), 0.25));
    EXPECT(close(__expf(one), 2.718281828) && close(__logf(one * 10), 2.302585093));
    EXPECT(close(__powf(2 * one, 10), 1024) && close(__sinf(one), 0.8414709848));
    EXPECT(close(__fdividef(one, 3), 0.3333333433) && close(exp10f(2 * one), 100));
    EXPECT(sinpi(double(one)) == 0 && cospi(0.5 * one) == 0 && sinpif(0.5f * one) == 1);
    EXPECT(cospif(one) == -1 && close(sinpi(-0.25 * one), -0.70710678) && sinpif(-1.5f * one) == 1);
    float sine, cosine;
    __sincosf(one, &sine, &cosine);
    EXPECT(close(sine, 0.8414709848) && close(cosine, 0.5403023059));
    sincosf(one, &sine, &cosine);
    EXPECT(close(sine, 0.8414709848) && close(hypotf(3 * one, 4), 5) && close(cbrt(27.0 * one), 3));
    EXPECT(close(norm3df(one, 2, 2), 3) && close(rhypotf(3 * one, 4), 0.2) &&
           close(rcbrtf(8 * one), 0.5));
    const double sides[] = {one, 2, 4, 10};
    EXPECT(close(norm4df(one, 1, 1, 1), 2) && close(norm(4, sides), 11) &&
           close(rnorm3d(sides[0], 2, 2), 1.0 / 3));
    EXPECT(umin(1u, 4294967295u) == 1 && llmax(-1, 1LL << 40) == 1LL << 40 &&
           ullmin(~0ull, 7) == 7);
    EXPECT(close(normcdff(one), 0.8413447) && close(erff(one), 0.8427007929) &&
           close(tgamma(5.0 * one), 24));
    EXPECT(CUDART_INF_F > 1e38f && CUDART_NAN != CUDART_NAN && close(CUDART_PI_F, 3.14159265));
    EXPECT(fmodf(7.5f * one, 2) == 1.5f && remainderf(7.5f * one, 2) == -0.5f &&
           roundf(-2.5f * one) == -3);
    EXPECT(rintf(2.5f * one) == 2 && copysignf(one, -0.0f) == -1 && ldexpf(one, 5) == 32);
}

int main() {
    float4* const values = zeros<float4>(8);
    uchar4* const pixels = zeros<uchar4>(8);
    vector_kernel<<<1, 8>>>(values, pixels);
    EXPECT_RUN();
    EXPECT(read_back(values + 3).w == 7 && read_back(values + 3).z == 3);
    EXPECT(read_back(pixels + 5).x == 5 && read_back(pixels + 5).z == 255);
    bits_kernel<<<1, 1>>>();
    EXPECT_RUN();
    whole_kernel<<<1, 1>>>();
    EXPECT_RUN();
    real_kernel<<<1, 1>>>(0.0f);
    EXPECT_RUN();
    std::printf("ok\n");
}
