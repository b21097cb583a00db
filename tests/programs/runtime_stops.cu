// Mistakes, one for each case: runtime_stops CASE does it and must be stopped with one sentence that
// names the line marked with the comment HERE CASE.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

constexpr int count = 1024;
constexpr unsigned full = 0xffffffffu;

float* device_array() {
    float* values = nullptr;
    if (cudaMalloc(&values, count * sizeof(float)) != cudaSuccess) std::exit(9);
    return values;
}

struct Holder {
    float* values;
};

__global__ void add_kernel(float* left, const float* right, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) left[i] += right[i];
}

// ---------------------------------------------------------------- the host
float sink;

void host_reads() {
    const float* const values = device_array();
    sink = values[3];  // HERE host_reads
}
void host_writes() {
    float* const values = device_array();
    for (int i = 0; i < count; ++i) {
        values[i] = i;  // HERE host_writes
    }
}
void host_copies() {
    std::vector<float> host(count);
    const float* const values = device_array();
    std::memcpy(host.data(), values, count * sizeof(float));  // HERE host_copies
    sink = host[5];
}
void host_reads_freed() {
    float* const values = device_array();
    cudaFree(values);
    sink = values[0];  // HERE host_reads_freed
}
void host_crashes() {
    volatile int* pointer = nullptr;
    *pointer = 1;  // HERE host_crashes
}
void host_divides() {
    volatile int zero = 0;
    sink = 5 / zero;  // HERE host_divides
}

void host_barrier() {
#ifdef CUDA_ON_CPU    // nvcc refuses both
    __syncthreads();  // HERE host_barrier
#endif
}
void host_shuffle() {
#ifdef CUDA_ON_CPU
    sink = __shfl_sync(full, 1.0f, 3);  // HERE host_shuffle
#endif
}

template <class T>
__global__ void reset_kernel(T* values) {
    values[threadIdx.x] = 0;
}
void called() {
    float* const values = device_array();
#ifdef CUDA_ON_CPU                      // nvcc refuses it, here and below
    add_kernel(values, values, count);  // HERE called
#endif
    cudaFree(values);
}
void called_by_pointer() {
    float* const values = device_array();
#ifdef CUDA_ON_CPU
    void (*volatile kernel)(float*, const float*, int) = add_kernel;
    kernel(values, values, count);  // HERE called_by_pointer
#endif
    cudaFree(values);
}
template <class Kernel>
void call(Kernel kernel) {
    float* const values = device_array();
#ifdef CUDA_ON_CPU
    kernel(values);  // HERE called_in_template
#endif
    cudaFree(values);
}
void called_in_template() { call(reset_kernel<float>); }

// ---------------------------------------------------------------- arguments
void host_argument() {
    std::vector<float> host(count);
    add_kernel<<<4, 256>>>(device_array(), host.data(), count);  // HERE host_argument
}
void local_argument() {
    float values[4];
    add_kernel<<<1, 4>>>(values, values, 4);  // HERE local_argument
}
void freed_argument() {
    float* const values = device_array();
    cudaFree(values);
    add_kernel<<<4, 256>>>(values, nullptr, 0);  // HERE freed_argument
}

// ---------------------------------------------------------------- several devices
float* array_of_other_device() {
    setenv("CUDA_CPU_DEVICES", "2", 1);
    cudaSetDevice(1);
    float* const values = device_array();
    cudaSetDevice(0);
    return values;
}
void other_device() {
    float* const values = array_of_other_device();
    add_kernel<<<4, 256>>>(values, values, count);  // HERE other_device
}
struct Held {
    float* values;
};
__global__ void held_kernel(Held held) {
    held.values[threadIdx.x] = 1;  // HERE held_of_other_device
}
void held_of_other_device() { held_kernel<<<1, 4>>>(Held{array_of_other_device()}); }

// ---------------------------------------------------------------- memory in kernels
__global__ void past_end_kernel(float* values, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) values[i] = 1;  // HERE past_end
}
void past_end() { past_end_kernel<<<5, 256>>>(device_array(), count); }

// The bytes between the end and CUDA's alignment have no guard page; they are looked at afterwards.
void past_odd_end() {
    float* values = nullptr;
    if (cudaMalloc(&values, 1000 * sizeof(float)) != cudaSuccess) std::exit(9);
    past_end_kernel<<<4, 256>>>(values, 1000);  // HERE past_odd_end
}

__global__ void before_start_kernel(float* values) {
    values[static_cast<int>(threadIdx.x) - 1] += 1;  // HERE before_start
}
void before_start() { before_start_kernel<<<1, 32>>>(device_array()); }

__device__ float element(const float* values, int i) {
    return values[i];  // HERE far_away
}
__global__ void far_away_kernel(float* values) { values[0] = element(values, 5000); }
void far_away() { far_away_kernel<<<1, 1>>>(device_array()); }  // HERE far_away_launch

// No line of the learner's belongs to the access, as clang++ has it for some: the kernel stands behind main.
__global__ void lineless_kernel(float* values);
void lineless() {
    float* values = device_array();
    void* arguments[] = {&values};
    cudaLaunchKernel(lineless_kernel, 1, 1, arguments, 0, nullptr);  // HERE lineless_launch
}

// Beyond the guard of one array, in that of the next.
__global__ void over_guard_kernel(float* values, const float*, unsigned int i) {
    values[i + threadIdx.x] = 1;  // HERE over_guard HERE over_guard_of_two HERE nowhere
}
void over_guard() {
    float* const values = device_array();
    device_array();
    over_guard_kernel<<<1, 1>>>(values, nullptr, 1948);
}
void over_guard_of_two() {
    float* const values = device_array();
    over_guard_kernel<<<1, 1>>>(values, device_array(), 1948);
}
void nowhere() { over_guard_kernel<<<1, 1>>>(device_array(), nullptr, 0u - 1); }

__global__ void freed_kernel(Holder holder) {
    holder.values[threadIdx.x] = 2;  // HERE use_after_free
}
void use_after_free() {
    const Holder holder{device_array()};
    cudaFree(holder.values);
    freed_kernel<<<1, 32>>>(holder);
}

__global__ void null_kernel(float* values, int i) {
    if (threadIdx.x == 7) values[i] = 2;  // HERE null_pointer null_element
}
float* const nothing = nullptr;
void null_pointer() { null_kernel<<<1, 32>>>(nothing, 0); }
void null_element() { null_kernel<<<1, 32>>>(nothing, 10000); }

__global__ void dynamic_kernel(int n) {
    extern __shared__ float tile[];
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        tile[i] = 1;  // HERE past_shared
    }
}
void past_shared() { dynamic_kernel<<<1, 32, 32 * sizeof(float)>>>(64); }

__global__ void static_kernel(int first, int n) {
    __shared__ float tile[64];
    for (int i = first + threadIdx.x; i < n; i += blockDim.x) {
        tile[i] = 1;  // HERE far_past_static
    }
    __syncthreads();
    if (threadIdx.x == 0) tile[1] = tile[n / 2];
}
void past_static() { static_kernel<<<1, 32>>>(0, 80); }  // HERE past_static
void far_past_static() { static_kernel<<<1, 32>>>(2000, 4000); }

__global__ void misaligned_kernel(float* values) {
    float4* const fours = reinterpret_cast<float4*>(values + 1);
    fours[threadIdx.x] = make_float4(1, 2, 3, 4);  // HERE misaligned
}
void misaligned() { misaligned_kernel<<<1, 32>>>(device_array()); }

__global__ void divide_kernel(int* values, int by) {
    values[threadIdx.x] = (threadIdx.x + 5) / by;  // HERE divides
}
void divides() { divide_kernel<<<1, 4>>>(reinterpret_cast<int*>(device_array()), 0); }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wreturn-type"
__device__ int first_digit(int number) {  // HERE no_value
    if (number < 10) return number;       // HERE no_value
}
#pragma GCC diagnostic pop
__global__ void no_value_kernel(int* values) { values[threadIdx.x] = first_digit(threadIdx.x); }
void no_value() { no_value_kernel<<<1, 32>>>(reinterpret_cast<int*>(device_array())); }

__global__ void local_kernel(float* values) {
    float numbers[100000];  // HERE large_local
    for (int i = threadIdx.x; i < 100000; ++i) numbers[i] = values[i % count];
    __syncthreads();
    for (int i = threadIdx.x; i < 100000; ++i) values[i % count] += numbers[i];  // HERE large_local
}
__global__ void meeting_kernel() { __syncthreads(); }
void large_local() {
    meeting_kernel<<<4, 1024>>>();  // now many threads have had a stack
    local_kernel<<<1, 32>>>(device_array());
}

__device__ int descend(volatile int* values, int depth) {
    volatile int here[64];                                      // HERE deep_recursion
    here[depth % 64] = depth;                                   // HERE deep_recursion
    if (values[0] != 77) here[1] = descend(values, depth + 1);  // HERE deep_recursion
    return here[1] + here[depth % 64];
}
__global__ void recursion_kernel(int* values) {
    __syncthreads();
    values[threadIdx.x] = descend(values, 0);
}
void deep_recursion() { recursion_kernel<<<1, 32>>>(reinterpret_cast<int*>(device_array())); }

__global__ void endless_kernel(int* flag) {
    while (atomicAdd(flag, 0) != 1) {
    }
}
// What it looks at is read once, before the loop.
__global__ void plain_flag_kernel(int* flag) {
    if (threadIdx.x == 0) {
        while (*flag == 0) {  // HERE plain_flag
        }
    }
    *flag = 1;
}  // HERE plain_flag with clang++ 14
void plain_flag() {
    int* const flag = reinterpret_cast<int*>(device_array());
    cudaMemset(flag, 0, sizeof(int));
    void* arguments[] = {const_cast<int**>(&flag)};
    cudaLaunchCooperativeKernel(plain_flag_kernel, 2, 64, arguments);
}
void endless() { endless_kernel<<<4, 64>>>(reinterpret_cast<int*>(device_array())); }

// ---------------------------------------------------------------- barriers
__global__ void return_kernel(float* values, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    values[i] = 1;
    __syncthreads();  // HERE early_return
    values[i] += values[n - 1 - i];
}
void early_return() { return_kernel<<<2, 32>>>(device_array(), 17); }

__global__ void return_before_grid_kernel(float* values) {
    if (threadIdx.x >= 17) return;
    cooperative_groups::this_grid().sync();  // HERE return_before_grid
    values[threadIdx.x] = 1;
}
void return_before_grid() {
    float* values = device_array();
    void* arguments[] = {&values};
    cudaLaunchCooperativeKernel((void*)return_before_grid_kernel, dim3(2), dim3(32), arguments);
}

__global__ void condition_kernel(float* values) {
    if (threadIdx.x % 2 == 0) {
        values[threadIdx.x] = 1;
        __syncthreads();  // HERE condition
    }
}
void condition() { condition_kernel<<<1, 64>>>(device_array()); }

__global__ void branches_kernel(float* values) {
    if (threadIdx.x < 10) {
        values[0] = 1;
        __syncthreads();  // HERE two_branches
    } else {
        __syncthreads();
    }
}
void two_branches() { branches_kernel<<<1, 32>>>(device_array()); }

__global__ void break_kernel(float* values) {
    for (int round = 0; round < 10; ++round) {
        if (values[round] != values[round] && round == threadIdx.x) break;
        __syncthreads();  // HERE loop_with_break
    }
}
void loop_with_break() { break_kernel<<<1, 32>>>(device_array()); }

__global__ void split_kernel(float* values) {
    if (threadIdx.x < 16) values[0] = __shfl_down_sync(full, 1.0f, 8);  // HERE split_warp
    __syncthreads();
}
void split_warp() { split_kernel<<<1, 64>>>(device_array()); }

__global__ void elsewhere_kernel(float* values) {
    if (threadIdx.x < 32) {
        __syncthreads();  // HERE barrier_and_warp
    } else if (threadIdx.x < 40) {
        values[0] = __shfl_sync(full, 1.0f, 3);
    } else {
        __syncwarp(full & ~0xffu);
        values[0] = __any_sync(full, 1);
    }
}
void barrier_and_warp() { elsewhere_kernel<<<1, 64>>>(device_array()); }

// ---------------------------------------------------------------- waiting for ever
__global__ void never_set_kernel(float* values) {
    int* const arrived = reinterpret_cast<int*>(values);
    if (threadIdx.x == 3) {
        atomicAdd(arrived, 1);
        while (atomicAdd(arrived, 0) != 5) {  // HERE never_set
        }
    }
    __syncthreads();
}
void never_set() { never_set_kernel<<<4, 40>>>(device_array()); }

// Of two kernels the first waits for the second, which CPU mode does not begin before it has ended.
__global__ void first_kernel(float* values) {
    while (atomicAdd(values, 0) == 0) {  // HERE waits_for_stream waits_for_device
    }
}
__global__ void second_kernel(float* values) { atomicAdd(values, 1); }
void two_kernels(bool on_two_devices) {
    setenv("CUDA_CPU_DEVICES", "2", 1);
    float* values = nullptr;
    cudaMallocManaged(&values, 2 * sizeof(float));
    values[0] = 0;
    cudaStream_t streams[2];
    cudaStreamCreate(&streams[0]);
    if (on_two_devices) cudaSetDevice(1);
    cudaStreamCreate(&streams[1]);
    cudaSetDevice(0);
    first_kernel<<<1, 1, 0, streams[0]>>>(values);
    first_kernel<<<1, 1, 0, streams[0]>>>(values);
    if (on_two_devices) cudaSetDevice(1);
    cudaMemsetAsync(values + 1, 0, sizeof(float), streams[1]);
    second_kernel<<<1, 1, 0, streams[1]>>>(values);
    cudaSetDevice(0);
}
void waits_for_stream() { two_kernels(false); }
void waits_for_device() { two_kernels(true); }

// ---------------------------------------------------------------- warps
__global__ void missing_lane_kernel(float* values) {
    if (threadIdx.x < 16) {
        values[0] = __shfl_down_sync(full, 1.0f, 8);  // HERE missing_lane
    } else {
        values[1] = __ballot_sync(0xffff0000u, 1);
        values[2] = __ballot_sync(full, 1);
    }
}
void missing_lane() { missing_lane_kernel<<<1, 32>>>(device_array()); }

__global__ void unnamed_lane_kernel(float* values) {
    values[threadIdx.x] = __shfl_sync(0xffffu, 1.0f, 0);  // HERE unnamed_lane
}
void unnamed_lane() { unnamed_lane_kernel<<<1, 32>>>(device_array()); }

// ---------------------------------------------------------------- calls in kernels
__global__ void nothing_kernel() {}
__global__ void waiting_kernel() {
    nothing_kernel<<<1, 1>>>();
#ifdef CUDA_ON_CPU            // nvcc refuses it
    cudaDeviceSynchronize();  // HERE waits_in_kernel
#endif
}
void waits_in_kernel() { waiting_kernel<<<8, 1>>>(); }

__global__ void event_kernel() {
#ifdef CUDA_ON_CPU
    float milliseconds;
    cudaEventElapsedTime(&milliseconds, nullptr, nullptr);  // HERE calls_in_kernel
#endif
}
void calls_in_kernel() { event_kernel<<<8, 1>>>(); }

__global__ void child_kernel(const float* values, float* result) { *result = values[0]; }
__global__ void local_child_kernel(float* result) {
    float values[4] = {1, 2, 3, *result};
    child_kernel<<<1, 1>>>(values, result);  // HERE child_local
}
void child_local() { local_child_kernel<<<3, 3>>>(device_array()); }
__global__ void shared_child_kernel(float* result) {
    __shared__ float values[4];
    values[threadIdx.x] = 1;
    __syncthreads();
    child_kernel<<<1, 1>>>(values, result);  // HERE child_shared
}
void child_shared() { shared_child_kernel<<<3, 4>>>(device_array()); }
__global__ void dynamic_child_kernel(float* result) {
    extern __shared__ float values[];
    child_kernel<<<1, 1>>>(values + 2, result);  // HERE child_dynamic
}
void child_dynamic() { dynamic_child_kernel<<<3, 3, 16>>>(device_array()); }

#define CASE(name) \
    { #name, name }
int main(int argc, char** argv) {
    const std::map<std::string, void (*)()> cases = {
        CASE(past_static),       CASE(plain_flag),
        CASE(far_past_static),   CASE(never_set),
        CASE(host_barrier),      CASE(host_shuffle),
        CASE(host_reads),        CASE(host_writes),
        CASE(host_copies),       CASE(host_reads_freed),
        CASE(host_crashes),      CASE(host_divides),
        CASE(host_argument),     CASE(local_argument),
        CASE(freed_argument),    CASE(past_end),
        CASE(before_start),      CASE(far_away),
        CASE(lineless),          CASE(over_guard),
        CASE(over_guard_of_two), CASE(nowhere),
        CASE(use_after_free),    CASE(null_pointer),
        CASE(null_element),      CASE(past_shared),
        CASE(misaligned),        CASE(divides),
        CASE(large_local),       CASE(deep_recursion),
        CASE(early_return),      CASE(condition),
        CASE(two_branches),      CASE(loop_with_break),
        CASE(barrier_and_warp),  CASE(split_warp),
        CASE(missing_lane),      CASE(unnamed_lane),
        CASE(waits_in_kernel),   CASE(endless),
        CASE(calls_in_kernel),   CASE(past_odd_end),
        CASE(child_local),       CASE(child_shared),
        CASE(child_dynamic),     CASE(called),
        CASE(called_by_pointer), CASE(called_in_template),
        CASE(other_device),      CASE(held_of_other_device),
        CASE(no_value),          CASE(return_before_grid),
        CASE(waits_for_stream),  CASE(waits_for_device)};
    if (argc == 1) {
        for (const auto& entry : cases) std::printf("%s\n", entry.first.c_str());
        return 0;
    }
    std::printf("before\n");
    std::fflush(stdout);
    cases.at(argv[1])();
    const cudaError_t error = cudaDeviceSynchronize();
    std::printf("not stopped: %s\n", cudaGetErrorString(error));
}

#line 1 "/usr/include/of_a_library.h"
__global__ void lineless_kernel(float* values) { values[5000] = 1; }
