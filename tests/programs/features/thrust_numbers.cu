// Feature: Thrust, numbers | `transform_reduce` with tuples (means and deviations in one pass), `inner_product`, `minmax_element`, `remove_if`, `partition`, `stable_partition`, `thrust::random` with `discard` (Monte Carlo), `thrust::complex`, functions derived from `thrust::unary_function`
#include <thrust/complex.h>
#include <thrust/device_vector.h>
#include <thrust/extrema.h>
#include <thrust/functional.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/logical.h>
#include <thrust/partition.h>
#include <thrust/random.h>
#include <thrust/remove.h>
#include <thrust/replace.h>
#include <thrust/sequence.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/transform_scan.h>

#include <cmath>
#include <vector>

#include "../runtime_expect.h"

struct Statistics {
    double count, sum, squares;
};
struct ToStatistics {
    __host__ __device__ Statistics operator()(double x) const { return {1, x, x * x}; }
};
struct Together {
    __host__ __device__ Statistics operator()(const Statistics& a, const Statistics& b) const {
        return {a.count + b.count, a.sum + b.sum, a.squares + b.squares};
    }
};
#if CUDART_VERSION < 13000 || defined(CUDA_ON_CPU)  // Thrust 3 has it no more
struct Negative : thrust::unary_function<int, int> {
    __host__ __device__ int operator()(int x) const { return thrust::min(-x, x); }
};
static_assert(std::is_same<Negative::result_type, int>::value, "as older programs ask for it");
#endif
struct Even {
    __host__ __device__ bool operator()(int x) const { return x % 2 == 0; }
};
struct Square {
    __host__ __device__ int operator()(int x) const { return x * x; }
};
// The part of the points of a thread that lie in the circle.
struct InCircle {
    __host__ __device__ double operator()(unsigned int thread) const {
        thrust::default_random_engine engine(2026);
        engine.discard(static_cast<unsigned long long>(thread) * 2 * 1000);
        thrust::uniform_real_distribution<double> uniform(0, 1);
        int inside = 0;
        for (int i = 0; i < 1000; ++i) {
            const double x = uniform(engine), y = uniform(engine);
            if (x * x + y * y <= 1) ++inside;
        }
        return inside / 1000.0;
    }
};
struct Turn {
    __host__ __device__ thrust::complex<double> operator()(const thrust::complex<double>& z) const {
        return z * thrust::complex<double>(0, 1);
    }
};
template <class T>
std::vector<T> host(const thrust::device_vector<T>& vector, size_t count) {
    std::vector<T> result(count);
    thrust::copy(vector.begin(), vector.begin() + static_cast<long>(count), result.begin());
    return result;
}

int main() {
    thrust::device_vector<double> x(101);
    thrust::sequence(x.begin(), x.end());
    const Statistics all = thrust::transform_reduce(x.begin(), x.end(), ToStatistics(),
                                                    Statistics{0, 0, 0}, Together());
    EXPECT(all.count == 101 && all.sum == 5050 && all.squares == 338350);
    EXPECT(thrust::inner_product(x.begin(), x.end(), x.begin(), 0.0) == 338350);
    const thrust::constant_iterator<float> one(1);  // beyond 2^24 a float does not grow by 1
    EXPECT(thrust::reduce(thrust::device, one, one + 20000000, 0.0f) == 20000000.0f);
    EXPECT(thrust::transform_reduce(thrust::device, one, one + 20000000, thrust::negate<float>(),
                                    0.0f, thrust::plus<float>()) == -20000000.0f);
    const auto ends = thrust::minmax_element(x.begin(), x.end());
    EXPECT(*ends.first == 0 && *ends.second == 100 && ends.second - x.begin() == 100);

    thrust::device_vector<int> numbers(9), out(9);
    thrust::sequence(numbers.begin(), numbers.end(), 1);
    thrust::transform_inclusive_scan(numbers.begin(), numbers.end(), out.begin(), Square(),
                                     thrust::plus<int>());
    EXPECT(host(out, 3) == (std::vector<int>{1, 5, 14}));
    thrust::stable_partition(numbers.begin(), numbers.end(), Even());
    EXPECT(host(numbers, 9) == (std::vector<int>{2, 4, 6, 8, 1, 3, 5, 7, 9}));
    EXPECT(thrust::partition_point(numbers.begin(), numbers.end(), Even()) - numbers.begin() == 4);
    const auto end = thrust::remove_if(numbers.begin(), numbers.end(), Even());
    EXPECT(end - numbers.begin() == 5 && host(numbers, 5) == (std::vector<int>{1, 3, 5, 7, 9}));
#if CUDART_VERSION < 13000 || defined(CUDA_ON_CPU)
    EXPECT(Negative()(3) == -3 && Negative()(-3) == -3);
#endif
    EXPECT(thrust::none_of(numbers.begin(), end, Even()));
    thrust::replace_if(numbers.begin(), numbers.end(), Even(), 0);

    const thrust::counting_iterator<unsigned int> thread(0);
    const double pi =
        4 *
        thrust::transform_reduce(thread, thread + 100, InCircle(), 0.0, thrust::plus<double>()) /
        100;
    EXPECT(std::abs(pi - 3.14159265) < 0.03);

    thrust::device_vector<thrust::complex<double>> z(3, thrust::complex<double>(1, 2));
    thrust::transform(z.begin(), z.end(), z.begin(), Turn());
    EXPECT(thrust::complex<double>(z[1]) == thrust::complex<double>(-2, 1));
    EXPECT(std::abs(thrust::abs(thrust::complex<double>(3, 4)) - 5) < 1e-15);
    std::puts("ok");
}
