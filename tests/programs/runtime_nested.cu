// Launches from kernels (with nvcc: -rdc=true): order, tails, depth, errors.
#include <cstring>
#include <string>

#include "runtime_expect.h"

struct Log {
    int length;
    char letters[1000];
};

__device__ void append(Log* log, char letter) { log->letters[atomicAdd(&log->length, 1)] = letter; }

__global__ void letter_kernel(Log* log, char letter) {
    if (threadIdx.x == 0 && blockIdx.x == 0) append(log, letter);
}

// The children come in the order of their launches, and the tail after all of them and theirs.
__global__ void parent_kernel(Log* log) {
    append(log, 'p');
    letter_kernel<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 'y');
    letter_kernel<<<1, 32>>>(log, 'a');
    letter_kernel<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 'z');
    letter_kernel<<<2, 64>>>(log, 'b');
    letter_kernel<<<1, 1>>>(log, 'c');
}

__global__ void grandparent_kernel(Log* log) {
    append(log, 'g');
    letter_kernel<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 't');
    parent_kernel<<<1, 1>>>(log);
}

__global__ void free_kernel(Log* log) {
    for (char letter = 'a'; letter < 'k'; ++letter) {
        letter_kernel<<<1, 1, 0, cudaStreamFireAndForget>>>(log, letter);
    }
    cudaStream_t stream;
    SUCCEEDS(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    letter_kernel<<<1, 1, 0, stream>>>(log, 'k');
    SUCCEEDS(cudaStreamDestroy(stream));
}

// Every thread of every block launches.
__global__ void fill_kernel(int* values, int first, int count) {
    const int i = threadIdx.x;
    if (i < count) values[first + i] += first + i;
}
__global__ void spread_kernel(int* values, int count) {
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    if (first < count) fill_kernel<<<1, 8>>>(values, first, min(8, count - first));
}

// A quicksort in the manner of the textbooks.
__global__ void sort_kernel(int* values, int left, int right) {
    if (left >= right) return;
    const int pivot = values[(left + right) / 2];
    int i = left, j = right;
    while (i <= j) {
        while (values[i] < pivot) ++i;
        while (values[j] > pivot) --j;
        if (i <= j) {
            const int kept = values[i];
            values[i++] = values[j];
            values[j--] = kept;
        }
    }
    if (left < j) sort_kernel<<<1, 1>>>(values, left, j);
    if (i < right) sort_kernel<<<1, 1>>>(values, i, right);
}

// A tail launches its own successor: the way to write a loop on the device.
__global__ void loop_kernel(int* steps, int most) {
    if (++*steps < most) loop_kernel<<<1, 1, 0, cudaStreamTailLaunch>>>(steps, most);
}

__global__ void depth_kernel(int* deepest, int depth, cudaError_t* error) {
    *deepest = depth;
    depth_kernel<<<1, 1>>>(deepest, depth + 1, error);
    const cudaError_t launched = cudaGetLastError();
    if (launched != cudaSuccess) *error = launched;
}

__global__ void refused_kernel(Log* log, cudaError_t* errors) {
    letter_kernel<<<1, 1025>>>(log, 'x');
    errors[0] = cudaGetLastError();
    letter_kernel<<<0, 1>>>(log, 'x');
    errors[1] = cudaPeekAtLastError();
    errors[2] = cudaGetLastError();
    errors[3] = cudaGetLastError();
    letter_kernel<<<1, 1>>>(log, 'o');
    errors[4] = cudaGetLastError();
}

void check_order() {
    Log* const log = zeros<Log>(1);
    const auto text = [&] { return std::string(read_back(log).letters); };
    parent_kernel<<<1, 1>>>(log);
    letter_kernel<<<1, 1>>>(log, 'h');  // after the whole family
    EXPECT_RUN();
    EXPECT(text() == "pabcyzh");
    SUCCEEDS(cudaMemset(log, 0, sizeof(Log)));
    grandparent_kernel<<<1, 1>>>(log);
    EXPECT_RUN();
    EXPECT(text() == "gpabcyzt");
    SUCCEEDS(cudaMemset(log, 0, sizeof(Log)));
    free_kernel<<<1, 1>>>(log);
    EXPECT_RUN();
    std::string letters = text();
    EXPECT(letters.size() == 11);
    for (char letter = 'a'; letter <= 'k'; ++letter) {
        EXPECT(letters.find(letter) != std::string::npos);
    }
}

void check_work() {
    const int count = 1000;
    int* const values = zeros<int>(count);
    spread_kernel<<<4, 32>>>(values, count);
    EXPECT_RUN();
    for (int i = 0; i < count; i += 111) EXPECT(read_back(values + i) == i);
    int host[count];
    unsigned seed = 1;
    for (int& value : host) value = (seed = seed * 1664525 + 1013904223) >> 8;
    SUCCEEDS(cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice));
    sort_kernel<<<1, 1>>>(values, 0, count - 1);
    EXPECT_RUN();
    SUCCEEDS(cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 1; i < count; ++i) EXPECT(host[i - 1] <= host[i]);
}

void check_limits() {
    int* const numbers = zeros<int>(2);
    cudaError_t* const errors = zeros<cudaError_t>(5);
    loop_kernel<<<1, 1>>>(numbers, 20);
    EXPECT_RUN();
    EXPECT(read_back(numbers) == 20);
#ifdef CUDA_ON_CPU
    // A GPU takes these to fail the whole launch, or has other limits.
    depth_kernel<<<1, 1>>>(numbers + 1, 0, errors);
    EXPECT_RUN();
    EXPECT(read_back(numbers + 1) == 24);
    EXPECT(read_back(errors) == cudaErrorLaunchMaxDepthExceeded);
    Log* const log = zeros<Log>(1);
    refused_kernel<<<1, 1>>>(log, errors);
    EXPECT_RUN();  // an error of a kernel's launch is no error of the host
    EXPECT(read_back(errors) == cudaErrorInvalidConfiguration);
    EXPECT(read_back(errors + 1) == cudaErrorInvalidConfiguration);
    EXPECT(read_back(errors + 2) == cudaErrorInvalidConfiguration);
    EXPECT(read_back(errors + 3) == cudaSuccess && read_back(errors + 4) == cudaSuccess);
    EXPECT(read_back(log).length == 1);
#endif
}

int main() {
    check_order();
    check_work();
    check_limits();
    std::printf("ok\n");
}
