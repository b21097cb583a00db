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
    CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
};
#define CUBLAS_VER_MAJOR 13
#define CUBLAS_VER_MINOR 1
#define CUBLAS_VER_PATCH 0
#define CUBLAS_VERSION 130100

struct cublasContext {
    cudaStream_t stream = nullptr;
    cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
    cublasAtomicsMode_t atomics = CUBLAS_ATOMICS_NOT_ALLOWED;
    cublasMath_t math = CUBLAS_DEFAULT_MATH;
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

inline cublasStatus_t cublasCreate(cublasHandle_t* handle) {
    int device;
    if (cudaGetDevice(&device) != cudaSuccess) return CUBLAS_STATUS_NOT_INITIALIZED;
    *handle = new cublasContext;
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasDestroy(cublasHandle_t handle) {
    if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
    delete handle;
    return cudaDeviceSynchronize() == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                                  : CUBLAS_STATUS_EXECUTION_FAILED;
}
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

#define CUDA_CPU_SETTING(name, type, member)                                    \
    inline cublasStatus_t cublasSet##name(cublasHandle_t handle, type value) {  \
        if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;            \
        handle->member = value;                                                 \
        return CUBLAS_STATUS_SUCCESS;                                           \
    }                                                                           \
    inline cublasStatus_t cublasGet##name(cublasHandle_t handle, type* value) { \
        if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;            \
        *value = handle->member;                                                \
        return CUBLAS_STATUS_SUCCESS;                                           \
    }
CUDA_CPU_SETTING(Stream, cudaStream_t, stream)
CUDA_CPU_SETTING(PointerMode, cublasPointerMode_t, pointer_mode)
CUDA_CPU_SETTING(AtomicsMode, cublasAtomicsMode_t, atomics)
CUDA_CPU_SETTING(MathMode, cublasMath_t, math)
#undef CUDA_CPU_SETTING

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

// A call of cuBLAS; T is the type of its numbers.
class BlasCall : public LibraryCall {
 public:
    BlasCall(const char* name, cublasHandle_t handle)
        : LibraryCall(name, handle != nullptr ? handle->stream : nullptr), handle_(handle) {}

    bool on_host() const {
        return handle_ == nullptr || handle_->pointer_mode == CUBLAS_POINTER_MODE_HOST;
    }
    template <class T>
    Scalar<T> scalar(const char* name, const T* number) {
        if (number == nullptr || handle_ == nullptr) {
            expect(false);
            return {};
        }
        if (on_host()) {
            expect_on_host(function(), name, number);
            return {*number, nullptr};
        }
        vector(name, number, 1, 1, Use::read);
        return {T{}, number};
    }
    // Where a call stores one number: for the host, which waits for it, or on the device.
    template <class T>
    void result(const char* name, T* number) {
        if (on_host()) {
            expect_on_host(function(), name, number);
        } else {
            vector(name, number, 1, 1, Use::written);
        }
    }
    cublasStatus_t status() const {
        if (handle_ == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
        return is_valid() ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
    }
    cublasStatus_t join(std::function<void()> work) const {
        if (status() != CUBLAS_STATUS_SUCCESS) return status();
        return run(std::move(work)) == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                                   : CUBLAS_STATUS_EXECUTION_FAILED;
    }
    cublasStatus_t join_and_wait_for_result(std::function<void()> work) const {
        const cublasStatus_t joined = join(std::move(work));
        if (joined != CUBLAS_STATUS_SUCCESS || !on_host()) return joined;
        return cudaStreamSynchronize(stream()) == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                                              : CUBLAS_STATUS_EXECUTION_FAILED;
    }
    // A routine of BLAS that stores what it computes in its arrays.
    template <class T, class... Arguments>
    cublasStatus_t routine(const char* routine, Arguments... arguments) const {
        if (status() != CUBLAS_STATUS_SUCCESS) return status();
        void* const blas = fortran_function<T>(Library::blas, routine, function());
        return join([=] { call_fortran(blas, arguments...); });
    }

 private:
    cublasHandle_t handle_;
};

// The name under which a function of cuBLAS is called.
struct Named {
    const char* name;
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

// The letters of BLAS.
inline char letter(cublasOperation_t operation) {
    return operation == CUBLAS_OP_N ? 'N' : operation == CUBLAS_OP_T ? 'T' : 'C';
}
inline char letter(cublasFillMode_t fill) { return fill == CUBLAS_FILL_MODE_UPPER ? 'U' : 'L'; }
inline char letter(cublasDiagType_t diagonal) { return diagonal == CUBLAS_DIAG_UNIT ? 'U' : 'N'; }
inline char letter(cublasSideMode_t side) { return side == CUBLAS_SIDE_LEFT ? 'L' : 'R'; }

}  // namespace cuda_cpu

// Names for a function object of cuBLAS in each type of numbers.
#define CUDA_CPU_BLAS_REAL(Function, name)                                       \
    inline constexpr cuda_cpu::Function<float> cublasS##name{{"cublasS" #name}}; \
    inline constexpr cuda_cpu::Function<double> cublasD##name{{"cublasD" #name}};
#define CUDA_CPU_BLAS_COMPLEX(Function, name)                                        \
    inline constexpr cuda_cpu::Function<cuComplex> cublasC##name{{"cublasC" #name}}; \
    inline constexpr cuda_cpu::Function<cuDoubleComplex> cublasZ##name{{"cublasZ" #name}};
#define CUDA_CPU_BLAS(Function, name)  \
    CUDA_CPU_BLAS_REAL(Function, name) \
    CUDA_CPU_BLAS_COMPLEX(Function, name)
