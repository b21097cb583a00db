// Feature: host functions in streams | `cudaLaunchHostFunc`, `cudaStreamAddCallback`, also where the host waits for them on its own condition
#include <condition_variable>
#include <mutex>

#include "../runtime_expect.h"

struct Signal {
    std::mutex mutex;
    std::condition_variable changed;
    bool given = false;
    int seen = 0, *value = nullptr;
};
void CUDART_CB give(void* data) {
    Signal& signal = *static_cast<Signal*>(data);
    std::lock_guard<std::mutex> lock(signal.mutex);
    signal.given = true;
    signal.seen = *signal.value;
    signal.changed.notify_one();
}
void CUDART_CB count(cudaStream_t, cudaError_t status, void* data) {
    *static_cast<int*>(data) += status == cudaSuccess;
}
__global__ void set(int* value) { *value = 5; }

int main() {
    Signal signal;
    int calls = 0;
    SUCCEEDS(cudaMallocHost(&signal.value, sizeof(int)));
    *signal.value = 0;
    cudaStream_t stream;
    SUCCEEDS(cudaStreamCreate(&stream));
    SUCCEEDS(cudaStreamAddCallback(stream, count, &calls, 0));
    set<<<1, 1, 0, stream>>>(signal.value);
    SUCCEEDS(cudaLaunchHostFunc(stream, give, &signal));
    {
        std::unique_lock<std::mutex> lock(signal.mutex);
        signal.changed.wait(lock, [&] { return signal.given; });
    }
    EXPECT(signal.seen == 5 && calls == 1);
    SUCCEEDS(cudaStreamDestroy(stream));
    SUCCEEDS(cudaFreeHost(signal.value));
    printf("ok\n");
}
