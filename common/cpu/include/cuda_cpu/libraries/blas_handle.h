// cuBLAS: its handles and what is set in them, and copies of vectors and matrices to the device and back.
#pragma once

#define CUBLAS_API_H_  // NVIDIA's helper_cuda.h asks for it

#include "../../cuComplex.h"
#include "../../library_types.h"
#include "library.h"

enum cublasStatus_t {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_ARCH_MISMATCH = 8,
    CUBLAS_STATUS_MAPPING_ERROR = 11,
    CUBLAS_STATUS_EXECUTION_FAILED = 13,
    CUBLAS_STATUS_INTERNAL_ERROR = 14,
    CUBLAS_STATUS_NOT_SUPPORTED = 15,
    CUBLAS_STATUS_LICENSE_ERROR = 16
};
using cublasStatus = cublasStatus_t;
enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2, CUBLAS_OP_CONJG = 3 };
enum cublasFillMode_t {
    CUBLAS_FILL_MODE_LOWER = 0,
    CUBLAS_FILL_MODE_UPPER = 1,
    CUBLAS_FILL_MODE_FULL = 2
};
enum cublasDiagType_t { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 };
enum cublasSideMode_t { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 };
enum cublasPointerMode_t { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 };
enum cublasAtomicsMode_t { CUBLAS_ATOMICS_NOT_ALLOWED = 0, CUBLAS_ATOMICS_ALLOWED = 1 };
enum cublasMath_t {
    CUBLAS_DEFAULT_MATH = 0,
    CUBLAS_TENSOR_OP_MATH = 1,
    CUBLAS_PEDANTIC_MATH = 2,
    CUBLAS_TF32_TENSOR_OP_MATH = 3,
    CUBLAS_FP32_EMULATED_BF16X9_MATH = 4,
    CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH = 8,
    CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
};
using cublasEmulationStrategy_t = cudaEmulationStrategy;
constexpr auto CUBLAS_EMULATION_STRATEGY_DEFAULT = CUDA_EMULATION_STRATEGY_DEFAULT;
constexpr auto CUBLAS_EMULATION_STRATEGY_PERFORMANT = CUDA_EMULATION_STRATEGY_PERFORMANT;
constexpr auto CUBLAS_EMULATION_STRATEGY_EAGER = CUDA_EMULATION_STRATEGY_EAGER;
#define CUBLAS_VER_MAJOR 13
#define CUBLAS_VER_MINOR 1
#define CUBLAS_VER_PATCH 0
#define CUBLAS_VERSION 130100

struct cublasContext {
    cudaStream_t stream = nullptr;
    cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
    cublasAtomicsMode_t atomics = CUBLAS_ATOMICS_NOT_ALLOWED;
    cublasMath_t math = CUBLAS_DEFAULT_MATH;
    int multiprocessors = 0;  // 0: as many as there are
    cudaEmulationStrategy strategy = CUDA_EMULATION_STRATEGY_DEFAULT;
    cudaEmulationSpecialValuesSupport special = CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_DEFAULT;
    cudaEmulationMantissaControl mantissa = CUDA_EMULATION_MANTISSA_CONTROL_DYNAMIC;
    int mantissa_bits = 0, mantissa_offset = 0;
};
using cublasHandle_t = cublasContext*;

inline const char* cublasGetStatusName(cublasStatus_t status) {
    switch (status) {
#define CUDA_CPU_NAME(name) \
    case name:              \
        return #name;
        CUDA_CPU_NAME(CUBLAS_STATUS_SUCCESS)
        CUDA_CPU_NAME(CUBLAS_STATUS_NOT_INITIALIZED)
        CUDA_CPU_NAME(CUBLAS_STATUS_ALLOC_FAILED)
        CUDA_CPU_NAME(CUBLAS_STATUS_INVALID_VALUE)
        CUDA_CPU_NAME(CUBLAS_STATUS_ARCH_MISMATCH)
        CUDA_CPU_NAME(CUBLAS_STATUS_MAPPING_ERROR)
        CUDA_CPU_NAME(CUBLAS_STATUS_EXECUTION_FAILED)
        CUDA_CPU_NAME(CUBLAS_STATUS_INTERNAL_ERROR)
        CUDA_CPU_NAME(CUBLAS_STATUS_NOT_SUPPORTED)
        CUDA_CPU_NAME(CUBLAS_STATUS_LICENSE_ERROR)
#undef CUDA_CPU_NAME
    }
    return "CUBLAS_STATUS_UNKNOWN";
}
inline const char* cublasGetStatusString(cublasStatus_t status) {
    return cublasGetStatusName(status);
}

CUDA_CPU_HANDLES(cublas, cublasHandle_t, cublasContext, cublasStatus_t,
                 CUBLAS_STATUS_NOT_INITIALIZED, all)
inline cublasStatus_t cublasGetVersion(cublasHandle_t, int* version) {
    *version = CUBLAS_VERSION;
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value) {
    *value = type == MAJOR_VERSION   ? CUBLAS_VER_MAJOR
             : type == MINOR_VERSION ? CUBLAS_VER_MINOR
                                     : CUBLAS_VER_PATCH;
    return CUBLAS_STATUS_SUCCESS;
}
inline size_t cublasGetCudartVersion() { return CUDART_VERSION; }
inline cublasStatus_t cublasSetWorkspace(cublasHandle_t, void*, size_t) {
    return CUBLAS_STATUS_SUCCESS;
}

#define CUDA_CPU_BLAS_SETTING(name, Type, member) \
    CUDA_CPU_SETTING(cublas, cublasHandle_t, cublasStatus_t, name, Type, member)
CUDA_CPU_BLAS_SETTING(PointerMode, cublasPointerMode_t, pointer_mode)
CUDA_CPU_BLAS_SETTING(AtomicsMode, cublasAtomicsMode_t, atomics)
CUDA_CPU_BLAS_SETTING(MathMode, cublasMath_t, math)
CUDA_CPU_BLAS_SETTING(SmCountTarget, int, multiprocessors)
CUDA_CPU_BLAS_SETTING(EmulationStrategy, cudaEmulationStrategy, strategy)
CUDA_CPU_BLAS_SETTING(EmulationSpecialValuesSupport, cudaEmulationSpecialValuesSupport, special)
CUDA_CPU_BLAS_SETTING(FixedPointEmulationMantissaControl, cudaEmulationMantissaControl, mantissa)
CUDA_CPU_BLAS_SETTING(FixedPointEmulationMaxMantissaBitCount, int, mantissa_bits)
CUDA_CPU_BLAS_SETTING(FixedPointEmulationMantissaBitOffset, int, mantissa_offset)
#undef CUDA_CPU_BLAS_SETTING
using cublasLogCallback = void (*)(const char*);
inline cublasStatus_t cublasLoggerConfigure(int, int, int, const char*) {
    return CUBLAS_STATUS_SUCCESS;  // nothing is logged
}

// ---------------------------------------------------------------- copies; sizes and steps in elements
namespace cuda_cpu {
inline cublasStatus_t copy_elements(void* target, int target_step, const void* source,
                                    int source_step, int width, int count, int size,
                                    cudaMemcpyKind kind, cudaStream_t stream, bool blocking) {
    if (width < 0 || count < 0 || size <= 0 || target_step < width || source_step < width ||
        width * count == 0) {
        return width * count == 0 && size > 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
    }
    const auto bytes = [size](int elements) {
        return static_cast<size_t>(elements) * static_cast<size_t>(size);
    };
    const cudaError_t error =
        blocking ? cudaMemcpy2D(target, bytes(target_step), source, bytes(source_step),
                                bytes(width), static_cast<size_t>(count), kind)
                 : cudaMemcpy2DAsync(target, bytes(target_step), source, bytes(source_step),
                                     bytes(width), static_cast<size_t>(count), kind, stream);
    return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}
}  // namespace cuda_cpu
#define CUDA_CPU_COPY(name, kind)                                                                \
    inline cublasStatus_t cublas##name##Vector(int count, int size, const void* source,          \
                                               int source_step, void* target, int target_step) { \
        return cuda_cpu::copy_elements(target, target_step, source, source_step, 1, count, size, \
                                       kind, nullptr, true);                                     \
    }                                                                                            \
    inline cublasStatus_t cublas##name##VectorAsync(int count, int size, const void* source,     \
                                                    int source_step, void* target,               \
                                                    int target_step, cudaStream_t stream) {      \
        return cuda_cpu::copy_elements(target, target_step, source, source_step, 1, count, size, \
                                       kind, stream, false);                                     \
    }                                                                                            \
    inline cublasStatus_t cublas##name##Matrix(int rows, int columns, int size,                  \
                                               const void* source, int source_leading,           \
                                               void* target, int target_leading) {               \
        return cuda_cpu::copy_elements(target, target_leading, source, source_leading, rows,     \
                                       columns, size, kind, nullptr, true);                      \
    }                                                                                            \
    inline cublasStatus_t cublas##name##MatrixAsync(                                             \
        int rows, int columns, int size, const void* source, int source_leading, void* target,   \
        int target_leading, cudaStream_t stream) {                                               \
        return cuda_cpu::copy_elements(target, target_leading, source, source_leading, rows,     \
                                       columns, size, kind, stream, false);                      \
    }
CUDA_CPU_COPY(Set, cudaMemcpyHostToDevice)
CUDA_CPU_COPY(Get, cudaMemcpyDeviceToHost)
#undef CUDA_CPU_COPY

namespace cuda_cpu {

// A call of cuBLAS.
using BlasCallBase = HandleCall<cublasHandle_t, cublasStatus_t, CUBLAS_STATUS_INVALID_VALUE,
                                CUBLAS_STATUS_EXECUTION_FAILED>;
class BlasCall : public BlasCallBase {
 public:
    using BlasCallBase::BlasCallBase;
    // A routine of BLAS, or of LAPACK, that stores what it computes in its arrays; T is the type of its numbers.
    template <class T, Library library = Library::blas, class... Arguments>
    cublasStatus_t routine(const char* routine, Arguments... arguments) {
        (expect(!is_no_letter(arguments)), ...);
        if (status() != CUBLAS_STATUS_SUCCESS) return status();
        void* const blas = fortran_function<T>(library, routine, function());
        return join([=] { call_fortran(blas, arguments...); });
    }

 private:
    static bool is_no_letter(char letter) { return letter == '\0'; }
    template <class T>
    static bool is_no_letter(const T&) {
        return false;
    }
};

// The interface of before CUDA 4 has one handle for all, and keeps what a call has answered.
inline cublasHandle_t legacy_handle() {
    static cublasContext handle;
    return &handle;
}
inline cublasStatus_t& legacy_status() {
    static cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    return status;
}
inline cublasOperation_t operation(char letter) {
    return letter == 'N' || letter == 'n'   ? CUBLAS_OP_N
           : letter == 'T' || letter == 't' ? CUBLAS_OP_T
                                            : CUBLAS_OP_C;
}

// The letters of BLAS; 0 for what is none of a type's values.
inline char letter(cublasOperation_t operation) {
    return operation == CUBLAS_OP_N   ? 'N'
           : operation == CUBLAS_OP_T ? 'T'
           : operation == CUBLAS_OP_C ? 'C'
                                      : '\0';
}
inline char letter(cublasFillMode_t fill) {
    return fill == CUBLAS_FILL_MODE_UPPER ? 'U' : fill == CUBLAS_FILL_MODE_LOWER ? 'L' : '\0';
}
inline char letter(cublasDiagType_t diagonal) {
    return diagonal == CUBLAS_DIAG_UNIT ? 'U' : diagonal == CUBLAS_DIAG_NON_UNIT ? 'N' : '\0';
}
inline char letter(cublasSideMode_t side) {
    return side == CUBLAS_SIDE_LEFT ? 'L' : side == CUBLAS_SIDE_RIGHT ? 'R' : '\0';
}
// The letters of before CUDA 4.
inline cublasFillMode_t fill_mode(char letter) {
    return letter == 'U' || letter == 'u' ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
}
inline cublasDiagType_t diagonal_type(char letter) {
    return letter == 'U' || letter == 'u' ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
}
inline cublasSideMode_t side_mode(char letter) {
    return letter == 'L' || letter == 'l' ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
}

}  // namespace cuda_cpu

// Names for a function object of cuBLAS in each type of numbers, with and without the version that stands behind them.
#define CUDA_CPU_BLAS_NAME(Type, name)                              \
    inline constexpr cuda_cpu::Type cublas##name{{"cublas" #name}}; \
    inline constexpr const auto& cublas##name##_v2 = cublas##name;
#define CUDA_CPU_BLAS_REAL(Function, name)       \
    CUDA_CPU_BLAS_NAME(Function<float>, S##name) \
    CUDA_CPU_BLAS_NAME(Function<double>, D##name)
#define CUDA_CPU_BLAS_COMPLEX(Function, name)        \
    CUDA_CPU_BLAS_NAME(Function<cuComplex>, C##name) \
    CUDA_CPU_BLAS_NAME(Function<cuDoubleComplex>, Z##name)
#define CUDA_CPU_BLAS(Function, name)  \
    CUDA_CPU_BLAS_REAL(Function, name) \
    CUDA_CPU_BLAS_COMPLEX(Function, name)

inline constexpr auto cublasCreate_v2 = cublasCreate;
inline constexpr auto cublasDestroy_v2 = cublasDestroy;
inline constexpr auto cublasSetStream_v2 = cublasSetStream;
inline constexpr auto cublasSetPointerMode_v2 = cublasSetPointerMode;
