// Feature: Thrust, keys and sets | `sort_by_key`, `stable_sort` of structures, `reduce_by_key`, `inclusive_scan_by_key`, `exclusive_scan_by_key`, `unique_by_key`, set operations, `merge`, `lower_bound` for many, histograms
#include <thrust/adjacent_difference.h>
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/merge.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/unique.h>

#include <string>
#include <vector>

#include "../runtime_expect.h"

struct Particle {
    float mass;
    int name;
};
struct ByMass {
    __host__ __device__ bool operator()(const Particle& a, const Particle& b) const {
        return a.mass < b.mass;
    }
};
struct Larger {
    __host__ __device__ int operator()(int a, int b) const { return a < b ? b : a; }
};
template <class T>
thrust::device_vector<T> device(const std::vector<T>& values) {
    return thrust::device_vector<T>(values.begin(), values.end());
}
template <class T>
std::vector<T> host(const thrust::device_vector<T>& vector, size_t count) {
    std::vector<T> result(count);
    thrust::copy(vector.begin(), vector.begin() + static_cast<long>(count), result.begin());
    return result;
}

int main() {
    thrust::device_vector<int> keys = device<int>({3, 1, 2, 1, 3, 1});
    thrust::device_vector<int> values = device<int>({0, 1, 2, 3, 4, 5}), out(12), sums(12);
    thrust::stable_sort_by_key(keys.begin(), keys.end(), values.begin());
    EXPECT(host(keys, 6) == (std::vector<int>{1, 1, 1, 2, 3, 3}) &&
           host(values, 6) == (std::vector<int>{1, 3, 5, 2, 0, 4}));
    const auto runs =
        thrust::reduce_by_key(keys.begin(), keys.end(), values.begin(), out.begin(), sums.begin());
    EXPECT(runs.first - out.begin() == 3 && host(out, 3) == (std::vector<int>{1, 2, 3}) &&
           host(sums, 3) == (std::vector<int>{9, 2, 4}));
    thrust::reduce_by_key(keys.begin(), keys.end(), values.begin(), out.begin(), sums.begin(),
                          thrust::equal_to<int>(), Larger());
    EXPECT(host(sums, 3) == (std::vector<int>{5, 2, 4}));
    thrust::inclusive_scan_by_key(keys.begin(), keys.end(), values.begin(), out.begin());
    EXPECT(host(out, 6) == (std::vector<int>{1, 4, 9, 2, 0, 4}));
    thrust::exclusive_scan_by_key(keys.begin(), keys.end(), values.begin(), out.begin(), 100);
    EXPECT(host(out, 6) == (std::vector<int>{100, 101, 104, 100, 100, 100}));
    const auto end = thrust::unique_by_key(keys.begin(), keys.end(), values.begin());
    EXPECT(end.first - keys.begin() == 3 && host(values, 3) == (std::vector<int>{1, 2, 0}));

    thrust::device_vector<Particle> particles(3);
    particles[0] = {3, 0};
    particles[1] = {1, 1};
    particles[2] = {2, 2};
    thrust::stable_sort(particles.begin(), particles.end(), ByMass());
    std::string order;
    for (int i = 0; i < 3; ++i) order += std::to_string(static_cast<Particle>(particles[i]).name);
    EXPECT(order == "120");

    const thrust::device_vector<int> a = device<int>({0, 2, 4, 6, 8}),
                                     b = device<int>({0, 3, 6, 9});
    const auto count = [&](auto last) { return static_cast<size_t>(last - out.begin()); };
    size_t n = count(thrust::set_union(a.begin(), a.end(), b.begin(), b.end(), out.begin()));
    EXPECT(host(out, n) == (std::vector<int>{0, 2, 3, 4, 6, 8, 9}));
    n = count(thrust::set_intersection(a.begin(), a.end(), b.begin(), b.end(), out.begin()));
    EXPECT(host(out, n) == (std::vector<int>{0, 6}));
    n = count(thrust::set_difference(a.begin(), a.end(), b.begin(), b.end(), out.begin()));
    EXPECT(host(out, n) == (std::vector<int>{2, 4, 8}));
    n = count(
        thrust::set_symmetric_difference(a.begin(), a.end(), b.begin(), b.end(), out.begin()));
    EXPECT(host(out, n) == (std::vector<int>{2, 3, 4, 8, 9}));
    n = count(thrust::merge(a.begin(), a.end(), b.begin(), b.end(), out.begin()));
    EXPECT(host(out, n) == (std::vector<int>{0, 0, 2, 3, 4, 6, 6, 8, 9}));

    // A histogram of sorted data: where each bin ends, and the differences of that.
    const thrust::device_vector<int> data = device<int>({0, 0, 1, 3, 3, 3});
    thrust::device_vector<int> bins(4);
    const thrust::counting_iterator<int> first(0);
    thrust::upper_bound(data.begin(), data.end(), first, first + 4, bins.begin());
    EXPECT(host(bins, 4) == (std::vector<int>{2, 3, 3, 6}));
    thrust::adjacent_difference(bins.begin(), bins.end(), bins.begin());
    EXPECT(host(bins, 4) == (std::vector<int>{2, 1, 0, 3}));
    thrust::lower_bound(data.begin(), data.end(), first, first + 4, bins.begin());
    EXPECT(host(bins, 4) == (std::vector<int>{0, 2, 3, 3}));
    std::puts("ok");
}
