// Devices: properties, several of them, and occupancy against numbers worked out by hand.
//     runtime_devices t4|h100   the first device is such a one
//     runtime_devices list      prints the devices that are visible
#include <cuda_profiler_api.h>

#include <cstring>
#include <string>

#include "runtime_expect.h"

__global__ void empty_kernel() {}

struct FourBytesEach {
    __host__ __device__ size_t operator()(int threads) const { return 4 * threads; }
};

// What is the same on every GPU of the last ten years.
void check_common(const cudaDeviceProp& properties, int device) {
    EXPECT(properties.warpSize == 32 && properties.maxThreadsPerBlock == 1024);
    EXPECT(properties.maxThreadsDim[0] == 1024 && properties.maxThreadsDim[1] == 1024);
    EXPECT(properties.maxThreadsDim[2] == 64 && properties.maxGridSize[0] == 2147483647);
    EXPECT(properties.maxGridSize[1] == 65535 && properties.maxGridSize[2] == 65535);
    EXPECT(properties.sharedMemPerBlock == 49152 && properties.totalConstMem == 65536);
    EXPECT(properties.regsPerBlock == 65536 && properties.regsPerMultiprocessor == 65536);
    EXPECT(properties.unifiedAddressing == 1 && properties.managedMemory == 1);
    EXPECT(properties.memPitch == 2147483647 && properties.name[0] != '\0');

    // Attributes say the same as properties.
    const auto attribute = [&](cudaDeviceAttr which) {
        int value = -1;
        SUCCEEDS(cudaDeviceGetAttribute(&value, which, device));
        return value;
    };
    EXPECT(attribute(cudaDevAttrComputeCapabilityMajor) == properties.major);
    EXPECT(attribute(cudaDevAttrComputeCapabilityMinor) == properties.minor);
    EXPECT(attribute(cudaDevAttrMultiProcessorCount) == properties.multiProcessorCount);
    EXPECT(attribute(cudaDevAttrMaxThreadsPerMultiProcessor) ==
           properties.maxThreadsPerMultiProcessor);
    EXPECT(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) ==
           int(properties.sharedMemPerBlockOptin));
    EXPECT(attribute(cudaDevAttrL2CacheSize) == properties.l2CacheSize);
    EXPECT(attribute(cudaDevAttrGlobalMemoryBusWidth) == properties.memoryBusWidth);
    EXPECT(attribute(cudaDevAttrWarpSize) == 32 && attribute(cudaDevAttrMaxBlockDimZ) == 64);
    EXPECT(attribute(cudaDevAttrClockRate) > 100000 &&
           attribute(cudaDevAttrMemoryClockRate) > 100000);
}

struct Row {
    int block_size, shared_bytes, blocks;
};

void check_occupancy(const Row* rows, int count) {
    for (int i = 0; i < count; ++i) {
        int blocks = -1;
        SUCCEEDS(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &blocks, empty_kernel, rows[i].block_size, rows[i].shared_bytes));
        if (blocks != rows[i].blocks) {
            std::printf("block size %d, %d bytes: %d blocks\n", rows[i].block_size,
                        rows[i].shared_bytes, blocks);
        }
        EXPECT(blocks == rows[i].blocks);
    }
}

void check_block_size(size_t shared_bytes, int limit, int grid, int block) {
    int grid_size = -1, block_size = -1;
    SUCCEEDS(cudaOccupancyMaxPotentialBlockSize(&grid_size, &block_size, empty_kernel, shared_bytes,
                                                limit));
    if (grid_size != grid || block_size != block) {
        std::printf("%zu bytes, at most %d threads: %d of %d\n", shared_bytes, limit, grid_size,
                    block_size);
    }
    EXPECT(grid_size == grid && block_size == block);
}

// A T4 has room for 1024 threads, 16 blocks and 64 KB a multiprocessor; shared memory comes in
// units of 256 bytes.
void check_t4(const cudaDeviceProp& properties) {
    EXPECT(properties.major == 7 && properties.minor == 5 && properties.multiProcessorCount == 40);
    EXPECT(properties.maxThreadsPerMultiProcessor == 1024);
    EXPECT(properties.sharedMemPerBlockOptin == 65536);
    const Row rows[] = {{1, 0, 16},     {32, 0, 16},    {33, 0, 16},     {64, 0, 16},
                        {96, 0, 10},    {128, 0, 8},    {256, 0, 4},     {700, 0, 1},
                        {1024, 0, 1},   {1025, 0, 0},   {64, 48000, 1},  {64, 20000, 3},
                        {64, 16384, 4}, {64, 16385, 3}, {256, 16384, 4}, {64, 49152, 1},
                        {64, 49153, 0}};
    check_occupancy(rows, sizeof rows / sizeof *rows);
    check_block_size(0, 0, 40, 1024);
    check_block_size(0, 200, 320, 128);
    check_block_size(16384, 128, 160, 128);
    check_block_size(50000, 0, 0, 0);
}

// An H100 has room for 2048 threads, 32 blocks and 228 KB, of which each block takes 1 KB for the
// system; shared memory comes in units of 128 bytes.
void check_h100(const cudaDeviceProp& properties) {
    EXPECT(properties.major == 9 && properties.minor == 0 && properties.multiProcessorCount == 132);
    EXPECT(properties.maxThreadsPerMultiProcessor == 2048);
    EXPECT(properties.sharedMemPerBlockOptin == 232448);
    const Row rows[] = {{1, 0, 32},      {32, 0, 32},    {64, 0, 32},     {96, 0, 21},
                        {128, 0, 16},    {256, 0, 8},    {700, 0, 2},     {1024, 0, 2},
                        {1025, 0, 0},    {64, 49152, 4}, {64, 20000, 11}, {64, 16384, 13},
                        {256, 16384, 8}, {64, 49153, 0}};
    check_occupancy(rows, sizeof rows / sizeof *rows);
    check_block_size(0, 0, 264, 1024);
    check_block_size(0, 100, 4224, 64);
    check_block_size(50000, 0, 0, 0);
    const auto attribute = cudaFuncAttributeMaxDynamicSharedMemorySize;
    SUCCEEDS(cudaFuncSetAttribute(empty_kernel, attribute, 232448));
    const Row after[] = {{64, 49153, 4}, {64, 100000, 2}, {64, 232448, 1}};
    check_occupancy(after, 3);
    check_block_size(232448, 0, 132, 1024);
}

void check_calls() {
    int number = -1, blocks = -1, least = -1;
    SUCCEEDS(cudaGetDevice(&number));
    EXPECT(number == 0);
    FAILS(cudaErrorInvalidDevice, cudaSetDevice(-1));
    cudaDeviceProp properties;
    FAILS(cudaErrorInvalidDevice, cudaGetDeviceProperties(&properties, 1000));
    FAILS(cudaErrorInvalidDevice, cudaDeviceGetAttribute(&number, cudaDevAttrWarpSize, 1000));
    FAILS(cudaErrorInvalidValue, cudaDeviceGetAttribute(&number, cudaDeviceAttr(9999), 0));
    FAILS(cudaErrorInvalidValue,
          cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty_kernel, 0, 0));
    SUCCEEDS(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&blocks, &least, empty_kernel,
                                                            FourBytesEach()));
    EXPECT(least >= 512 && blocks > 0);
    cudaFuncAttributes attributes;
    SUCCEEDS(cudaFuncGetAttributes(&attributes, empty_kernel));
    EXPECT(attributes.maxThreadsPerBlock == 1024 && attributes.numRegs > 0);
    SUCCEEDS(cudaFuncSetCacheConfig(empty_kernel, cudaFuncCachePreferShared));
    SUCCEEDS(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
    SUCCEEDS(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
    size_t value = 0;
    SUCCEEDS(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 32 << 20));
    SUCCEEDS(cudaDeviceGetLimit(&value, cudaLimitMallocHeapSize));
    EXPECT(value == 32 << 20);
    SUCCEEDS(cudaDeviceGetLimit(&value, cudaLimitStackSize));
    EXPECT(value == 1024);
    SUCCEEDS(cudaRuntimeGetVersion(&number));
    EXPECT(number >= 11000);
    SUCCEEDS(cudaDriverGetVersion(&number));
    SUCCEEDS(cudaProfilerStart());
    SUCCEEDS(cudaProfilerStop());
}

int main(int argc, char** argv) {
    const std::string which = argc > 1 ? argv[1] : "";
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    for (int device = 0; device < count; ++device) {
        cudaDeviceProp properties;
        SUCCEEDS(cudaSetDevice(device));
        SUCCEEDS(cudaGetDeviceProperties(&properties, device));
        check_common(properties, device);
        if (which == "list") std::printf("%s\n", properties.name);
        if (device > 0) continue;
        if (which == "t4") check_t4(properties);
        if (which == "h100") check_h100(properties);
    }
    if (which == "list") return std::printf("%s\n", cudaGetErrorName(error)), 0;
    SUCCEEDS(error);
    SUCCEEDS(cudaSetDevice(0));
    check_calls();
    std::printf("ok\n");
}
