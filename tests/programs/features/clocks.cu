// Feature: clocks | `clock()`, `clock64()` in kernels, and the host's own `clock()`
#include <chrono>
#include <ctime>

#include "../runtime_expect.h"

__global__ void spin(long long cycles, int* out) {
    const clock_t start = clock();
    const long long start64 = clock64();
    while (clock64() - start64 < cycles) {
    }
    while (static_cast<long long>(clock() - start) < cycles) {
    }
    *out = 1;
}

int main() {
    int* out = zeros<int>(1);
    SUCCEEDS(cudaDeviceSynchronize());
    const auto begin = std::chrono::steady_clock::now();
    spin<<<1, 1>>>(2000000, out);
    EXPECT_RUN();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    EXPECT(took.count() > 0.0005 && took.count() < 1);
    EXPECT(read_back(out) == 1);
    EXPECT(clock() <= CLOCKS_PER_SEC * 3600);
    SUCCEEDS(cudaFree(out));
    printf("ok\n");
}
