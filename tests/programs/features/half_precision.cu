// Feature: half precision | `__half`, `__half2`, `__nv_bfloat16` and their pairs: conversions with each rounding, arithmetic rounded as on a card, comparisons, functions, atomics, shuffles
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "../runtime_expect.h"

__global__ void halves(float* out) {
    const __half third = __float2half(1.0f / 3.0f);
    out[0] = __half2float(third);
    out[1] = __half2float(__float2half_ru(1.0f / 3.0f));
    out[2] = __half2float(__float2half_rn(65520.0f));
    out[3] = __half2float(__float2half_rz(65535.0f));
    out[4] = __half2float(__hadd(__float2half(2048.0f), __float2half(1.0f)));  // a tie, to even
    out[5] = __half2float(__hfma(__float2half(0.1f), __float2half(10.0f), __float2half(-1.0f)));
    const __half2 pair = __floats2half2_rn(1.5f, -2.0f), square = __hmul2(pair, pair);
    out[6] = __low2float(square) + __high2float(square);
    out[7] = __half2float(hsqrt(__float2half(2.0f)));
    out[8] = __half2float(__ushort_as_half(1));  // the smallest
    out[9] = static_cast<float>(__half2int_rn(__float2half(2.5f)) +
                                10 * __half2int_ru(__float2half(2.5f)));
    out[10] = __hgt(third, __float2half(0.25f)) && !__hisnan(third) &&
              __hbgt2(__float2half2_rn(1), __float2half2_rn(0));
    out[11] = __half2float(third * third + __half(2));
}
__global__ void brain(float* out) {
    out[0] = __bfloat162float(__float2bfloat16(1.0f / 3.0f));
    out[1] = __bfloat162float(__hadd(__float2bfloat16(256.0f), __float2bfloat16(1.0f)));
    out[2] = __bfloat162float(__float2bfloat16(3e38f));
    const __nv_bfloat162 pair = __floats2bfloat162_rn(1.0f, 3.0f);
    out[3] = __low2float(pair) + __high2float(__hfma2(pair, pair, pair));
}
__global__ void sum(const __half* values, __half* total, float* of_warp) {
    __half value = values[threadIdx.x];
    atomicAdd(total, value);
    for (int distance = 16; distance > 0; distance /= 2)
        value = __hadd(value, __shfl_down_sync(~0u, value, distance));
    if (threadIdx.x == 0) *of_warp = __half2float(value);
}

int main() {
    float* out = zeros<float>(16);
    halves<<<1, 1>>>(out);
    EXPECT_RUN();
    const float right[12] = {0.333251953125f,
                             0.33349609375f,
                             INFINITY,
                             65504,
                             2048,
                             -0.000244140625f,
                             6.25f,
                             1.4140625f,
                             5.9604644775390625e-08f,
                             32,
                             1,
                             2.111328125f};
    for (int i = 0; i < 12; ++i) {
        if (read_back(out + i) != right[i])
            printf("%d: %.12g, not %.12g\n", i, read_back(out + i), right[i]);
        EXPECT(read_back(out + i) == right[i]);
    }
    brain<<<1, 1>>>(out);
    EXPECT_RUN();
    EXPECT(read_back(out) == 0.333984375f && read_back(out + 1) == 256 && read_back(out + 3) == 13);
    EXPECT(read_back(out + 2) > 2.9e38f && read_back(out + 2) < INFINITY);

    __half host[32], *values = zeros<__half>(32), *total = zeros<__half>(1);
    for (int i = 0; i < 32; ++i) host[i] = __float2half(static_cast<float>(i));
    SUCCEEDS(cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice));
    sum<<<1, 32>>>(values, total, out);
    EXPECT_RUN();
    EXPECT(__half2float(read_back(total)) == 496 && read_back(out) == 496);
    for (void* pointer : {(void*)out, (void*)values, (void*)total}) SUCCEEDS(cudaFree(pointer));
    printf("ok\n");
}
