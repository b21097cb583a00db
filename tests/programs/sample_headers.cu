// For tests/test_features.py: what NVIDIA's samples include from beside them, without those headers.
#include <helper_cuda.h>
#include <helper_functions.h>
#include <helper_math.h>

#include <cmath>
#include <cstdio>

__global__ void turn(float3* out, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float3 axis = make_float3(0.0f, 0.0f, 1.0f);
    float3 value = make_float3(make_float2(float(i), 0.0f), 0.0f) + make_float3(1.0f);
    value -= axis;
    out[i] = clamp(cross(axis, normalize(value)) * 2.0f, -1.0f, 1.0f) + dot(axis, value) * axis;
}

int main(int argc, char** argv) {
    findCudaDevice(argc, (const char**)argv);
    const int count = checkCmdLineFlag(argc, (const char**)argv, "count")
                          ? getCmdLineArgumentInt(argc, (const char**)argv, "count")
                          : 1;
    StopWatchInterface* timer = nullptr;
    sdkCreateTimer(&timer);
    sdkStartTimer(&timer);
    float3* out;
    checkCudaErrors(cudaMallocManaged(&out, 64 * sizeof(float3)));
    turn<<<2, 32>>>(out, count);
    getLastCudaError("the launch failed");
    checkCudaErrors(cudaDeviceSynchronize());
    sdkStopTimer(&timer);
    std::printf("%d %.3f %.3f %.3f %d\n", count, out[0].x, out[0].y, out[3].x,
                sdkGetTimerValue(&timer) > 0);
    sdkDeleteTimer(&timer);

    unsigned char pixels[12], *read = nullptr;
    unsigned int width = 0, height = 0;
    for (int i = 0; i < 12; ++i) pixels[i] = (unsigned char)(20 * i);
    char* file = nullptr;
    getCmdLineArgumentString(argc, (const char**)argv, "image", &file);
    sdkSavePPMub(file, pixels, 2, 2);
    std::printf("%d", sdkLoadPPM4ub(file, &read, &width, &height));
    std::printf(" %u %u %d %d\n", width, height, read[4], sdkComparePPM(file, file, 0, 0));
    std::free(read);
    checkCudaErrors(cudaFree((char*)out + 4));
}
