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

// A real or complex number as one of T.
template <class T, class Number>
T complex_of(const Number& number) {
    if constexpr (std::is_same_v<T, Number>) {
        return number;
    } else {
        return {number, 0};
    }
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

// The bytes of a number, 0 of a type that is not there.
inline int bytes_of(cudaDataType type) {
    switch (type) {
        case CUDA_R_8I:
            return 1;
        case CUDA_R_16F:
        case CUDA_R_16BF:
        case CUDA_C_8I:
            return 2;
        case CUDA_R_32F:
        case CUDA_R_32I:
        case CUDA_C_16F:
        case CUDA_C_16BF:
            return 4;
        case CUDA_R_64F:
        case CUDA_C_32F:
            return 8;
        case CUDA_C_64F:
            return 16;
        default:
            return 0;
    }
}
// Of a complex type that of its parts, of a real type itself.
inline cudaDataType type_of_parts(cudaDataType type) {
    switch (type) {
        case CUDA_C_64F:
            return CUDA_R_64F;
        case CUDA_C_32F:
            return CUDA_R_32F;
        case CUDA_C_16F:
            return CUDA_R_16F;
        case CUDA_C_16BF:
            return CUDA_R_16BF;
        case CUDA_C_8I:
            return CUDA_R_8I;
        default:
            return type;
    }
}

// A number of the array's type, as one of Wide, and back, rounded once. Of a complex type both parts.
template <class Wide>
Wide read_number(const void* array, cudaDataType type, long long at) {
    if constexpr (is_complex<Wide>) {
        using Real = RealOf<Wide>;
        const cudaDataType of_part = type_of_parts(type);
        if (of_part == type) return {read_number<Real>(array, type, at), 0};
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
        const cudaDataType of_part = type_of_parts(type);
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
