// Streams, events, host functions, and what a launch that nobody waits for does.
//     runtime_streams            the checks
//     runtime_streams unwaited   launches a kernel that prints, and ends without waiting
//     runtime_streams reset      the same, but ends with cudaDeviceReset
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "runtime_expect.h"
#include "runtime_log.h"

__global__ void set_kernel(volatile int* value, int what) { *value = what; }
__global__ void print_kernel() { printf("the kernel ran\n"); }
__global__ void work_kernel(long long ticks) {
    const long long start = clock64();
    while (clock64() - start < ticks) {
    }
}
__global__ void double_kernel(int* values, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) values[i] *= 2;
}

void check_asynchrony() {
    int* value;
    SUCCEEDS(cudaMallocManaged(&value, sizeof(int)));
    *value = 1;
    set_kernel<<<1, 1>>>(value, 2);
#ifdef CUDA_ON_CPU
    EXPECT(*value == 1);  // it has only been asked for
#endif
    SUCCEEDS(cudaDeviceSynchronize());
    EXPECT(*value == 2);
    int* const device = zeros<int>(1);
    set_kernel<<<1, 1>>>(device, 3);
    set_kernel<<<1, 1>>>(value, 4);
    EXPECT(read_back(device) == 3 && *value == 4);  // a blocking copy waits
    SUCCEEDS(cudaFree(device));
}

void check_order() {
    Log log;
    cudaStream_t first, second, third;
    cudaEvent_t event;
    SUCCEEDS(cudaStreamCreate(&first));
    SUCCEEDS(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    SUCCEEDS(cudaStreamCreateWithPriority(&third, cudaStreamDefault, -1));
    SUCCEEDS(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    append_kernel<<<1, 1, 0, first>>>(log.entries, log.length, 'a');
    append_kernel<<<1, 1, 0, first>>>(log.entries, log.length, 'b');
    SUCCEEDS(cudaEventRecord(event, first));
    SUCCEEDS(cudaStreamWaitEvent(second, event));
    append_kernel<<<1, 1, 0, second>>>(log.entries, log.length, 'c');
    SUCCEEDS(cudaEventRecord(event, second));
    SUCCEEDS(cudaStreamWaitEvent(third, event, 0));
    append_kernel<<<1, 1, 0, third>>>(log.entries, log.length, 'd');
    append_kernel<<<1, 1>>>(log.entries, log.length, 'e');  // waits for the blocking streams
    SUCCEEDS(cudaStreamSynchronize(nullptr));
    EXPECT(log.text() == "abcde");

    int priority = 1, lowest = 1, highest = 1;
    unsigned int flags = 0;
    SUCCEEDS(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
    SUCCEEDS(cudaStreamGetPriority(third, &priority));
    SUCCEEDS(cudaStreamGetFlags(second, &flags));
    EXPECT(lowest == 0 && highest < 0 && priority == -1 && flags == cudaStreamNonBlocking);

    append_kernel<<<1, 1, 0, first>>>(log.entries, log.length, 'f');
    SUCCEEDS(cudaStreamDestroy(first));  // what it was given is still done
    SUCCEEDS(cudaDeviceSynchronize());
    EXPECT(log.text() == "abcdef");
    for (const cudaStream_t stream : {second, third}) SUCCEEDS(cudaStreamDestroy(stream));
    SUCCEEDS(cudaEventDestroy(event));
}

void check_queries() {
    int* value;
    SUCCEEDS(cudaMallocManaged(&value, sizeof(int)));
    cudaStream_t stream;
    cudaEvent_t event;
    SUCCEEDS(cudaStreamCreate(&stream));
    SUCCEEDS(cudaEventCreate(&event));
    SUCCEEDS(cudaStreamQuery(stream));
    SUCCEEDS(cudaEventQuery(event));  // never recorded: nothing to wait for
    for (int i = 1; i <= 5; ++i) set_kernel<<<1, 1, 0, stream>>>(value, i);
    SUCCEEDS(cudaEventRecord(event, stream));
    set_kernel<<<1, 1, 0, stream>>>(value, 6);
    cudaError_t answer;
    while ((answer = cudaEventQuery(event)) == cudaErrorNotReady) {
    }
    EXPECT(answer == cudaSuccess);
#ifdef CUDA_ON_CPU
    EXPECT(*value == 5);
#endif
    while ((answer = cudaStreamQuery(stream)) == cudaErrorNotReady) {
    }
    EXPECT(answer == cudaSuccess && *value == 6);
    cudaGetLastError();  // "not ready" may be left
    work_kernel<<<1, 1, 0, stream>>>(100000);
    EXPECT(cudaStreamQuery(nullptr) == cudaErrorNotReady);
    cudaGetLastError();
    SUCCEEDS(cudaStreamSynchronize(stream));
    SUCCEEDS(cudaStreamDestroy(stream));
    SUCCEEDS(cudaEventDestroy(event));
}

void check_times() {
    cudaEvent_t start, stop, untimed;
    float milliseconds = -1;
    SUCCEEDS(cudaEventCreate(&start));
    SUCCEEDS(cudaEventCreate(&stop));
    SUCCEEDS(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    FAILS(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, start, stop));
    SUCCEEDS(cudaEventRecord(start));
    work_kernel<<<1, 1>>>(20000000);
    SUCCEEDS(cudaEventRecord(stop));
    EXPECT(cudaEventElapsedTime(&milliseconds, start, stop) == cudaErrorNotReady);
    cudaGetLastError();
    SUCCEEDS(cudaEventSynchronize(stop));
    SUCCEEDS(cudaEventElapsedTime(&milliseconds, start, stop));
    EXPECT(milliseconds > 5 && milliseconds < 2000);
    SUCCEEDS(cudaEventElapsedTime(&milliseconds, stop, start));
    EXPECT(milliseconds < -5);
    SUCCEEDS(cudaEventRecord(untimed));
    SUCCEEDS(cudaEventSynchronize(untimed));
    FAILS(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, start, untimed));
    for (const cudaEvent_t event : {start, stop, untimed}) SUCCEEDS(cudaEventDestroy(event));
}

struct Message {
    Log* log;
    int letter;
    cudaError_t answer;
};

void note(void* data) {
    auto* const message = static_cast<Message*>(data);
    message->log->entries[(*message->log->length)++] = message->letter;
    message->answer = cudaDeviceSynchronize();  // not allowed here
}

void check_host_functions() {
    Log log;
    cudaStream_t stream;
    SUCCEEDS(cudaStreamCreate(&stream));
    Message first{&log, '1', cudaSuccess}, second{&log, '2', cudaSuccess};
    append_kernel<<<1, 1, 0, stream>>>(log.entries, log.length, 'a');
    SUCCEEDS(cudaLaunchHostFunc(stream, note, &first));
    append_kernel<<<1, 1, 0, stream>>>(log.entries, log.length, 'b');
    const auto callback = [](cudaStream_t, cudaError_t status, void* data) {
        EXPECT(status == cudaSuccess);
        note(data);
    };
    SUCCEEDS(cudaStreamAddCallback(stream, callback, &second, 0));
    append_kernel<<<1, 1, 0, stream>>>(log.entries, log.length, 'c');
    SUCCEEDS(cudaStreamSynchronize(stream));
    EXPECT(log.text() == "a1b2c");
    EXPECT(first.answer == cudaErrorNotPermitted);
    cudaGetLastError();
    FAILS(cudaErrorInvalidValue, cudaLaunchHostFunc(stream, nullptr, nullptr));
    SUCCEEDS(cudaStreamDestroy(stream));
}

// Copies and kernels in parts, the usual overlap of two streams.
void check_pipeline() {
    const int count = 1 << 16, parts = 8, size = count / parts;
    int *pinned, *const device = zeros<int>(count);
    SUCCEEDS(cudaMallocHost(&pinned, count * sizeof(int)));
    for (int i = 0; i < count; ++i) pinned[i] = i;
    cudaStream_t streams[2];
    for (cudaStream_t& stream : streams) SUCCEEDS(cudaStreamCreate(&stream));
    for (int part = 0; part < parts; ++part) {
        const cudaStream_t stream = streams[part % 2];
        const int at = part * size;
        SUCCEEDS(cudaMemcpyAsync(device + at, pinned + at, size * sizeof(int),
                                 cudaMemcpyHostToDevice, stream));
        double_kernel<<<size / 256, 256, 0, stream>>>(device + at, size);
        SUCCEEDS(cudaMemcpyAsync(pinned + at, device + at, size * sizeof(int),
                                 cudaMemcpyDeviceToHost, stream));
    }
#ifdef CUDA_ON_CPU
    EXPECT(pinned[5] == 5);
#endif
    for (const cudaStream_t stream : streams) SUCCEEDS(cudaStreamSynchronize(stream));
    for (int i = 0; i < count; ++i) EXPECT(pinned[i] == 2 * i);
    SUCCEEDS(cudaMemsetAsync(device, 0xff, 8, streams[0]));
    SUCCEEDS(cudaStreamDestroy(streams[0]));
    EXPECT(read_back(device + 1) == -1);
    int* temporary;
    SUCCEEDS(cudaMallocAsync(&temporary, 400, streams[1]));
    SUCCEEDS(cudaMemsetAsync(temporary, 0, 400, streams[1]));
    double_kernel<<<1, 100, 0, streams[1]>>>(temporary, 100);
    SUCCEEDS(cudaFreeAsync(temporary, streams[1]));
    SUCCEEDS(cudaStreamDestroy(streams[1]));
    SUCCEEDS(cudaFreeHost(pinned));
}

void check_refusals() {
#ifdef CUDA_ON_CPU
    // A GPU's runtime may crash on a handle that it does not know.
    cudaStream_t stream;
    cudaEvent_t event;
    SUCCEEDS(cudaStreamCreate(&stream));
    SUCCEEDS(cudaEventCreate(&event));
    SUCCEEDS(cudaStreamDestroy(stream));
    SUCCEEDS(cudaEventDestroy(event));
    const auto invalid = cudaErrorInvalidResourceHandle;
    FAILS(invalid, cudaStreamDestroy(stream));
    FAILS(invalid, cudaStreamSynchronize(stream));
    FAILS(invalid, cudaStreamQuery(stream));
    FAILS(invalid, cudaStreamWaitEvent(nullptr, event));
    FAILS(invalid, cudaEventRecord(event));
    FAILS(invalid, cudaEventSynchronize(event));
    FAILS(invalid, cudaEventDestroy(event));
    FAILS(invalid, cudaMemsetAsync(zeros<int>(1), 0, 4, stream));
    print_kernel<<<1, 1, 0, stream>>>();
    FAILS(invalid, cudaPeekAtLastError());
#endif
}

// Two threads of the host, each with a stream; then a hundred, one after the other.
void check_host_threads() {
    const int count = 1000;
    const auto work = [] {
        cudaStream_t stream;
        SUCCEEDS(cudaStreamCreate(&stream));
        int* const values = zeros<int>(count);
        std::vector<int> ones(count, 1);
        SUCCEEDS(cudaMemcpyAsync(values, ones.data(), count * sizeof(int), cudaMemcpyHostToDevice,
                                 stream));
        for (int i = 0; i < 10; ++i) double_kernel<<<4, 256, 0, stream>>>(values, count);
        SUCCEEDS(cudaStreamSynchronize(stream));
        EXPECT(read_back(values + count - 1) == 1024);
        // Errors are each thread's own.
        double_kernel<<<1, 2000, 0, stream>>>(values, count);
        EXPECT(is_bad_shape(cudaGetLastError()));
        SUCCEEDS(cudaFree(values));
        SUCCEEDS(cudaStreamDestroy(stream));
    };
    std::thread one(work), two(work);
    one.join();
    two.join();
    for (int i = 0; i < 100; ++i) std::thread(work).join();
    SUCCEEDS(cudaGetLastError());
}

int main(int argc, char** argv) {
    if (argc > 1) {
        print_kernel<<<1, 1>>>();
        if (std::strcmp(argv[1], "reset") == 0) cudaDeviceReset();
        return 0;
    }
    check_asynchrony();
    check_order();
    check_queries();
    check_times();
    check_host_functions();
    check_pipeline();
    check_refusals();
    check_host_threads();
    std::printf("ok\n");
}
