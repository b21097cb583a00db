// Feature: semaphores and latches of libcu++ | `cuda::binary_semaphore`, `cuda::counting_semaphore`, `cuda::latch`, `cuda::atomic`'s `wait` and `notify`, between threads and between blocks; the system's own headers
#include <cuda/atomic>
#include <cuda/latch>
#include <cuda/semaphore>

#include "../runtime_expect.h"

constexpr auto device = cuda::thread_scope_device;

__device__ cuda::binary_semaphore<device> one{1};
__device__ cuda::counting_semaphore<device, 4> three{3};

__global__ void one_at_a_time(int* count) {
    if (threadIdx.x % 32 != 0) return;
    one.acquire();
    const int before = *static_cast<volatile int*>(count);
    *static_cast<volatile int*>(count) = before + 1;
    one.release();
}
__global__ void three_at_a_time(int* inside, int* most) {
    if (threadIdx.x % 32 != 0) return;
    three.acquire();
    atomicMax(most, atomicAdd(inside, 1) + 1);
    atomicSub(inside, 1);
    three.release();
}
using Latch = cuda::latch<device>;
__global__ void prepare(Latch* all_blocks, int threads) { new (all_blocks) Latch(threads); }
__global__ void meet(Latch* all_blocks, int* values, int* seen) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    values[i] = i;
    all_blocks->arrive_and_wait();
    seen[i] = values[gridDim.x * blockDim.x - 1 - i];
}
__global__ void tell(cuda::atomic<int, device>* flag, int* seen) {
    if (blockIdx.x == 0) {
        flag->wait(0);
        *seen = flag->load();
    } else {
        flag->store(7, cuda::memory_order_release);
        flag->notify_all();
    }
}

int main() {
    int* count = zeros<int>(3);
    one_at_a_time<<<8, 64>>>(count);
    EXPECT_RUN();
    EXPECT(read_back(count) == 16);
    three_at_a_time<<<8, 64>>>(count + 1, count + 2);
    EXPECT_RUN();
    EXPECT(read_back(count + 1) == 0 && read_back(count + 2) >= 1 && read_back(count + 2) <= 3);
    int* seen = zeros<int>(128);
    auto* all_blocks = reinterpret_cast<Latch*>(zeros<char>(sizeof(Latch)));
    prepare<<<1, 1>>>(all_blocks, 4 * 32);
    meet<<<4, 32>>>(all_blocks, zeros<int>(128), seen);
    EXPECT_RUN();
    EXPECT(read_back(seen) == 127 && read_back(seen + 127) == 0);
    auto* flag = zeros<cuda::atomic<int, device>>(1);
    tell<<<2, 1>>>(flag, seen);
    EXPECT_RUN();
    EXPECT(read_back(seen) == 7);
    printf("ok\n");
}
