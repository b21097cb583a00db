// Feature: libcu++ | `cuda::atomic` and `cuda::atomic_ref` with orders and scopes, `cuda::std` `array`, `tuple`, `optional`, `complex`, `numeric_limits`, `chrono`'s durations, `cuda::std::barrier` beside `cuda::barrier`; the system's own headers (CUDA Toolkit or libcu++-dev)
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/std/array>
#include <cuda/std/chrono>
#include <cuda/std/complex>
#include <cuda/std/limits>
#include <cuda/std/optional>
#include <cuda/std/tuple>
#if __has_include(<cuda/std/__barrier/barrier.h>)  // before CUDA 12.4 not beside <cuda/barrier>
#include <cuda/std/barrier>
#define STD_BARRIER
#endif

#include "../runtime_expect.h"

using Flag = cuda::atomic<int, cuda::thread_scope_device>;

__global__ void add_steps(int* sum, int* largest, cuda::std::array<int, 3> steps) {
    cuda::atomic_ref<int, cuda::thread_scope_device>(*sum).fetch_add(steps[threadIdx.x % 3],
                                                                     cuda::memory_order_relaxed);
    cuda::atomic_ref<int, cuda::thread_scope_block>(*largest).fetch_max(int(threadIdx.x));
}

// Block 1 is told by block 0 that its value is there.
__global__ void hand_over(Flag* flag, int* value, int* received) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        *value = 42;
        flag->store(1, cuda::memory_order_release);
    } else {
        while (flag->load(cuda::memory_order_acquire) == 0) {
        }
        *received = *value;
    }
}

__device__ cuda::std::optional<int> half_of(int i) {
    if (i % 2 != 0) return cuda::std::nullopt;
    return i / 2;
}

__global__ void use_types(cuda::std::complex<float>* square, cuda::std::tuple<int, double>* pair,
                          int* halves, long long* microseconds) {
    *square *= *square;
    *pair = cuda::std::make_tuple(cuda::std::numeric_limits<int>::max(), 0.5);
    for (int i = 0; i < 4; ++i) halves[i] = half_of(i).value_or(-1);
    *microseconds = cuda::std::chrono::microseconds(cuda::std::chrono::milliseconds(3)).count();
}

#ifdef STD_BARRIER
// The threads of a block meet twice, at one barrier of each kind.
__global__ void meet(cuda::std::barrier<>* first, int* sum, int* seen) {
    __shared__ cuda::barrier<cuda::thread_scope_block> second;
    if (threadIdx.x == 0) init(&second, blockDim.x);
    atomicAdd(sum, 1);
    first->arrive_and_wait();
    atomicAdd(sum, *sum == int(blockDim.x) ? 0 : 1000);
    second.arrive_and_wait();
    if (threadIdx.x == 0) *seen = *sum;
}
#endif

template <class T>
T* managed(int count = 1) {
    T* values = nullptr;
    SUCCEEDS(cudaMallocManaged(&values, count * sizeof(T)));
    for (int i = 0; i < count; ++i) new (values + i) T{};
    return values;
}

int main() {
    int* numbers = managed<int>(8);
    add_steps<<<1, 96>>>(numbers, numbers + 1, {1, 2, 3});
    hand_over<<<2, 32>>>(managed<Flag>(), numbers + 2, numbers + 3);
#ifdef STD_BARRIER
    cuda::std::barrier<>* barrier = nullptr;
    SUCCEEDS(cudaMallocManaged(&barrier, sizeof *barrier));
    new (barrier) cuda::std::barrier<>(48);
    meet<<<1, 48>>>(barrier, numbers + 4, numbers + 5);
    SUCCEEDS(cudaDeviceSynchronize());
    EXPECT(numbers[5] == 48);
#endif
    auto* square = managed<cuda::std::complex<float>>();
    *square = {1, 2};
    auto* pair = managed<cuda::std::tuple<int, double>>();
    auto* microseconds = managed<long long>();
    use_types<<<1, 1>>>(square, pair, numbers + 4, microseconds);
    SUCCEEDS(cudaDeviceSynchronize());
    EXPECT(numbers[0] == 32 * (1 + 2 + 3) && numbers[1] == 95);
    EXPECT(numbers[3] == 42);
    EXPECT(*square == cuda::std::complex<float>(-3, 4));
    EXPECT(cuda::std::get<0>(*pair) == 2147483647 && cuda::std::get<1>(*pair) == 0.5);
    EXPECT(numbers[4] == 0 && numbers[5] == -1 && numbers[6] == 1 && numbers[7] == -1);
    EXPECT(*microseconds == 3000);
    printf("ok\n");
}
