// The SIMD intrinsics: arithmetic on the four bytes or the two halves of a word, and dot products of bytes.
#pragma once

#include <cstdint>
#include <cstring>

namespace cuda_cpu {

// `operation` on each pair of parts of two words, as numbers of a type with a fourth or a half of the bits.
template <class Part, class Operation>
CUDA_CPU_INLINE unsigned int of_parts(unsigned int a, unsigned int b, Operation operation) {
    constexpr int bits = 8 * sizeof(Part);
    constexpr unsigned int mask = (1u << bits) - 1;
    unsigned int result = 0;
    for (int shift = 0; shift < 32; shift += bits) {
        const int first = static_cast<Part>(a >> shift), second = static_cast<Part>(b >> shift);
        result |= (static_cast<unsigned int>(operation(first, second)) & mask) << shift;
    }
    return result;
}
template <class Part>
int saturated(int value) {
    constexpr int lowest = std::numeric_limits<Part>::min(),
                  highest = std::numeric_limits<Part>::max();
    return value < lowest ? lowest : value > highest ? highest : value;
}
// Both are words, or vectors of the size of one.
template <class Part, class Other, class First, class Second, class Sum>
CUDA_CPU_INLINE Sum dot_of_parts(First first, Second second, Sum sum, int from = 0) {
    unsigned int a, b;
    std::memcpy(&a, &first, sizeof a), std::memcpy(&b, &second, sizeof b);
    for (int i = 0; i < 32 / static_cast<int>(8 * sizeof(Part)); ++i) {
        sum += static_cast<Sum>(static_cast<Part>(a >> (8 * sizeof(Part) * i))) *
               static_cast<Sum>(static_cast<Other>(b >> (8 * (i + from))));
    }
    return sum;
}

}  // namespace cuda_cpu

#define CUDA_CPU_VIDEO(name, part, result)                                                 \
    inline unsigned int name(unsigned int a, unsigned int b) {                             \
        using Part = part;                                                                 \
        return cuda_cpu::of_parts<Part>(a, b, [](int x, int y) -> int { return result; }); \
    }
#define CUDA_CPU_VIDEO_BOTH(ending, sign, wide, narrow)                            \
    CUDA_CPU_VIDEO(__vmax##sign##ending, narrow, x > y ? x : y)                    \
    CUDA_CPU_VIDEO(__vmin##sign##ending, narrow, x < y ? x : y)                    \
    CUDA_CPU_VIDEO(__vabsdiff##sign##ending, narrow, x > y ? x - y : y - x)        \
    CUDA_CPU_VIDEO(__vavg##sign##ending, narrow, (x + y + (x + y >= 0)) >> 1)      \
    CUDA_CPU_VIDEO(__vadd##wide##ending, narrow, cuda_cpu::saturated<Part>(x + y)) \
    CUDA_CPU_VIDEO(__vsub##wide##ending, narrow, cuda_cpu::saturated<Part>(x - y)) \
    CUDA_CPU_VIDEO(__vcmpgt##sign##ending, narrow, x > y ? -1 : 0)                 \
    CUDA_CPU_VIDEO(__vcmpge##sign##ending, narrow, x >= y ? -1 : 0)                \
    CUDA_CPU_VIDEO(__vcmplt##sign##ending, narrow, x < y ? -1 : 0)                 \
    CUDA_CPU_VIDEO(__vcmple##sign##ending, narrow, x <= y ? -1 : 0)                \
    CUDA_CPU_VIDEO(__vsetgt##sign##ending, narrow, x > y)                          \
    CUDA_CPU_VIDEO(__vsetge##sign##ending, narrow, x >= y)                         \
    CUDA_CPU_VIDEO(__vsetlt##sign##ending, narrow, x < y)                          \
    CUDA_CPU_VIDEO(__vsetle##sign##ending, narrow, x <= y)                         \
    inline unsigned int __vsad##sign##ending(unsigned int a, unsigned int b) {     \
        unsigned int sum = 0;                                                      \
        cuda_cpu::of_parts<narrow>(a, b, [&](int x, int y) {                       \
            sum += static_cast<unsigned int>(x > y ? x - y : y - x);               \
            return 0;                                                              \
        });                                                                        \
        return sum;                                                                \
    }
#define CUDA_CPU_VIDEO_ALL(ending, signed_part, unsigned_part)                                   \
    CUDA_CPU_VIDEO(__vadd##ending, unsigned_part, x + y)                                         \
    CUDA_CPU_VIDEO(__vsub##ending, unsigned_part, x - y)                                         \
    CUDA_CPU_VIDEO(__vcmpeq##ending, unsigned_part, x == y ? -1 : 0)                             \
    CUDA_CPU_VIDEO(__vcmpne##ending, unsigned_part, x != y ? -1 : 0)                             \
    CUDA_CPU_VIDEO(__vseteq##ending, unsigned_part, x == y)                                      \
    CUDA_CPU_VIDEO(__vsetne##ending, unsigned_part, x != y)                                      \
    CUDA_CPU_VIDEO(__vhaddu##ending, unsigned_part, (x + y) >> 1)                                \
    CUDA_CPU_VIDEO_BOTH(ending, s, ss, signed_part)                                              \
    CUDA_CPU_VIDEO_BOTH(ending, u, us, unsigned_part)                                            \
    inline unsigned int __vneg##ending(unsigned int a) { return __vsub##ending(0, a); }          \
    inline unsigned int __vabs##ending(unsigned int a) {                                         \
        return cuda_cpu::of_parts<signed_part>(a, 0, [](int x, int) { return x < 0 ? -x : x; }); \
    }                                                                                            \
    inline unsigned int __vnegss##ending(unsigned int a) { return __vsubss##ending(0, a); }
CUDA_CPU_VIDEO_ALL(2, int16_t, uint16_t)
CUDA_CPU_VIDEO_ALL(4, int8_t, uint8_t)
#undef CUDA_CPU_VIDEO_ALL
#undef CUDA_CPU_VIDEO_BOTH
#undef CUDA_CPU_VIDEO

// Four products of bytes and a sum; two products of a half and a byte of the lower or the upper pair.
#define CUDA_CPU_DOT(sum, halves, bytes, half, byte)           \
    inline sum __dp4a(bytes a, bytes b, sum c) {               \
        return cuda_cpu::dot_of_parts<byte, byte>(a, b, c);    \
    }                                                          \
    inline sum __dp2a_lo(halves a, bytes b, sum c) {           \
        return cuda_cpu::dot_of_parts<half, byte>(a, b, c);    \
    }                                                          \
    inline sum __dp2a_hi(halves a, bytes b, sum c) {           \
        return cuda_cpu::dot_of_parts<half, byte>(a, b, c, 2); \
    }
CUDA_CPU_DOT(int, int, int, int16_t, int8_t)
CUDA_CPU_DOT(unsigned int, unsigned int, unsigned int, uint16_t, uint8_t)
CUDA_CPU_DOT(int, short2, char4, int16_t, int8_t)
CUDA_CPU_DOT(unsigned int, ushort2, uchar4, uint16_t, uint8_t)
#undef CUDA_CPU_DOT
