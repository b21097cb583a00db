// Feature: classes in kernels | virtual functions of objects that a kernel makes, recursion, pointers to functions (taken on the device, from a symbol, in `__constant__` tables), operators
#include "../runtime_expect.h"

class Shape {
 public:
    __device__ virtual ~Shape() {}
    __device__ virtual float area() const = 0;
    __device__ virtual int corners() const { return 0; }
};
class Square : public Shape {
 public:
    __device__ explicit Square(float side) : side_(side) {}
    __device__ float area() const override { return side_ * side_; }
    __device__ int corners() const override { return 4; }

 private:
    float side_;
};
class Circle : public Shape {
 public:
    __device__ explicit Circle(float radius) : radius_(radius) {}
    __device__ float area() const override { return 3 * radius_ * radius_; }

 private:
    float radius_;
};
__global__ void make(Shape** shapes, int count) {
    for (int i = 0; i < count; ++i)
        shapes[i] = i % 2 == 0 ? static_cast<Shape*>(new Square(float(i))) : new Circle(float(i));
}
__global__ void measure(Shape* const* shapes, float* areas, int* corners) {
    areas[threadIdx.x] = shapes[threadIdx.x]->area();
    corners[threadIdx.x] = shapes[threadIdx.x]->corners();
}
__global__ void destroy(Shape** shapes, int count) {
    for (int i = 0; i < count; ++i) delete shapes[i];
}

__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
// Sorted in place, around a middle element.
__device__ void sort(int* first, int* last) {
    if (last - first < 2) return;
    const int middle = first[(last - first) / 2];
    int *low = first, *high = last - 1;
    while (low <= high) {
        while (*low < middle) ++low;
        while (*high > middle) --high;
        if (low > high) break;
        const int kept = *low;
        *low++ = *high, *high-- = kept;
    }
    sort(first, high + 1);
    sort(low, last);
}

using Operation = float (*)(float, float);
__device__ float add(float a, float b) { return a + b; }
__device__ float multiply(float a, float b) { return a * b; }
__device__ Operation on_device = multiply;
__constant__ Operation table[2] = {add, multiply};
__global__ void apply(Operation given, float* out) {
    out[0] = given(3, 4);
    out[1] = table[threadIdx.x](3, 4);
    const Operation chosen = threadIdx.x == 0 ? multiply : add;
    out[2] = chosen(5, 6);
}

struct Complex {
    float real, imaginary;
    __host__ __device__ Complex operator*(const Complex& other) const {
        return {real * other.real - imaginary * other.imaginary,
                real * other.imaginary + imaginary * other.real};
    }
    __host__ __device__ Complex& operator+=(const Complex& other) {
        real += other.real, imaginary += other.imaginary;
        return *this;
    }
};
__global__ void iterate(Complex c, int* steps, int* numbers, int* sorted) {
    Complex z = {0, 0};
    int count = 0;
    while (z.real * z.real + z.imaginary * z.imaginary < 4 && count < 100) {
        z = z * z;
        z += c;
        ++count;
    }
    *steps = count;
    *numbers = fibonacci(12);
    sort(sorted, sorted + 16);
}

int main() {
    constexpr int count = 4;
    Shape** shapes = zeros<Shape*>(count);
    float *areas = zeros<float>(count), *out = zeros<float>(3);
    int* corners = zeros<int>(count);
    make<<<1, 1>>>(shapes, count);
    measure<<<1, count>>>(shapes, areas, corners);
    destroy<<<1, 1>>>(shapes, count);
    EXPECT_RUN();
    EXPECT(read_back(areas + 2) == 4 && read_back(areas + 3) == 27 && read_back(corners + 2) == 4 &&
           read_back(corners + 3) == 0);

    Operation given = nullptr;
    SUCCEEDS(cudaMemcpyFromSymbol(&given, on_device, sizeof given));
    apply<<<1, 1>>>(given, out);
    EXPECT_RUN();
    EXPECT(read_back(out) == 12 && read_back(out + 1) == 7 && read_back(out + 2) == 30);

    int* sorted = nullptr;
    SUCCEEDS(cudaMallocManaged(&sorted, 16 * sizeof(int)));
    for (int i = 0; i < 16; ++i) sorted[i] = i * 7 % 16;
    iterate<<<1, 1>>>({0.5f, 0.5f}, corners, corners + 1, sorted);
    EXPECT_RUN();
    EXPECT(read_back(corners) == 5 && read_back(corners + 1) == 144);
    for (int i = 0; i < 16; ++i) EXPECT(sorted[i] == i);
    printf("ok\n");
}
