// What people write: the forms of kernels, of their arguments, and of the code around them.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "runtime_expect.h"

// ---------------------------------------------------------------- kernels of all kinds
namespace outer {
namespace inner {
__global__ void named_kernel(int* value) { atomicAdd(value, 1); }
}  // namespace inner
template <class T, int factor = 2>
__global__ void scale_kernel(T* value, T by) {
    *value += by * factor;
}
}  // namespace outer

extern "C" __global__ void plain_kernel(int* value) { atomicAdd(value, 1); }

static __global__ void __launch_bounds__(256, 2) bounded_kernel(int* value, int by = 3) {
    atomicAdd(value, by);
}

// Overloads, told apart by their arguments.
__global__ void overloaded_kernel(int* value) { *value += 1; }
__global__ void overloaded_kernel(int* value, float by) { *value += int(10 * by); }

struct Point {
    float x, y;
    __host__ __device__ Point operator+(const Point& other) const {
        return {x + other.x, y + other.y};
    }
    __device__ float norm() const { return sqrtf(x * x + y * y); }
};
struct Grid {
    int width, height;
    int* cells;
    Point corners[4];
    __device__ int& at(int x, int y) const { return cells[y * width + x]; }
};
__global__ void struct_kernel(Grid grid, Point point, const Grid copy, float* length) {
    grid.at(1, 2) = 12;
    grid.width = 0;  // a copy of its own
    copy.at(0, 1) = 10;
    *length = (point + grid.corners[3]).norm();
}

struct Square {
    __host__ __device__ float operator()(float x) const { return x * x; }
};
template <class Function>
__global__ void apply_kernel(Function function, float* values, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) values[i] = function(values[i]);
}

using Operation = float (*)(float, float);
__device__ float add(float a, float b) { return a + b; }
__device__ float multiply(float a, float b) { return a * b; }
__device__ Operation operations[] = {add, multiply};
__global__ void pointer_kernel(int which, float* value) { *value = operations[which](*value, 5); }

class Base {
 public:
    __device__ virtual ~Base() {}
    __device__ virtual int value() const = 0;
};
class Derived : public Base {
 public:
    __device__ explicit Derived(int number) : number_(number) {}
    __device__ int value() const override { return number_ * 2; }

 private:
    int number_;
};
__global__ void class_kernel(int* result) {
    const Derived on_stack(3);
    const Base* const base = &on_stack;
    Base* const on_heap = new Derived(4);
    int* const numbers = static_cast<int*>(malloc(10 * sizeof(int)));
    numbers[9] = base->value() + on_heap->value();
    *result = numbers[9];
    free(numbers);
    delete on_heap;
}

__host__ __device__ constexpr int cube(int x) { return x * x * x; }
enum class Color { red, green = 5 };
template <int n>
struct Fibonacci {
    static constexpr int value = Fibonacci<n - 1>::value + Fibonacci<n - 2>::value;
};
template <>
struct Fibonacci<0> {
    static constexpr int value = 0;
};
template <>
struct Fibonacci<1> {
    static constexpr int value = 1;
};
template <class... Values>
__device__ int sum_of(Values... values) {
    return (0 + ... + values);
}
__device__ int ackermann(int m, int n) {
    if (m == 0) return n + 1;
    return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
template <Color color>
__global__ void modern_kernel(int* results) {
    int local[cube(2)] = {}, total = 0;
    for (int& value : local) value = ++total;
    const auto twice = [&](int x) { return 2 * x + local[0]; };
    results[0] = twice(5);
    results[1] = Fibonacci<12>::value + static_cast<int>(color);
    results[2] = sum_of(1, 2, 3, 4);
    results[3] = ackermann(2, 3);
    if constexpr (color == Color::green) results[4] = 1;
    const auto [x, y] = Point{3, 4};
    results[5] = static_cast<int>(x * y);
    switch (blockIdx.x) {
        case 0:
            results[6] = 6;
            break;
        default:
            results[6] = 7;
    }
    goto end;
end:
    results[7] = sizeof(local) / sizeof(*local);
}

// A class of the host that owns memory and launches.
template <class T>
class DeviceArray {
 public:
    explicit DeviceArray(int count) : count_(count) {
        SUCCEEDS(cudaMalloc(&data_, count * sizeof(T)));
    }
    ~DeviceArray() { SUCCEEDS(cudaFree(data_)); }
    DeviceArray(const DeviceArray&) = delete;
    void fill(T value);
    T sum() const {
        std::vector<T> host(count_);
        SUCCEEDS(cudaMemcpy(host.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
        T sum = 0;
        for (const T value : host) sum += value;
        return sum;
    }

 private:
    T* data_;
    int count_;
};
template <class T>
__global__ void fill_kernel(T* data, int count, T value) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        data[i] = value;
    }
}
template <class T>
void DeviceArray<T>::fill(T value) {
    fill_kernel<<<4, 64>>>(data_, count_, value);
}

void check_kernels() {
    int* const value = zeros<int>(8);
    outer::inner::named_kernel<<<2, 3>>>(value);
    ::outer::inner::named_kernel<<<dim3(1), dim3(2, 2)>>>(value);
    plain_kernel<<<1, 1>>>(value);
    bounded_kernel<<<1, 1>>>(value);
    bounded_kernel<<<1, 1>>>(value, 100);
    EXPECT_RUN();
    EXPECT(read_back(value) == 6 + 4 + 1 + 3 + 100);
    using namespace outer;
    using inner::named_kernel;
    named_kernel<<<1, 1>>>(value);
    scale_kernel<<<1, 1>>>(value, 3);
    scale_kernel<int, 5><<<1, 1>>>(value, 4);
    overloaded_kernel<<<1, 1>>>(value);
    overloaded_kernel<<<1, 1>>>(value, 0.5f);
    EXPECT_RUN();
    EXPECT(read_back(value) == 114 + 1 + 6 + 20 + 1 + 5);

    void (*kernel)(int*) = plain_kernel;
    kernel<<<1, 2>>>(value);
    kernel = outer::inner::named_kernel;
    (*kernel)<<<1, 3>>>(value);
    // The grid as people work it out.
    const int count = 1000, block = 256;
    plain_kernel<<<(count + block - 1) / block, block>>>(value);
    plain_kernel<<<ceil(count / 256.0), block>>>(value);
    const size_t many = 3;
    plain_kernel<<<many, many * many>>>(value);
    plain_kernel<<<dim3{2, 2}, dim3{1, 1, 1}, 0, nullptr>>>(value);
    EXPECT_RUN();
    EXPECT(read_back(value) == 147 + 5 + 1024 + 1024 + 27 + 4);

    bool is_green = false;
    int results[8], by = 7;
    if (!is_green)
        modern_kernel<Color::green><<<1, 1>>>(value);
    else
        modern_kernel<Color::red><<<1, 1>>>(value);
    SUCCEEDS(cudaMemcpy(results, value, sizeof results, cudaMemcpyDeviceToHost));
    const int expected[8] = {11, 149, 10, 9, 1, 12, 6, 8};
    EXPECT(std::equal(results, results + 8, expected));
    // Arguments are read at the launch.
    bounded_kernel<<<1, 1>>>(value, by);
    by = 1000;
    EXPECT_RUN();
    EXPECT(read_back(value) == 18);
    class_kernel<<<1, 1>>>(value);
    EXPECT_RUN();
    EXPECT(read_back(value) == 14);
}

void check_arguments() {
    Grid grid = {3, 4, zeros<int>(12), {{0, 0}, {0, 0}, {0, 0}, {2, 2}}};
    float* const length = zeros<float>(1);
    struct_kernel<<<1, 1>>>(grid, Point{1, 2}, grid, length);
    EXPECT_RUN();
    EXPECT(read_back(grid.cells + 7) == 12 && read_back(grid.cells + 3) == 10);
    EXPECT(read_back(length) == 5.0f);

    float* const values = zeros<float>(100);
    fill_kernel<<<1, 32>>>(values, 100, 3.0f);
    apply_kernel<<<1, 128>>>(Square(), values, 100);
#ifdef CUDA_ON_CPU  // nvcc asks for --extended-lambda
    const float shift = 1;
    apply_kernel<<<1, 128>>>([=] __device__(float x) { return x + shift; }, values, 100);
#else
    fill_kernel<<<1, 32>>>(values, 100, 10.0f);
#endif
    pointer_kernel<<<1, 1>>>(0, values);
    pointer_kernel<<<1, 1>>>(1, values + 1);
    EXPECT_RUN();
    EXPECT(read_back(values) == 15 && read_back(values + 1) == 50 && read_back(values + 99) == 10);

    DeviceArray<double> array(1000);
    array.fill(0.5);
    EXPECT(array.sum() == 500);
    const auto owned = std::make_unique<DeviceArray<int>>(77);
    owned->fill(2);
    EXPECT(owned->sum() == 154);

    int by = 4, *const value = zeros<int>(1);
    void* arguments[] = {const_cast<int**>(&value), &by};
    SUCCEEDS(cudaLaunchKernel(bounded_kernel, dim3(2), dim3(5), arguments));
    SUCCEEDS(
        cudaLaunchKernel(bounded_kernel, dim3(1), dim3(1), arguments, 0, cudaStream_t(nullptr)));
    by = 0;
    EXPECT_RUN();
    EXPECT(read_back(value) == 44);
    EXPECT(is_bad_shape(cudaLaunchKernel(bounded_kernel, dim3(0), dim3(1), arguments, 0, nullptr)));
    EXPECT(is_bad_shape(cudaGetLastError()));
}

// ---------------------------------------------------------------- the code around
void check_host_code() {
    // Exceptions pass over what CUDA has pending.
    int* const value = zeros<int>(1);
    try {
        plain_kernel<<<1, 5>>>(value);
        std::vector<int>().at(3);
    } catch (const std::out_of_range&) {
        plain_kernel<<<1, 1>>>(value);
    }
    EXPECT_RUN();
    EXPECT(read_back(value) == 6);
    // A launch in a lambda, in a std::function, in a thread, in a loop, in a conditional.
    const std::function<void(int)> launch = [&](int threads) {
        plain_kernel<<<1, threads>>>(value);
    };
    launch(4);
    std::thread([&] {
        launch(10);
        SUCCEEDS(cudaDeviceSynchronize());
    }).join();
    for (int i = 0; i < 5; i++) plain_kernel<<<1, 1>>>(value);
    do plain_kernel<<<1, 1>>>(value);
    while (false);
    value == nullptr ? (void)0 : (void)0, plain_kernel<<<1, 1>>>(value);
    EXPECT_RUN();
    EXPECT(read_back(value) == 27);
    SUCCEEDS(cudaFree(value));
}

// ---------------------------------------------------------------- printing
__global__ void print_kernel() {
    if (threadIdx.x % 2) {
        printf("odd %d of block %d\n", threadIdx.x, blockIdx.x);
    } else {
        printf("%s %5.2f %lld %c %%\n", "even", threadIdx.x * 0.5, 1ll << 40, 'c');
    }
    __syncthreads();
    if (threadIdx.x == 0) printf("all %u x %u\n", gridDim.x, blockDim.x);
}

int main() {
    check_kernels();
    check_arguments();
    check_host_code();
    print_kernel<<<1, 4>>>();
    EXPECT_RUN();
    std::printf("ok\n");
}
