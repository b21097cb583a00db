// Feature: lambdas and function objects | `[=] __device__`, `__host__ __device__` lambdas, captures, generic lambdas inside kernels, functors, also as arguments of templates of kernels
// Flags: --extended-lambda
#include "../runtime_expect.h"

template <class Function, class... Arguments>
__global__ void call(int* out, Function function, Arguments... arguments) {
    out[threadIdx.x] = function(int(threadIdx.x), arguments...);
}
template <class Function>
void for_each(int* out, int count, Function function) {
    call<<<1, count>>>(out, function);
    EXPECT_RUN();
}

struct Scale {
    int factor;
    __host__ __device__ int operator()(int i) const { return factor * i; }
};

// A lambda that a kernel makes itself, and one that is called with several types.
__global__ void inside(int* out) {
    int sum = 0;
    const auto add = [&](int value) { sum += value; };
    for (int i = 0; i < 4; ++i) add(i);
    const auto twice = [](auto value) { return value + value; };
    out[0] = sum + twice(2) + int(twice(0.5f));
}

struct Field {
    int offset;
    void fill(int* out) const {
        const int own = offset;
        for_each(out, 4, [=] __device__(int i) { return own + i; });
    }
};

int main() {
    int* out = zeros<int>(32);
    int n = 5;
    const float half = 0.5f;
    for_each(out, 32, [=] __device__(int i) { return i * n; });
    EXPECT(read_back(out + 7) == 35);
    for_each(out, 32, [n, half] __host__ __device__(int i) -> int { return int(n * half * i); });
    EXPECT(read_back(out + 4) == 10);
    const auto negative = [] __host__ __device__(int i) { return -i; };
    for_each(out, 32, negative);
    EXPECT(read_back(out + 9) == negative(9));
    for_each(out, 32, Scale{3});
    EXPECT(read_back(out + 9) == Scale{3}(9));
    call<<<1, 2>>>(
        out, [] __device__(int i, int a, float b) { return i + a + int(b); }, 10, 2.5f);
    EXPECT_RUN();
    EXPECT(read_back(out + 1) == 13);
    inside<<<1, 1>>>(out);
    EXPECT_RUN();
    EXPECT(read_back(out) == 11);
    Field{100}.fill(out);
    EXPECT(read_back(out + 3) == 103);
    printf("ok\n");
}
