// Feature: CUB, sorting and segments | `DeviceMergeSort` of structures and pairs, `DeviceSegmentedReduce`, `DeviceSegmentedSort`, `DeviceSegmentedRadixSort`, empty segments, `DoubleBuffer`
#include <cub/cub.cuh>
#include <vector>

#include "../device_copies.h"

struct Point {
    float x;
    int name;
};
bool operator==(const Point& a, const Point& b) { return a.x == b.x && a.name == b.name; }
struct ByX {
    __host__ __device__ bool operator()(const Point& a, const Point& b) const { return a.x < b.x; }
};
struct Greater {
    __host__ __device__ bool operator()(int a, int b) const { return a > b; }
};
struct Product {
    template <class T>
    __host__ __device__ T operator()(const T& a, const T& b) const {
        return a * b;
    }
};

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
    Point* points = on_device(std::vector<Point>{{3, 0}, {1, 1}, {2, 2}, {1, 3}});
    run([&](void* work, size_t& bytes) {
        return cub::DeviceMergeSort::StableSortKeys(work, bytes, points, 4, ByX());
    });
    EXPECT(back(points, 4) == (std::vector<Point>{{1, 1}, {1, 3}, {2, 2}, {3, 0}}));
    Point* copies = on_device(std::vector<Point>(4));
    run([&](void* work, size_t& bytes) {
        return cub::DeviceMergeSort::SortKeysCopy(work, bytes, points, copies, 4, ByX());
    });
    EXPECT(back(copies, 4)[3] == (Point{3, 0}));
    SUCCEEDS(cudaFree(copies));
    const std::vector<int> in{8, 6, 7, 5, 3, 0, 9};
    int *keys = on_device(in), *values = on_device(std::vector<int>{0, 1, 2, 3, 4, 5, 6});
    run([&](void* work, size_t& bytes) {
        return cub::DeviceMergeSort::SortPairs(work, bytes, keys, values, 7, Greater());
    });
    EXPECT(back(keys, 7) == (std::vector<int>{9, 8, 7, 6, 5, 3, 0}) &&
           back(values, 7) == (std::vector<int>{6, 0, 2, 1, 3, 4, 5}));

    // (8 6 7) () (5 3 0 9)
    int *data = on_device(in), *offsets = on_device(std::vector<int>{0, 3, 3, 7}),
        *out = on_device(std::vector<int>(7)), *sorted = on_device(std::vector<int>(7)),
        *names = on_device(std::vector<int>{0, 1, 2, 3, 4, 5, 6});
    run([&](void* work, size_t& bytes) {
        return cub::DeviceSegmentedReduce::Sum(work, bytes, data, out, 3, offsets, offsets + 1);
    });
    EXPECT(back(out, 3) == (std::vector<int>{21, 0, 17}));
    run([&](void* work, size_t& bytes) {
        return cub::DeviceSegmentedReduce::Max(work, bytes, data, out, 3, offsets, offsets + 1);
    });
    EXPECT(back(out, 3)[0] == 8 && back(out, 3)[2] == 9);
    run([&](void* work, size_t& bytes) {
        return cub::DeviceSegmentedReduce::Reduce(work, bytes, data, out, 3, offsets, offsets + 1,
                                                  Product(), 1);
    });
    EXPECT(back(out, 3) == (std::vector<int>{336, 1, 0}));
    run([&](void* work, size_t& bytes) {
        return cub::DeviceSegmentedSort::SortPairs(work, bytes, data, sorted, names, out, 7, 3,
                                                   offsets, offsets + 1);
    });
    EXPECT(back(sorted, 7) == (std::vector<int>{6, 7, 8, 0, 3, 5, 9}) &&
           back(out, 7) == (std::vector<int>{1, 2, 0, 5, 4, 3, 6}));
    run([&](void* work, size_t& bytes) {
        return cub::DeviceSegmentedRadixSort::SortKeysDescending(work, bytes, data, sorted, 7, 3,
                                                                 offsets, offsets + 1);
    });
    EXPECT(back(sorted, 7) == (std::vector<int>{8, 7, 6, 9, 5, 3, 0}));
    cub::DoubleBuffer<int> both(data, sorted);
    run([&](void* work, size_t& bytes) {
        return cub::DeviceSegmentedRadixSort::SortKeys(work, bytes, both, 7, 3, offsets,
                                                       offsets + 1);
    });
    EXPECT(back(both.Current(), 7) == (std::vector<int>{6, 7, 8, 0, 3, 5, 9}));
    for (int* pointer : {keys, values, data, offsets, out, sorted, names})
        SUCCEEDS(cudaFree(pointer));
    SUCCEEDS(cudaFree(points));
    std::puts("ok");
}
