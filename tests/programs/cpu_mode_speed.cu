// How fast CPU mode is, beside plain C++ loops on one core: the sum of 16 Mi floats in blocks of 256,
// and the product of 512x512 doubles in tiles of 32x32, whose threads meet at 32 barriers. Prints both
// times and their ratio; tests/test_cpu_mode_speed.py reads them.

#include <algorithm>
#include <cstdio>
#include <vector>

#include "../../common/lab.h"

constexpr int tile_side = 32;

__global__ void add_kernel(const float* a, const float* b, float* sum, int64_t count) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < count) sum[i] = a[i] + b[i];
}

// a, b, product: (side, side), row-major; side is a multiple of tile_side
__global__ void product_kernel(const double* a, const double* b, double* product, int side) {
    __shared__ double a_tile[tile_side][tile_side], b_tile[tile_side][tile_side];
    const int row = blockIdx.y * tile_side + threadIdx.y;
    const int column = blockIdx.x * tile_side + threadIdx.x;
    double sum = 0;
    for (int first = 0; first < side; first += tile_side) {
        a_tile[threadIdx.y][threadIdx.x] = a[row * side + first + threadIdx.x];
        b_tile[threadIdx.y][threadIdx.x] = b[(first + threadIdx.y) * side + column];
        __syncthreads();
        for (int k = 0; k < tile_side; k++) sum += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
        __syncthreads();
    }
    product[row * side + column] = sum;
}

void add_plainly(const float* a, const float* b, float* sum, int64_t count) {
    for (int64_t i = 0; i < count; i++) sum[i] = a[i] + b[i];
}

void multiply_plainly(const double* a, const double* b, double* product, int side) {
    std::fill(product, product + side * side, 0.0);
    for (int i = 0; i < side; i++) {
        for (int k = 0; k < side; k++) {
            for (int j = 0; j < side; j++)
                product[i * side + j] += a[i * side + k] * b[k * side + j];
        }
    }
}

// The fastest of some runs: what the code costs, not what else the machine was doing.
template <class Work>
double fastest_milliseconds(Work work) {
    double fastest = 1e9;
    for (int run = 0; run < 7; run++) {
        const lab::HostTimer timer;
        work();
        fastest = std::min(fastest, timer.milliseconds());
    }
    return fastest;
}

void report(const char* name, double plain, double cpu_mode, bool right) {
    std::printf("%s: plain loop %.2f ms, CPU mode %.2f ms, ratio %.2f, %s\n", name, plain, cpu_mode,
                cpu_mode / plain, right ? "same result" : "DIFFERENT RESULTS");
    if (!right) std::exit(1);
}

template <class T>
T* upload(const std::vector<T>& values) {
    T* d_values = nullptr;
    CHECK(cudaMalloc(&d_values, values.size() * sizeof(T)));
    CHECK(cudaMemcpy(d_values, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return d_values;
}

template <class T>
bool same(const std::vector<T>& expected, const T* d_values) {
    std::vector<T> values(expected.size());
    CHECK(cudaMemcpy(values.data(), d_values, values.size() * sizeof(T), cudaMemcpyDeviceToHost));
    return values == expected;
}

void measure_sum() {
    const int64_t count = 16 << 20;
    const auto a = lab::random_values<float>(count, -1, 1, 1),
               b = lab::random_values<float>(count, -1, 1, 2);
    std::vector<float> sum(count);
    float *d_a = upload(a), *d_b = upload(b), *d_sum = upload(sum);
    const double plain =
        fastest_milliseconds([&] { add_plainly(a.data(), b.data(), sum.data(), count); });
    const double cpu_mode = fastest_milliseconds([&] {
        add_kernel<<<lab::divide_up(count, 256), 256>>>(d_a, d_b, d_sum, count);
        CHECK(cudaDeviceSynchronize());
    });
    report("sum of 16 Mi floats", plain, cpu_mode, same(sum, d_sum));
}

void measure_product() {
    const int side = 512;
    const auto a = lab::random_values<double>(side * side, -1, 1, 3);
    const auto b = lab::random_values<double>(side * side, -1, 1, 4);
    std::vector<double> product(side * side);
    double *d_a = upload(a), *d_b = upload(b), *d_product = upload(product);
    const double plain =
        fastest_milliseconds([&] { multiply_plainly(a.data(), b.data(), product.data(), side); });
    const double cpu_mode = fastest_milliseconds([&] {
        const dim3 grid(side / tile_side, side / tile_side), block(tile_side, tile_side);
        product_kernel<<<grid, block>>>(d_a, d_b, d_product, side);
        CHECK(cudaDeviceSynchronize());
    });
    report("product of 512x512 doubles", plain, cpu_mode, same(product, d_product));
}

int main() {
    measure_sum();
    measure_product();
}
