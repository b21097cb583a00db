// Launches and shared memory in many forms of writing. Each prints a line, which
// tests/test_translator.py knows. Also compiles with nvcc, so that the forms are CUDA's own.
// The odd writing is the point:
// clang-format off
#include <cstdio>
#include <utility>

template <class First, class Second>
struct Pair {
    First first;
    Second second;
};

namespace outer {
namespace inner {
__global__ void in_namespace(int value) { printf("in_namespace %d\n", value); }
}   // namespace inner
}   // namespace outer

__global__ void no_arguments() {
    if (threadIdx.x == 0) printf("no_arguments %d\n", blockDim.x);
}
__global__ void with_default(int first, int second = 42) { printf("with_default %d %d\n", first, second); }
__global__ void text(char first, char second, int third) {
    printf("text %c %c %d\n", first, second, third);
}
__global__ void pointer(const int* values) { printf("pointer %s\n", values ? "set" : "null"); }

__global__ void shape(int value) {
    if (threadIdx.x + threadIdx.y + threadIdx.z + blockIdx.x > 0) return;
    printf("shape %dx%dx%d of %dx%dx%d: %d\n", gridDim.x, gridDim.y, gridDim.z, blockDim.x,
           blockDim.y, blockDim.z, value);
}

template <int count, class T>
__global__ void filled(T value) {
    __shared__ T row[count][count + 1], sum;
    __shared__ alignas(16) Pair<T, int> pairs[count < 3 ? 3 : count];
    __shared__ T(*last)[count + 1];
    for (int i = 0; i < count; i++) row[count - 1][i] = value;
    last = &row[count - 1];
    sum = 0;
    for (int i = 0; i < count; i++) sum += (*last)[i];
    pairs[1] = {sum, static_cast<int>(sizeof(row) / sizeof(T))};
    printf("filled %g %d\n", static_cast<double>(pairs[1].first), pairs[1].second);
}

template <class T>
__global__ void dynamic(T value, int count) {
    extern __shared__ __align__(16) unsigned char bytes[];
    T* values = reinterpret_cast<T*>(bytes);
    for (int i = 0; i < count; i++) values[i] = value;
    printf("dynamic %g %d\n", static_cast<double>(values[count - 1]), static_cast<int>(sizeof(T)));
}

__global__ void dynamic_rows() {
    extern __shared__ volatile float rows[][4];
    rows[1][3] = 7;
    printf("dynamic_rows %g\n", static_cast<double>((&rows[0][0])[7]));
}

__device__ __noinline__ int shared_in_function(int value) {
    static __shared__ union {
        int whole;
        unsigned char parts[4];
    } both;
    {
        int __shared__ both_again[2];
        both_again[1] = value;
        both.whole = both_again[1] + 1;
    }
    return both.parts[0];
}
__global__ void in_function(int value) { printf("in_function %d\n", shared_in_function(value)); }

template <class T, class... Rest>
__global__ void many(T first, Rest... rest) {
    printf("many %d of %d\n", static_cast<int>(sizeof...(rest)), static_cast<int>(first));
}

#define SYNCHRONISE() cudaDeviceSynchronize()
#define LAUNCH(kernel, threads, ...)        \
    do {                                    \
        kernel<<<1, threads>>>(__VA_ARGS__); \
        SYNCHRONISE();                      \
    } while (0)
#define ONE_BLOCK 1, 1

template <class T>
void from_template(T value) {
    filled<2, T><<<ONE_BLOCK>>>(value);
    SYNCHRONISE();
    auto nested = [=](int again) {
        if (again) filled<4><<<1, 1>>>(value);
        else no_arguments<<<1, 9>>>();
        SYNCHRONISE();
    };
    nested(1), nested(0);
}

struct Table {
    void (*kernel)(int);
    void run(int value) { this->kernel<<<1, 1>>>(value), SYNCHRONISE(); }
};

int next(int* number) { return ++*number; }

int main() {
    const int n = 5;
    int number = 0;
    shape<<<dim3(2, 1), dim3{1, 3, 2}>>>(1);
    SYNCHRONISE();
    shape /* the grid <<<1, 1>>>() */
        <<<dim3((n + 1) / 6,   // blocks, rounded up (>>>)
                1),
           n >> 1, sizeof(Pair<int, Pair<int, float>>) * 2, 0
        >>>(
            2   // the "value"
        );
    SYNCHRONISE();
    shape <<< (n > 3 ? 1 << 1 : 1) , std::pair<int, int>(3, 1).first >>> (next(&number));
    SYNCHRONISE();
    outer::inner::in_namespace<<<1, 1>>>(3), SYNCHRONISE();
    ::outer::inner::in_namespace<<<1, 1, 0, nullptr>>>([&] { return n > 3 ? next(&number) : 0; }());
    SYNCHRONISE();
    with_default<<<1, 1>>>(1);
    SYNCHRONISE();
    LAUNCH(with_default, 1, 1, (Pair<int, int>{2, 3}.second));
    LAUNCH(no_arguments, 7);
    text<<<1, 1>>>("a<<<1, 1>>>(\"b)"[13], ')', R"(>>>"()"[0] + '(' - '(');
    SYNCHRONISE();
    pointer<<<1, 1>>>(NULL);
    SYNCHRONISE();
    if (n < 3) no_arguments<<<1, 1>>>(); else if (n == 5) no_arguments<<<1, 2>>>(); else no_arguments<<<1, 3>>>();
    SYNCHRONISE();
    switch (n) {
        case 5:no_arguments<<<1, 4>>>(); SYNCHRONISE();
    }
    filled<3, float><<<1, 1>>>(1.5f), SYNCHRONISE();
    filled<(n > 4 ? 2 : 3)><<<1, 1>>>(2.0), SYNCHRONISE();
    filled<1 << 1, decltype(Pair<int, double>().second)><<<1, 1>>>(n), SYNCHRONISE();
    dynamic<<<1, 1, 64 * sizeof(double)>>>(2.5, 64), SYNCHRONISE();
    dynamic<float><<<1, 1, 64 * sizeof(float)>>>(1, 64), SYNCHRONISE();
    dynamic_rows<<<1, 1, 2 * sizeof(float[4])>>>();
    SYNCHRONISE();
    in_function<<<1, 1>>>(11);
    SYNCHRONISE();
    many<<<1, 1>>>(3, 'a', 2.0, Pair<int, int>{1, 2}), SYNCHRONISE();
    from_template(0.25);
    Table tables[2] = {{in_function}, {shape}};
    tables[next(&number) - 2].run(4);
    tables[0].kernel<<<1, 1>>>(5), SYNCHRONISE();
    (n > 3 ? shape : in_function)<<<1, 1>>>(6);
    SYNCHRONISE();
    printf("%d %s\n", number, cudaGetErrorString(cudaGetLastError()));
    return 0;
}
