// Launch limits, and how errors show, stay and go.
//     runtime_errors         the checks, none of which loses the device
//     runtime_errors trap    a kernel that stops itself; likewise assert
//     runtime_errors none    what every call says when there is no device
//     runtime_errors fork    what a child of a process that has used CUDA gets
#include <sys/wait.h>
#include <unistd.h>

#include <cassert>
#include <cstring>
#include <string>

#include "runtime_expect.h"

__global__ void count_kernel(unsigned long long* count) { atomicAdd(count, 1ull); }
__global__ void corner_kernel(uint3* largest) {
    if (blockIdx.x == gridDim.x - 1 && blockIdx.y == gridDim.y - 1 && blockIdx.z == gridDim.z - 1) {
        *largest = blockIdx;
    }
}
__global__ void shared_kernel() {
    extern __shared__ int numbers[];
    numbers[threadIdx.x] = 0;
}
__global__ void fail_kernel(bool by_assertion) {
    if (by_assertion) assert(threadIdx.x < 5 && "five");
    if (threadIdx.x == 70) __trap();
    __syncthreads();
}

void check_limits() {
    unsigned long long* const count = zeros<unsigned long long>(1);
    unsigned long long expected = 0;
    const dim3 allowed[][2] = {{1, 1024},          {1, {1, 1024}},      {1, {16, 1, 64}},
                               {1, {1, 1, 64}},    {{1, 1, 1}, {4, 4}}, {{1, 65535}, 1},
                               {{1, 1, 65535}, 1}, {1000000, 1}};
    for (const auto& shape : allowed) {
        count_kernel<<<shape[0], shape[1]>>>(count);
        EXPECT_RUN();
        const dim3 grid = shape[0], block = shape[1];
        expected += 1ull * grid.x * grid.y * grid.z * block.x * block.y * block.z;
    }
    EXPECT(read_back(count) == expected);
    const dim3 refused[][2] = {
        {1, 1025},        {1, {1, 1025}},     {1, {33, 32}},  {1, {1, 1, 65}},   {1, {16, 16, 16}},
        {{1, 65536}, 1},  {{1, 1, 65536}, 1}, {0, 1},         {{1, 0}, 1},       {{1, 1, 0}, 1},
        {1, 0},           {1, {1, 0}},        {1, {1, 1, 0}}, {unsigned(-1), 1}, {0, 0},
        {2147483648u, 1}, {1, unsigned(-5)}};
    for (const auto& shape : refused) {
        count_kernel<<<shape[0], shape[1]>>>(count);
        EXPECT(is_bad_shape(cudaPeekAtLastError()));
        EXPECT(is_bad_shape(cudaGetLastError()));
        SUCCEEDS(cudaDeviceSynchronize());
    }
    EXPECT(read_back(count) == expected);
    shared_kernel<<<1, 1, 49 * 1024>>>();
    FAILS(cudaErrorInvalidValue, cudaPeekAtLastError());
    shared_kernel<<<1, 1, size_t(-4)>>>();
    FAILS(cudaErrorInvalidValue, cudaPeekAtLastError());

    uint3* const largest = zeros<uint3>(1);
    corner_kernel<<<dim3(3, 5, 7), 2>>>(largest);
    EXPECT_RUN();
    EXPECT(read_back(largest).x == 2 && read_back(largest).y == 4 && read_back(largest).z == 6);
    EXPECT(read_back(count) == expected);
}

// An error stays until it is asked for; a later success does not hide it.
void check_last_error() {
    int* pointer = nullptr;
    EXPECT(cudaMalloc(&pointer, size_t(1) << 50) == cudaErrorMemoryAllocation);
    SUCCEEDS(cudaMalloc(&pointer, 4));
    SUCCEEDS(cudaDeviceSynchronize());
    EXPECT(cudaPeekAtLastError() == cudaErrorMemoryAllocation);
    EXPECT(cudaPeekAtLastError() == cudaErrorMemoryAllocation);
    EXPECT(cudaGetLastError() == cudaErrorMemoryAllocation);
    EXPECT(cudaGetLastError() == cudaSuccess);
    // The later of two errors is the one that is told.
    EXPECT(cudaFree(pointer + 1) == cudaErrorInvalidValue);
    count_kernel<<<0, 1>>>(nullptr);
    EXPECT(is_bad_shape(cudaPeekAtLastError()));
    SUCCEEDS(cudaFree(pointer));
    EXPECT(cudaSetDevice(99) == cudaErrorInvalidDevice);
    EXPECT(cudaGetLastError() == cudaErrorInvalidDevice);
}

void check_texts() {
    const auto is = [](const char* got, const char* expected) {
        return !std::strcmp(got, expected);
    };
    EXPECT(is(cudaGetErrorName(cudaSuccess), "cudaSuccess"));
    EXPECT(is(cudaGetErrorString(cudaSuccess), "no error"));
    EXPECT(is(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation"));
    EXPECT(is(cudaGetErrorName(cudaErrorInvalidResourceHandle), "cudaErrorInvalidResourceHandle"));
    EXPECT(is(cudaGetErrorString(cudaErrorInvalidDevice), "invalid device ordinal") ||
           std::strstr(cudaGetErrorString(cudaErrorInvalidDevice), "invalid device ordinal ("));
    EXPECT(is(cudaGetErrorString(cudaErrorAssert), "device-side assert triggered"));
    EXPECT(is(cudaGetErrorString(cudaErrorLaunchFailure), "unspecified launch failure"));
    EXPECT(is(cudaGetErrorString(cudaError_t(-1)), "unrecognized error code"));
    EXPECT(is(cudaGetErrorName(cudaError_t(12345)), "unrecognized error code"));
    // Two texts in one line do not overwrite each other.
    const std::string both = std::string(cudaGetErrorString(cudaErrorNotReady)) +
                             cudaGetErrorString(cudaErrorIllegalAddress);
    EXPECT(both == "device not readyan illegal memory access was encountered");
    EXPECT(cudaGetErrorString(cudaErrorNotReady) != cudaGetErrorString(cudaErrorIllegalAddress));
#ifdef CUDA_ON_CPU
    count_kernel<<<1, dim3(2, 2, 65)>>>(nullptr);
    const int line = __LINE__ - 1;
    const std::string text = cudaGetErrorString(cudaGetLastError());
    EXPECT(text.find("invalid configuration argument (") == 0);
    EXPECT(text.find("runtime_errors.cu:" + std::to_string(line)) != std::string::npos);
    EXPECT(text.find("65 threads in z; at most 64") != std::string::npos);
#endif
}

// Once a kernel has failed, every call says so, until the device is reset.
void check_lost_device(bool by_assertion) {
    unsigned long long* const count = zeros<unsigned long long>(1);
    fail_kernel<<<4, 128>>>(by_assertion);
    SUCCEEDS(cudaGetLastError());
    count_kernel<<<1, 1>>>(count);  // runs no more
    const cudaError_t error = cudaDeviceSynchronize();
    EXPECT(error == (by_assertion ? cudaErrorAssert : cudaErrorLaunchFailure));
    int* pointer = nullptr;
    unsigned long long host = 5;
    for (int i = 0; i < 2; ++i) {
        EXPECT(cudaPeekAtLastError() == error && cudaGetLastError() == error);
        EXPECT(cudaGetLastError() == cudaSuccess);  // until the next call
        EXPECT(cudaMalloc(&pointer, 4) == error && cudaDeviceSynchronize() == error);
        EXPECT(cudaMemcpy(&host, count, 8, cudaMemcpyDeviceToHost) == error && host == 5);
        EXPECT(cudaFree(count) == error && cudaStreamSynchronize(nullptr) == error);
        count_kernel<<<1, 1>>>(count);
        EXPECT(cudaPeekAtLastError() == error);
    }
#ifdef CUDA_ON_CPU
    SUCCEEDS(cudaDeviceReset());
    SUCCEEDS(cudaGetLastError());
    FAILS(cudaErrorInvalidValue, cudaMemcpy(&host, count, 8, cudaMemcpyDeviceToHost));
    unsigned long long* const fresh = zeros<unsigned long long>(1);
    count_kernel<<<3, 5>>>(fresh);
    EXPECT_RUN();
    EXPECT(read_back(fresh) == 15);
#endif
}

void check_no_device() {
    const cudaError_t none = cudaErrorNoDevice;
    int number = -1, *pointer = nullptr;
    cudaDeviceProp properties;
    cudaStream_t stream;
    FAILS(none, cudaGetDeviceCount(&number));
#ifdef CUDA_ON_CPU
    EXPECT(number == 0);
#endif
    FAILS(none, cudaMalloc(&pointer, 4));
    FAILS(none, cudaSetDevice(0));
    FAILS(none, cudaGetDeviceProperties(&properties, 0));
    FAILS(none, cudaDeviceGetAttribute(&number, cudaDevAttrWarpSize, 0));
    FAILS(none, cudaStreamCreate(&stream));
    FAILS(none, cudaDeviceSynchronize());
    FAILS(none, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&number, count_kernel, 128, 0));
    FAILS(none, cudaDeviceReset());
    count_kernel<<<1, 1>>>(nullptr);
    FAILS(none, cudaPeekAtLastError());
}

void check_fork() {
    int status = 0, *pointer = nullptr;
    // Before the first call, a child may use CUDA, and its parent too.
    if (fork() == 0) {
        SUCCEEDS(cudaMalloc(&pointer, 4));
        count_kernel<<<100, 1>>>(zeros<unsigned long long>(1));
        EXPECT_RUN();
        _exit(7);
    }
    wait(&status);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    count_kernel<<<100, 1>>>(zeros<unsigned long long>(1));
    EXPECT_RUN();
    if (fork() == 0) {
        EXPECT(cudaMalloc(&pointer, 4) == cudaErrorInitializationError);
        count_kernel<<<100, 1>>>(nullptr);
        EXPECT(cudaGetLastError() == cudaErrorInitializationError);
        _exit(8);
    }
    wait(&status);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 8);
    EXPECT_RUN();
}

int main(int argc, char** argv) {
    const std::string which = argc > 1 ? argv[1] : "";
    if (which == "trap" || which == "assert") {
        check_lost_device(which == "assert");
    } else if (which == "none") {
        check_no_device();
    } else if (which == "fork") {
        check_fork();
    } else {
        check_limits();
        check_last_error();
        check_texts();
    }
    std::printf("ok\n");
}
