// Feature: C++17 in kernels | variadic templates, folds, templates of templates, `if constexpr`, structured bindings, `constexpr` functions and arrays, deduced and default arguments, `static_assert`
#include "../runtime_expect.h"

__host__ __device__ constexpr int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
template <class T, int n>
struct Array {
    T values[n];
    static constexpr int size = n;
    __host__ __device__ constexpr T operator[](int i) const { return values[i]; }
};
constexpr Array<int, 4> steps = {{2, 3, 5, 7}};

template <class... Values>
__global__ void sum(float* out, Values... values) {
    static_assert(sizeof...(Values) > 0, "something to add");
    *out = (0.0f + ... + values);
}
template <template <class, int> class Container, class T, int n>
__global__ void add_up(T* out, Container<T, n> container, T start = T(100)) {
    for (int i = 0; i < n; ++i) start += container[i];
    *out = start;
}
template <int n, class T = float>
__global__ void choose(T* out) {
    if constexpr (n % 2 == 0) {
        *out = T(n);
    } else {
        constexpr int large = factorial(n);
        *out = T(large);
    }
}
struct Pair {
    int first;
    float second;
};
__device__ Pair pair_of(int i) { return {i, i * 0.5f}; }
__global__ void unpack(float* out) {
    const auto [whole, half] = pair_of(6);
    if (const int both = whole + int(half); both > 8) *out = float(both);
    constexpr Array<int, 4> local = steps;
    int values[local.size] = {};
    for (int& value : values) value = local[&value - values];
    *out += values[3];
}
enum class Operation { add, multiply };
template <Operation operation>
struct Apply;
template <>
struct Apply<Operation::add> {
    static __device__ float of(float a, float b) { return a + b; }
};
template <>
struct Apply<Operation::multiply> {
    static __device__ float of(float a, float b) { return a * b; }
};
template <Operation operation>
__global__ void apply(float* out, float a, float b) {
    *out = Apply<operation>::of(a, b);
}

template <int block>
void launch_by_size(float* out, int size) {
    if (size > block) return launch_by_size<2 * block>(out, size);
    choose<block><<<1, block>>>(out);
}
template <>
void launch_by_size<1024>(float*, int) {}

float result(const float* out) {
    EXPECT_RUN();
    return read_back(out);
}

int main() {
    float* out = zeros<float>(1);
    sum<<<1, 1>>>(out, 1, 2.5f, 'a' - 'b');
    EXPECT(result(out) == 2.5f);
    int* whole = zeros<int>(1);
    add_up<<<1, 1>>>(whole, steps);
    EXPECT_RUN();
    EXPECT(read_back(whole) == 117);
    choose<5><<<1, 1>>>(out);
    EXPECT(result(out) == 120);
    choose<4, int><<<1, 1>>>(whole);
    EXPECT_RUN();
    EXPECT(read_back(whole) == 4);
    unpack<<<1, 1>>>(out);
    EXPECT(result(out) == 16);
    apply<Operation::add><<<1, 1>>>(out, 3, 4);
    EXPECT(result(out) == 7);
    apply<Operation::multiply><<<1, 1>>>(out, 3, 4);
    EXPECT(result(out) == 12);
    launch_by_size<32>(out, 100);
    EXPECT(result(out) == 128);
    printf("ok\n");
}
