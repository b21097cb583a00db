// Arithmetic on float2 to uint4 under the names of NVIDIA's samples: operators by component, dot, cross, length, clamp, ...
// Used where the samples' own header is not given with -I.
#pragma once

#include <math.h>

#include "../cuda_runtime.h"

typedef unsigned int uint;
typedef unsigned short ushort;

inline float clamp(float value, float low, float high) { return fmaxf(low, fminf(value, high)); }
inline int clamp(int value, int low, int high) { return max(low, min(value, high)); }
inline uint clamp(uint value, uint low, uint high) { return max(low, min(value, high)); }
inline float lerp(float a, float b, float t) { return a + t * (b - a); }
inline float fracf(float value) { return value - floorf(value); }
inline float step(float edge, float x) { return x < edge ? 0.0f : 1.0f; }
inline float smoothstep(float low, float high, float x) {
    const float y = clamp((x - low) / (high - low), 0.0f, 1.0f);
    return y * y * (3 - 2 * y);
}

namespace cuda_cpu {

// How many components a vector type has, and of which type. The rest is written once for all of them.
template <class Vector>
struct VectorOf {
    static constexpr int count = 0;
};
#define CUDA_CPU_VECTOR_OF(type, scalar)                                              \
    template <>                                                                       \
    struct VectorOf<type##2> {                                                        \
        using Number = scalar;                                                        \
        static constexpr int count = 2;                                               \
    };                                                                                \
    template <>                                                                       \
    struct VectorOf<type##3> {                                                        \
        using Number = scalar;                                                        \
        static constexpr int count = 3;                                               \
    };                                                                                \
    template <>                                                                       \
    struct VectorOf<type##4> {                                                        \
        using Number = scalar;                                                        \
        static constexpr int count = 4;                                               \
    };                                                                                \
    }                                                                                 \
    inline type##2 make_##type##2(scalar s) { return {s, s}; }                        \
    inline type##3 make_##type##3(scalar s) { return {s, s, s}; }                     \
    inline type##4 make_##type##4(scalar s) { return {s, s, s, s}; }                  \
    inline type##2 make_##type##2(type##3 v) { return {v.x, v.y}; }                   \
    inline type##2 make_##type##2(type##4 v) { return {v.x, v.y}; }                   \
    inline type##3 make_##type##3(type##2 v) { return {v.x, v.y, 0}; }                \
    inline type##3 make_##type##3(type##2 v, scalar z) { return {v.x, v.y, z}; }      \
    inline type##3 make_##type##3(type##4 v) { return {v.x, v.y, v.z}; }              \
    inline type##4 make_##type##4(type##3 v) { return {v.x, v.y, v.z, 0}; }           \
    inline type##4 make_##type##4(type##3 v, scalar w) { return {v.x, v.y, v.z, w}; } \
    namespace cuda_cpu {
CUDA_CPU_VECTOR_OF(float, float)
CUDA_CPU_VECTOR_OF(int, int)
CUDA_CPU_VECTOR_OF(uint, uint)
#undef CUDA_CPU_VECTOR_OF
template <class Vector>
using NumberOf = typename VectorOf<Vector>::Number;
template <class Vector>
using IfVector = std::enable_if_t<(VectorOf<Vector>::count > 0), Vector>;
template <class Vector>
using IfReal = std::enable_if_t<std::is_same_v<NumberOf<Vector>, float>, Vector>;

// `change` of each component of one, two or three vectors.
template <class Change, class Vector, class... More>
Vector by_component(Change change, Vector a, More... more) {
    constexpr int count = VectorOf<Vector>::count;
    Vector result = a;
    result.x = change(a.x, more.x...);
    result.y = change(a.y, more.y...);
    if constexpr (count > 2) result.z = change(a.z, more.z...);
    if constexpr (count > 3) result.w = change(a.w, more.w...);
    return result;
}

}  // namespace cuda_cpu

#define CUDA_CPU_CONVERT(to, from)                                               \
    inline to##2 make_##to##2(from##2 v) { return {(to)v.x, (to)v.y}; }          \
    inline to##3 make_##to##3(from##3 v) { return {(to)v.x, (to)v.y, (to)v.z}; } \
    inline to##4 make_##to##4(from##4 v) { return {(to)v.x, (to)v.y, (to)v.z, (to)v.w}; }
CUDA_CPU_CONVERT(float, int)
CUDA_CPU_CONVERT(float, uint)
CUDA_CPU_CONVERT(int, float)
CUDA_CPU_CONVERT(int, uint)
CUDA_CPU_CONVERT(uint, int)
#undef CUDA_CPU_CONVERT

#define CUDA_CPU_OPERATOR(sign)                                                        \
    template <class V>                                                                 \
    cuda_cpu::IfVector<V> operator sign(V a, V b) {                                    \
        return cuda_cpu::by_component([](auto x, auto y) { return x sign y; }, a, b);  \
    }                                                                                  \
    template <class V>                                                                 \
    cuda_cpu::IfVector<V> operator sign(V a, cuda_cpu::NumberOf<V> b) {                \
        return cuda_cpu::by_component([=](auto x) { return x sign b; }, a);            \
    }                                                                                  \
    template <class V>                                                                 \
    cuda_cpu::IfVector<V> operator sign(cuda_cpu::NumberOf<V> a, V b) {                \
        return cuda_cpu::by_component([=](auto x) { return a sign x; }, b);            \
    }                                                                                  \
    template <class V>                                                                 \
    std::enable_if_t<(cuda_cpu::VectorOf<V>::count > 0)> operator sign##=(V& a, V b) { \
        a = a sign b;                                                                  \
    }                                                                                  \
    template <class V>                                                                 \
    std::enable_if_t<(cuda_cpu::VectorOf<V>::count > 0)> operator sign##=(             \
        V& a, cuda_cpu::NumberOf<V> b) {                                               \
        a = a sign b;                                                                  \
    }
CUDA_CPU_OPERATOR(+)
CUDA_CPU_OPERATOR(-)
CUDA_CPU_OPERATOR(*)
CUDA_CPU_OPERATOR(/)
#undef CUDA_CPU_OPERATOR
template <class V>
cuda_cpu::IfVector<V> operator-(V a) {
    return cuda_cpu::by_component([](auto x) { return -x; }, a);
}

#define CUDA_CPU_OF_ONE(name, condition)                                    \
    template <class V>                                                      \
    cuda_cpu::condition<V> name(V a) {                                      \
        return cuda_cpu::by_component([](auto x) { return ::name(x); }, a); \
    }
#define CUDA_CPU_OF_TWO(name, condition)                                                  \
    template <class V>                                                                    \
    cuda_cpu::condition<V> name(V a, V b) {                                               \
        return cuda_cpu::by_component([](auto x, auto y) { return ::name(x, y); }, a, b); \
    }
CUDA_CPU_OF_ONE(floorf, IfReal)
CUDA_CPU_OF_ONE(fracf, IfReal)
CUDA_CPU_OF_ONE(fabs, IfReal)
CUDA_CPU_OF_ONE(abs, IfVector)
CUDA_CPU_OF_TWO(fminf, IfReal)
CUDA_CPU_OF_TWO(fmaxf, IfReal)
CUDA_CPU_OF_TWO(fmodf, IfReal)
CUDA_CPU_OF_TWO(min, IfVector)
CUDA_CPU_OF_TWO(max, IfVector)
#undef CUDA_CPU_OF_ONE
#undef CUDA_CPU_OF_TWO

template <class V>
cuda_cpu::IfVector<V> clamp(V value, V low, V high) {
    return cuda_cpu::by_component([](auto x, auto a, auto b) { return clamp(x, a, b); }, value, low,
                                  high);
}
template <class V>
cuda_cpu::IfVector<V> clamp(V value, cuda_cpu::NumberOf<V> low, cuda_cpu::NumberOf<V> high) {
    return cuda_cpu::by_component([=](auto x) { return clamp(x, low, high); }, value);
}
template <class V>
cuda_cpu::IfReal<V> lerp(V a, V b, float t) {
    return a + t * (b - a);
}
template <class V>
cuda_cpu::NumberOf<V> dot(V a, V b) {
    const V products = a * b;
    cuda_cpu::NumberOf<V> sum = products.x + products.y;
    if constexpr (cuda_cpu::VectorOf<V>::count > 2) sum += products.z;
    if constexpr (cuda_cpu::VectorOf<V>::count > 3) sum += products.w;
    return sum;
}
template <class V>
std::enable_if_t<std::is_same_v<cuda_cpu::NumberOf<V>, float>, float> length(V a) {
    return sqrtf(dot(a, a));
}
template <class V>
cuda_cpu::IfReal<V> normalize(V a) {
    return a * (1 / length(a));
}
template <class V>
cuda_cpu::IfReal<V> reflect(V ray, V normal) {
    return ray - 2.0f * normal * dot(normal, ray);
}
inline float3 cross(float3 a, float3 b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
