// Feature: Thrust, iterators | counting, constant, transform, permutation, zip (of tuples), reverse, discard; strided ranges; `gather`, `scatter`
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/reverse_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scatter.h>
#include <thrust/sequence.h>
#include <thrust/transform.h>
#include <thrust/tuple.h>

#include <vector>

#include "../runtime_expect.h"

struct Square {
    __host__ __device__ int operator()(int x) const { return x * x; }
};
struct Dot {
    __host__ __device__ float operator()(const thrust::tuple<float, float, float>& a) const {
        return thrust::get<0>(a) * thrust::get<1>(a) + thrust::get<2>(a);
    }
};
struct Stride {
    int step;
    __host__ __device__ int operator()(int i) const { return i * step; }
};
template <class T>
std::vector<T> host(const thrust::device_vector<T>& vector) {
    std::vector<T> result(vector.size());
    thrust::copy(vector.begin(), vector.end(), result.begin());
    return result;
}

int main() {
    const thrust::counting_iterator<int> from(1);
    EXPECT(thrust::reduce(thrust::make_transform_iterator(from, Square()),
                          thrust::make_transform_iterator(from + 10, Square())) == 385);
    thrust::device_vector<int> values(6);
    thrust::sequence(values.begin(), values.end(), 10, 10);
    const std::vector<int> order{5, 0, 3};
    thrust::device_vector<int> places(order.begin(), order.end()), chosen(3);
    thrust::copy(thrust::make_permutation_iterator(values.begin(), places.begin()),
                 thrust::make_permutation_iterator(values.begin(), places.end()), chosen.begin());
    EXPECT(host(chosen) == (std::vector<int>{60, 10, 40}));
    thrust::gather(places.begin(), places.end(), values.begin(), chosen.begin());
    EXPECT(host(chosen) == (std::vector<int>{60, 10, 40}));
    thrust::device_vector<int> spread(6, -1);
    thrust::scatter(chosen.begin(), chosen.end(), places.begin(), spread.begin());
    EXPECT(host(spread) == (std::vector<int>{10, -1, -1, 40, -1, 60}));

    // a b + c, all three in one iterator.
    thrust::device_vector<float> a(4, 2), b(4, 3), c(4), out(4);
    thrust::sequence(c.begin(), c.end());
    const auto first =
        thrust::make_zip_iterator(thrust::make_tuple(a.begin(), b.begin(), c.begin()));
    thrust::transform(first, first + 4, out.begin(), Dot());
    EXPECT(host(out) == (std::vector<float>{6, 7, 8, 9}));
    thrust::transform(a.begin(), a.end(), thrust::constant_iterator<float>(10), out.begin(),
                      thrust::multiplies<float>());
    EXPECT(host(out) == (std::vector<float>(4, 20)));
    thrust::copy(thrust::make_reverse_iterator(c.end()), thrust::make_reverse_iterator(c.begin()),
                 out.begin());
    EXPECT(host(out) == (std::vector<float>{3, 2, 1, 0}));

    // Every second element.
    const auto strided = thrust::make_permutation_iterator(
        values.begin(),
        thrust::make_transform_iterator(thrust::counting_iterator<int>(0), Stride{2}));
    EXPECT(thrust::reduce(strided, strided + 3) == 90);
    const thrust::device_vector<int> keys(places.begin(), places.end());
    const auto end =
        thrust::reduce_by_key(keys.begin(), keys.end(), thrust::constant_iterator<int>(1),
                              thrust::make_discard_iterator(), chosen.begin());
    EXPECT(end.second - chosen.begin() == 3 && host(chosen) == (std::vector<int>{1, 1, 1}));
    std::puts("ok");
}
