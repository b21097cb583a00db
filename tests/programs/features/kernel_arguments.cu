// Feature: arguments of kernels | references, `0`, braces, defaults, overloads, classes with a destructor, `cudaLaunchKernel`
#include "../runtime_expect.h"

struct Pair {
    int a, b;
};

// Counts what the host does with its copies; on the device neither runs.
struct Counted {
    int value;
    static int gone;
    __host__ __device__ explicit Counted(int value) : value(value) {}
    Counted(const Counted& other) : value(other.value) {}
    ~Counted() { ++gone; }
};
int Counted::gone = 0;

__global__ void sum_of_pair(Pair pair, int* sum, int factor = 1) {
    *sum = factor * (pair.a + pair.b);
}
__global__ void is_null(int* out, const int* pointer) { *out = pointer == nullptr; }
__global__ void add_to(Pair& pair, const int& value) { pair.a += value; }
__global__ void use_counted(Counted counted, int* out) {
    counted.value += static_cast<int>(threadIdx.x);  // each thread has its own
    out[threadIdx.x] = counted.value;
}
__global__ void store(int* out) { *out = 1; }
__global__ void store(float* out) { *out = 2.5f; }
template <class T, int factor>
__global__ void scale(T& value, const T* or_null, T by = T(1)) {
    value = value * factor * by + (or_null == nullptr);
}
template <class T>
__global__ void keep(T counted, int* out, const int* pointer) {
    out[threadIdx.x] = counted.value + (pointer == nullptr);
}

int main() {
    int* out;
    SUCCEEDS(cudaMallocManaged(&out, 64 * sizeof(int)));
    sum_of_pair<<<1, 1>>>({3, 4}, out, 1);
    EXPECT_RUN();
    EXPECT(out[0] == 7);
    sum_of_pair<<<1, 1>>>(Pair{3, 5}, out);
    EXPECT_RUN();
    EXPECT(out[0] == 8);
    is_null<<<1, 1>>>(out, 0);
    EXPECT_RUN();
    EXPECT(out[0] == 1);

    Pair* pair;
    SUCCEEDS(cudaMallocManaged(&pair, sizeof(Pair)));
    *pair = {10, 1};
    add_to<<<1, 1>>>(*pair, pair->b);
    EXPECT_RUN();
    EXPECT(pair->a == 11);

    int* number;
    SUCCEEDS(cudaMallocManaged(&number, sizeof(int)));
    *number = 5;
    scale<int, 2><<<1, 1>>>(*number, 0, 3);
    EXPECT_RUN();
    EXPECT(*number == 31);

    {
        Counted counted(7);
        use_counted<<<1, 32>>>(counted, out);
        EXPECT_RUN();
        EXPECT(out[0] == 7 && out[31] == 38);
        keep<<<1, 32>>>(counted, out, out);
        EXPECT_RUN();
        EXPECT(out[31] == 7);
    }
    EXPECT(Counted::gone >= 2 && Counted::gone < 10);

    float* real;
    SUCCEEDS(cudaMallocManaged(&real, sizeof(float)));
    store<<<1, 1>>>(real);
    EXPECT_RUN();
    EXPECT(*real == 2.5f);

    Pair given{20, 2};
    int factor = 2;
    void* arguments[] = {&given, &out, &factor};
    SUCCEEDS(cudaLaunchKernel((const void*)sum_of_pair, dim3(1), dim3(1), arguments, 0, nullptr));
    EXPECT_RUN();
    EXPECT(out[0] == 44);
    for (void* pointer : {(void*)out, (void*)pair, (void*)number, (void*)real})
        SUCCEEDS(cudaFree(pointer));
    printf("ok\n");
}
