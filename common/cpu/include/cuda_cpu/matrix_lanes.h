// mma and ldmatrix of PTX: matrices that lie in the registers of a warp. The lanes show each other their registers.
//
// Lane 4 g + t has of A the rows g and g + 8, of B the column g, and of the sums the columns 2 t and 2 t + 1 (PTX ISA,
// "Matrix Fragments for mma"). A register holds as many numbers as fit, whose terms follow each other.
#pragma once

#include "device.h"
#include "math.h"
#include "narrow.h"

namespace cuda_cpu {

// What each thread of the block shows the others of its warp.
struct Shown {
    const void *first, *second;
};
inline Shown* shown_to_warp() {
    static thread_local Shown shown[1024];
    return shown + (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) / 32 * 32;
}
// All lanes of the warp take part.
inline void all_lanes(const char* file, int line) {
    warp_meeting(WarpOperation::sync, 0xffffffffu, 0, 0, {file, line});
}

namespace matrix {

struct Half {
    using Register = uint32_t;
    using Number = float;
    static constexpr int count = 2;
    static float at(uint32_t word, int place) {
        return Narrow<5, 10>::to_float(static_cast<uint16_t>(word >> (16 * place)));
    }
};
struct Bfloat {
    using Register = uint32_t;
    using Number = float;
    static constexpr int count = 2;
    static float at(uint32_t word, int place) {
        return same_bits<float>(word << (16 - 16 * place) & 0xffff0000u);
    }
};
// What is below the 10 bits of the fraction is not looked at.
struct Tf32 {
    using Register = uint32_t;
    using Number = float;
    static constexpr int count = 1;
    static float at(uint32_t word, int) { return same_bits<float>(word & 0xffffe000u); }
};
template <class T>
struct Byte {
    using Register = uint32_t;
    using Number = int;
    static constexpr int count = 4;
    static int at(uint32_t word, int place) { return static_cast<T>(word >> (8 * place)); }
};
template <class T>
struct NumberOf : T {};
template <>
struct NumberOf<double> {
    using Register = double;
    using Number = double;
    static constexpr int count = 1;
    static double at(double value, int) { return value; }
};

// The numbers in a lane's registers.
template <class Of, int count>
struct Numbers {
    typename Of::Number all[count * Of::count];
    __attribute__((CUDA_CPU_OWN)) explicit Numbers(
        const typename Of::Register (&registers)[count]) {
        for (int i = 0; i < count * Of::count; ++i)
            all[i] = Of::at(registers[i / Of::count], i % Of::count);
    }
};

// The sum at (row, column), of the lanes' registers, which are nobody's memory.
template <int rows, int terms, class A, class B, class Sum>
__attribute__((CUDA_CPU_OWN)) inline Sum add_products(Sum sum, const Shown* warp, int row,
                                                      int column) {
    using First = NumberOf<A>;
    using Second = NumberOf<B>;
    constexpr int count = First::count;
    for (int k = 0; k < terms; ++k) {
        const int lane = k % (4 * count) / count, block = k / (4 * count);
        const int part = rows == 16 ? 2 * block + row / 8 : block;
        const auto a = static_cast<const typename First::Number*>(
            warp[row % 8 * 4 + lane].first)[part * count + k % count];
        const auto b = static_cast<const typename Second::Number*>(
            warp[column * 4 + lane].second)[block * count + k % count];
        if constexpr (std::is_integral_v<Sum> || std::is_same_v<A, Half>) {
            sum += a * b;  // of halves, too, a product is exact
        } else {
            sum = std::fma(a, b, sum);
        }
    }
    return sum;
}

// sums += A B for a matrix A of `rows` x `terms` and B of `terms` x 8. Sums of half precision lie two in a register.
template <int rows, int terms, class A, class B, class Total, class Register, int count,
          int count_a, int count_b>
void multiply_add(Total (&sums)[count], const Register (&a)[count_a], const Register (&b)[count_b],
                  const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    constexpr bool halves = std::is_same_v<Total, uint32_t>;
    static_assert(count_a == rows * terms / 32 / NumberOf<A>::count &&
                      count_b == terms / 4 / NumberOf<A>::count &&
                      count * (halves ? 2 : 1) == rows / 4,
                  "mma with another number of registers than its shape has");
    const int lane = static_cast<int>(this_lane());
    Shown* const warp = shown_to_warp();
    const Numbers<NumberOf<A>, count_a> first(a);
    const Numbers<NumberOf<B>, count_b> second(b);
    warp[lane] = {first.all, second.all};
    all_lanes(file, line);
    for (int i = 0; i < rows / 4; ++i) {
        const int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
        if constexpr (halves) {
            const float sum =
                add_products<rows, terms, A, B>(Half::at(sums[i / 2], i % 2), warp, row, column);
            const uint32_t bits = Narrow<5, 10>::from(sum);
            sums[i / 2] = i % 2 == 0 ? (sums[i / 2] & 0xffff0000u) | bits
                                     : (sums[i / 2] & 0xffffu) | bits << 16;
        } else {
            sums[i] = add_products<rows, terms, A, B>(sums[i], warp, row, column);
        }
    }
    all_lanes(file, line);
}

}  // namespace matrix

// One to four matrices of 8 x 8 halves, whose rows start where the lanes say: 8 lanes for each matrix.
template <bool turned, int count>
void load_matrices(uint32_t (&registers)[count], uint64_t row, const char* file = __builtin_FILE(),
                   int line = __builtin_LINE()) {
    const int lane = static_cast<int>(this_lane()), g = lane / 4, t = lane % 4;
    Shown* const warp = shown_to_warp();
    warp[lane].first = reinterpret_cast<const void*>(row);
    all_lanes(file, line);
    for (int i = 0; i < count; ++i) {
        const auto at = [&](int row, int column) {
            return uint32_t{static_cast<const uint16_t*>(warp[8 * i + row].first)[column]};
        };
        registers[i] =
            turned ? at(2 * t, g) | at(2 * t + 1, g) << 16 : at(g, 2 * t) | at(g, 2 * t + 1) << 16;
    }
    all_lanes(file, line);
}

// Conversions that PTX has for numbers of its own.
inline uint16_t ptx_half(float value) { return Narrow<5, 10>::from(value); }
inline float ptx_from_half(uint16_t bits) { return Narrow<5, 10>::to_float(bits); }
inline uint16_t ptx_bfloat(float value) { return Narrow<8, 7>::from(value); }
inline float ptx_from_bfloat(uint16_t bits) { return Narrow<8, 7>::to_float(bits); }
inline uint32_t ptx_tf32(float value) {
    const auto bits = same_bits<uint32_t>(value);
    return std::isfinite(value) ? (bits + 0x1000u) & 0xffffe000u : bits;
}
// Sums and differences over several registers.
template <class T>
T ptx_add_carry(T a, T b, uint32_t carried, uint32_t& carry) {
    const T sum = a + b + carried;
    carry = sum < a || (carried != 0 && sum == a);
    return sum;
}
template <class T>
T ptx_sub_carry(T a, T b, uint32_t borrowed, uint32_t& carry) {
    carry = a < b || (borrowed != 0 && a == b);
    return a - b - borrowed;
}

}  // namespace cuda_cpu
