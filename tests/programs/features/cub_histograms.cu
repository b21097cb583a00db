// Feature: CUB, histograms | `DeviceHistogram` of one and of several channels, even bins and ranges, rows with a gap
#include <cub/cub.cuh>
#include <vector>

#include "../device_copies.h"

template <class Call>
void run(Call call) {
    void* work = nullptr;
    size_t bytes = 0;
    SUCCEEDS(call(nullptr, bytes));
    EXPECT(bytes > 0);
    SUCCEEDS(cudaMalloc(&work, bytes));
    SUCCEEDS(call(work, bytes));
    SUCCEEDS(cudaDeviceSynchronize());
    SUCCEEDS(cudaFree(work));
}

int main() {
    int* counts = on_device(std::vector<int>(8, 99));
    float* samples =
        on_device(std::vector<float>{2.2f, 6.0f, 7.1f, 2.9f, 3.5f, 0.3f, 2.9f, 2.1f, 6.1f, 999.5f});
    run([&](void* work, size_t& bytes) {
        return cub::DeviceHistogram::HistogramEven(work, bytes, samples, counts, 7, 0.0f, 12.0f,
                                                   10);
    });
    EXPECT(back(counts, 6) == (std::vector<int>{1, 5, 0, 3, 0, 0}));
    float* levels = on_device(std::vector<float>{0, 2, 3, 7});
    run([&](void* work, size_t& bytes) {
        return cub::DeviceHistogram::HistogramRange(work, bytes, samples, counts, 4, levels, 10);
    });
    EXPECT(back(counts, 3) == (std::vector<int>{1, 4, 3}));

    // 2 rows of 3 samples, 5 apart.
    unsigned char* rows = on_device(std::vector<unsigned char>{1, 2, 3, 77, 77, 3, 3, 0, 77, 77});
    run([&](void* work, size_t& bytes) {
        return cub::DeviceHistogram::HistogramEven(work, bytes, rows, counts, 5, 0, 4, 3, 2, 5);
    });
    EXPECT(back(counts, 4) == (std::vector<int>{1, 1, 1, 3}));

    // Four channels, of which three are counted.
    unsigned char* pixels =
        on_device(std::vector<unsigned char>{2, 6, 7, 5, 3, 0, 2, 1, 7, 0, 6, 2, 0, 6, 7, 5});
    int* histograms[3] = {counts, on_device(std::vector<int>(8)), on_device(std::vector<int>(8))};
    int number[3] = {9, 9, 9};
    unsigned int lower[3] = {0, 0, 0}, upper[3] = {8, 8, 8};
#if CUDART_VERSION < 13000 || defined(CUDA_ON_CPU)
    run([&](void* work, size_t& bytes) {
        return cub::DeviceHistogram::MultiHistogramEven<4, 3>(work, bytes, pixels, histograms,
                                                              number, lower, upper, 4);
    });
    EXPECT(back(histograms[0], 8) == (std::vector<int>{1, 0, 1, 1, 0, 0, 0, 1}));
    EXPECT(back(histograms[1], 8) == (std::vector<int>{2, 0, 0, 0, 0, 0, 2, 0}));
    EXPECT(back(histograms[2], 8) == (std::vector<int>{0, 0, 1, 0, 0, 0, 1, 2}));
#endif
    static_cast<void>(number[0] + lower[0] + upper[0]);
    for (int* histogram : histograms) SUCCEEDS(cudaFree(histogram));
    for (void* pointer : std::vector<void*>{samples, levels, rows, pixels})
        SUCCEEDS(cudaFree(pointer));
    std::puts("ok");
}
