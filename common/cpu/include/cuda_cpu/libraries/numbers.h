// Arithmetic of real and complex numbers alike, and numbers of a type that is known when the program runs.
#pragma once

#include "../../cuComplex.h"
#include "../../cuda_bf16.h"
#include "../../cuda_fp16.h"
#include "../../library_types.h"
#include "library.h"

namespace cuda_cpu {

template <class T>
T product_of(const T& a, const T& b) {
    if constexpr (is_complex<T>) {
        return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
    } else {
        return a * b;
    }
}
template <class T>
T sum_of(const T& a, const T& b) {
    if constexpr (is_complex<T>) {
        return {a.x + b.x, a.y + b.y};
    } else {
        return a + b;
    }
}
template <class T>
T difference_of(const T& a, const T& b) {
    if constexpr (is_complex<T>) {
        return {a.x - b.x, a.y - b.y};
    } else {
        return a - b;
    }
}
template <class T>
const T& value_of(const Scalar<T>& scalar) {
    return scalar.on_device != nullptr ? *scalar.on_device : scalar.value;
}
template <class T>
bool is_zero(const T& number) {
    if constexpr (is_complex<T>) {
        return number.x == 0 && number.y == 0;
    } else {
        return number == 0;
    }
}
template <class T>
T conjugate_of(T number) {
    if constexpr (is_complex<T>) number.y = -number.y;
    return number;
}

template <class T>
T quotient_of(const T& a, const T& b) {
    if constexpr (std::is_same_v<T, cuComplex>) {
        return cuCdivf(a, b);
    } else if constexpr (is_complex<T>) {
        return cuCdiv(a, b);
    } else {
        return a / b;
    }
}

// A number of the array's type, as one of Wide, and back, rounded once. Of a complex type both parts.
template <class Wide>
Wide read_number(const void* array, cudaDataType type, long long at) {
    if constexpr (is_complex<Wide>) {
        using Real = RealOf<Wide>;
        const bool has_pairs = type == CUDA_C_32F || type == CUDA_C_64F;
        const cudaDataType of_part = type == CUDA_C_32F   ? CUDA_R_32F
                                     : type == CUDA_C_64F ? CUDA_R_64F
                                                          : type;
        if (!has_pairs) return {read_number<Real>(array, type, at), 0};
        return {read_number<Real>(array, of_part, 2 * at),
                read_number<Real>(array, of_part, 2 * at + 1)};
    } else {
        switch (type) {
            case CUDA_R_16F:
                return static_cast<Wide>(__half2float(static_cast<const __half*>(array)[at]));
            case CUDA_R_16BF:
                return static_cast<Wide>(
                    __bfloat162float(static_cast<const __nv_bfloat16*>(array)[at]));
            case CUDA_R_8I:
                return static_cast<Wide>(static_cast<const signed char*>(array)[at]);
            case CUDA_R_32I:
                return static_cast<Wide>(static_cast<const int*>(array)[at]);
            case CUDA_R_64F:
                return static_cast<Wide>(static_cast<const double*>(array)[at]);
            default:
                return static_cast<Wide>(static_cast<const float*>(array)[at]);
        }
    }
}
template <class Wide>
void store_number(void* array, cudaDataType type, long long at, Wide value) {
    if constexpr (is_complex<Wide>) {
        const cudaDataType of_part = type == CUDA_C_32F ? CUDA_R_32F : CUDA_R_64F;
        store_number(array, of_part, 2 * at, value.x);
        store_number(array, of_part, 2 * at + 1, value.y);
    } else {
        switch (type) {
            case CUDA_R_16F:
                static_cast<__half*>(array)[at] = __float2half(static_cast<float>(value));
                break;
            case CUDA_R_16BF:
                static_cast<__nv_bfloat16*>(array)[at] =
                    __float2bfloat16(static_cast<float>(value));
                break;
            case CUDA_R_8I:
                static_cast<signed char*>(array)[at] = static_cast<signed char>(value);
                break;
            case CUDA_R_32I:
                static_cast<int*>(array)[at] = static_cast<int>(value);
                break;
            case CUDA_R_64F:
                static_cast<double*>(array)[at] = static_cast<double>(value);
                break;
            default:
                static_cast<float*>(array)[at] = static_cast<float>(value);
        }
    }
}

}  // namespace cuda_cpu
