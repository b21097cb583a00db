// Products of small matrices by a warp (wmma). Each lane holds its share of a fragment, element by element in their order;
// which lane has which is not specified by CUDA either. In a product the lanes read each other's shares.
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"

namespace nvcuda {
namespace wmma {

struct row_major;
struct col_major;
struct matrix_a;
struct matrix_b;
struct accumulator;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
struct u4;
struct s4;
struct b1;
}  // namespace precision

}  // namespace wmma
}  // namespace nvcuda

namespace cuda_cpu {

// How an element of a fragment is kept, and in what its products are summed.
template <class T>
struct FragmentNumber {
    using Kept = T;
    using Sum = std::conditional_t<std::is_same_v<T, double>, double,
                                   std::conditional_t<std::is_integral_v<T>, int, float>>;
};
template <>
struct FragmentNumber<nvcuda::wmma::precision::tf32> {
    using Kept = float;
    using Sum = float;
};
template <class Use, int m, int n, int k>
struct FragmentShape {
    static constexpr int rows = std::is_same_v<Use, nvcuda::wmma::matrix_b> ? k : m;
    static constexpr int columns = std::is_same_v<Use, nvcuda::wmma::matrix_a> ? k : n;
};

}  // namespace cuda_cpu

namespace nvcuda {
namespace wmma {

template <class Use, int m, int n, int k, class T, class Layout = void>
class fragment {
    static_assert(!std::is_same_v<T, precision::u4> && !std::is_same_v<T, precision::s4> &&
                      !std::is_same_v<T, precision::b1>,
                  "CPU mode has no fragments of numbers of 4 bits and fewer");

 public:
    using element_type = T;
    using storage_element_type = typename cuda_cpu::FragmentNumber<T>::Kept;
    using Shape = cuda_cpu::FragmentShape<Use, m, n, k>;
    static constexpr int num_elements = Shape::rows * Shape::columns / 32;
    static constexpr int num_storage_elements = num_elements;
    storage_element_type x[num_elements];
};

inline float __float_to_tf32(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    if (std::isfinite(value)) bits = (bits + 0x1000u) & 0xffffe000u;
    std::memcpy(&value, &bits, sizeof bits);
    return value;
}

template <class Fragment, class T>
void fill_fragment(Fragment& fragment, const T& value) {
    for (auto& element : fragment.x)
        element = static_cast<typename Fragment::storage_element_type>(value);
}

}  // namespace wmma
}  // namespace nvcuda

namespace cuda_cpu {

// Calls visit(element, place in memory) for each element that the lane holds of a matrix.
template <class Fragment, class Visit>
CUDA_CPU_INLINE void each_element(Fragment& fragment, unsigned int leading, bool by_rows,
                                  Visit visit) {
    using Shape = typename std::remove_const_t<Fragment>::Shape;
    const int first = static_cast<int>(this_lane()) * Fragment::num_elements;
    for (int i = 0; i < Fragment::num_elements; ++i) {
        const auto row = static_cast<size_t>((first + i) / Shape::columns),
                   column = static_cast<size_t>((first + i) % Shape::columns);
        visit(fragment.x[i], by_rows ? row * leading + column : column * leading + row);
    }
}
// The elements of D that this lane holds. What it reads are the shares of the other lanes, which are nobody's memory.
template <int m, int n, int k, class T, class Accumulator>
__attribute__((CUDA_CPU_OWN)) inline void multiply(const Shown* warp, const Accumulator& C,
                                                   Accumulator& result) {
    using Number = typename FragmentNumber<T>::Kept;
    using Sum = typename FragmentNumber<T>::Sum;
    constexpr int of_A = m * k / 32, of_B = k * n / 32, of_C = m * n / 32;
    for (int i = 0; i < of_C; ++i) {
        const int place = static_cast<int>(this_lane()) * of_C + i, row = place / n,
                  column = place % n;
        Sum sum = static_cast<Sum>(C.x[i]);
        for (int j = 0; j < k; ++j) {
            const int at_A = row * k + j, at_B = j * n + column;
            const Number a = static_cast<const Number*>(warp[at_A / of_A].first)[at_A % of_A],
                         b = static_cast<const Number*>(warp[at_B / of_B].second)[at_B % of_B];
            if constexpr (std::is_same_v<Sum, int>) {
                sum += static_cast<int>(a) * static_cast<int>(b);
            } else {
                sum = std::fma(static_cast<Sum>(a), static_cast<Sum>(b), sum);
            }
        }
        result.x[i] = static_cast<typename Accumulator::storage_element_type>(sum);
    }
}

}  // namespace cuda_cpu

namespace nvcuda {
namespace wmma {

#define CUDA_CPU_SITE const char *file = __builtin_FILE(), int line = __builtin_LINE()
template <class Use, int m, int n, int k, class T, class Layout>
CUDA_CPU_INLINE void load_matrix_sync(fragment<Use, m, n, k, T, Layout>& fragment,
                                      const typename cuda_cpu::FragmentNumber<T>::Kept* memory,
                                      unsigned int leading, CUDA_CPU_SITE) {
    static_assert(!std::is_void_v<Layout>,
                  "an accumulator is loaded with mem_row_major or mem_col_major");
    cuda_cpu::each_element(fragment, leading, std::is_same_v<Layout, row_major>,
                           [&](auto& element, size_t place) { element = memory[place]; });
    cuda_cpu::all_lanes(file, line);
}
template <int m, int n, int k, class T>
CUDA_CPU_INLINE void load_matrix_sync(fragment<accumulator, m, n, k, T>& fragment, const T* memory,
                                      unsigned int leading, layout_t layout, CUDA_CPU_SITE) {
    cuda_cpu::each_element(fragment, leading, layout == mem_row_major,
                           [&](auto& element, size_t place) { element = memory[place]; });
    cuda_cpu::all_lanes(file, line);
}
template <int m, int n, int k, class T>
CUDA_CPU_INLINE void store_matrix_sync(T* memory, const fragment<accumulator, m, n, k, T>& fragment,
                                       unsigned int leading, layout_t layout, CUDA_CPU_SITE) {
    cuda_cpu::each_element(fragment, leading, layout == mem_row_major,
                           [&](const auto& element, size_t place) { memory[place] = element; });
    cuda_cpu::all_lanes(file, line);
}
// D = A B + C. Twice the lanes meet: when all have their shares ready, and when all have read them.
template <int m, int n, int k, class T, class LayoutA, class LayoutB, class Sum, class Other>
void mma_sync(fragment<accumulator, m, n, k, Sum>& D,
              const fragment<matrix_a, m, n, k, T, LayoutA>& A,
              const fragment<matrix_b, m, n, k, T, LayoutB>& B,
              const fragment<accumulator, m, n, k, Other>& C, bool = false, CUDA_CPU_SITE) {
    cuda_cpu::Shown* const warp = cuda_cpu::shown_to_warp();
    warp[cuda_cpu::this_lane()] = {A.x, B.x};
    cuda_cpu::all_lanes(file, line);
    fragment<accumulator, m, n, k, Sum> start, result;
    for (int i = 0; i < start.num_elements; ++i) start.x[i] = static_cast<Sum>(C.x[i]);
    cuda_cpu::multiply<m, n, k, T>(warp, start, result);
    cuda_cpu::all_lanes(file, line);
    D = result;
}
#undef CUDA_CPU_SITE

}  // namespace wmma
}  // namespace nvcuda
