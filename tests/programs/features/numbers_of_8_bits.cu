// Feature: numbers of 8 bits | `__nv_fp8_e4m3`, `__nv_fp8_e5m2`, their pairs and fours: conversions from and to float, double, half, bfloat16 and integers, with and without saturation
#include <cuda_fp8.h>

#include "../runtime_expect.h"

template <class Number>
__host__ __device__ int code(float value) {
    return Number(value).__x;
}

// What is known of the two formats, on either side.
__host__ __device__ void check_codes() {
    using E4 = __nv_fp8_e4m3;
    using E5 = __nv_fp8_e5m2;
    EXPECT(code<E4>(1.0f) == 0x38 && code<E4>(-448.0f) == 0xfe && code<E4>(0.001953125f) == 0x01);
    EXPECT(code<E5>(1.0f) == 0x3c && code<E5>(-57344.0f) == 0xfb);
    EXPECT(code<E5>(1.52587890625e-05f) == 0x01);
    // Ties go to the even one, also between numbers without a leading one.
    EXPECT(code<E4>(1.0625f) == 0x38 && code<E4>(1.1875f) == 0x3a && code<E4>(1.07f) == 0x39);
    EXPECT(code<E5>(1.125f) == 0x3c && code<E5>(1.375f) == 0x3e);
    EXPECT(code<E4>(0.0009765625f) == 0 && code<E4>(0.0029296875f) == 2);
    EXPECT(code<E4>(-0.0f) == 0x80 && code<E5>(-1e-9f) == 0x80);
    // Too large: the largest number; without saturation infinity, or none where the format has none.
    EXPECT(code<E4>(464.0f) == 0x7e && code<E4>(1e9f) == 0x7e && code<E5>(-1e9f) == 0xfb);
    EXPECT(__nv_cvt_float_to_fp8(464.0f, __NV_NOSAT, __NV_E4M3) == 0x7e);
    EXPECT(__nv_cvt_float_to_fp8(465.0f, __NV_NOSAT, __NV_E4M3) == 0x7f);
    EXPECT(__nv_cvt_float_to_fp8(-1e9f, __NV_NOSAT, __NV_E5M2) == 0xfc);
    EXPECT(__nv_cvt_double_to_fp8(61439.9, __NV_NOSAT, __NV_E5M2) == 0x7b);
    EXPECT(__nv_cvt_double_to_fp8(61440.0, __NV_NOSAT, __NV_E5M2) == 0x7c);
    // Each code is the number of its half, and comes back from there.
    for (int i = 0; i < 256; ++i) {
        E4 e4;
        E5 e5;
        e4.__x = e5.__x = static_cast<__nv_fp8_storage_t>(i);
        if ((i & 0x7f) == 0x7f)
            EXPECT(float(e4) != float(e4));
        else
            EXPECT(code<E4>(float(e4)) == i && E4(__half(e4)).__x == i && E4(double(e4)).__x == i);
        if ((i & 0x7f) < 0x7c)
            EXPECT(code<E5>(float(e5)) == i && E5(__half(e5)).__x == i &&
                   E5(__nv_bfloat16(e5)).__x == i);
        EXPECT(__nv_cvt_fp8_to_halfraw(e5.__x, __NV_E5M2).x == i << 8 || (i & 0x7f) > 0x7c);
    }
    EXPECT(int(E4(-7.5f)) == -7 && int(E4(200)) == 192 && static_cast<unsigned int>(E4(-7)) == 0);
    EXPECT(static_cast<signed char>(E5(300.0f)) == 127 && bool(E4(0.5)) && !bool(E4(0.0001)));
    // The first of several is in the lowest bits.
    const float2 two = float2(__nv_fp8x2_e4m3(make_float2(1.1f, -3.0f)));
    EXPECT(two.x == 1.125f && two.y == -3.0f);
    const __nv_fp8x4_e5m2 four(make_float4(1, 2, -3, 1e9f));
    EXPECT(four.__x == 0x7bc2403c && float4(four).z == -3.0f && float4(four).w == 57344.0f);
    EXPECT(__nv_fp8x4_e4m3(__floats2half2_rn(1, 2), __floats2half2_rn(3, 4)).__x == 0x48444038);
}

__global__ void on_device() { check_codes(); }

// Weights in 8 bits and a factor for all of them.
__global__ void product(const __nv_fp8_e4m3* weights, const float* in, float* out, float factor) {
    float sum = 0;
    for (int i = 0; i < 64; ++i) sum += static_cast<float>(weights[threadIdx.x * 64 + i]) * in[i];
    out[threadIdx.x] = factor * sum;
}

int main() {
    check_codes();
    on_device<<<1, 1>>>();
    EXPECT_RUN();

    __nv_fp8_e4m3* weights = nullptr;
    float *in = nullptr, *out = nullptr;
    SUCCEEDS(cudaMallocManaged(&weights, 32 * 64));
    SUCCEEDS(cudaMallocManaged(&in, 64 * sizeof(float)));
    SUCCEEDS(cudaMallocManaged(&out, 32 * sizeof(float)));
    for (int i = 0; i < 32 * 64; ++i) weights[i] = __nv_fp8_e4m3(static_cast<float>(i % 9 - 4));
    for (int i = 0; i < 64; ++i) in[i] = static_cast<float>(i % 5);
    product<<<1, 32>>>(weights, in, out, 0.5f);
    EXPECT_RUN();
    for (int row = 0; row < 32; ++row) {
        int sum = 0;
        for (int i = 0; i < 64; ++i) sum += ((row * 64 + i) % 9 - 4) * (i % 5);
        EXPECT(out[row] == 0.5f * static_cast<float>(sum));
    }
    printf("ok\n");
}
