// cuBLAS, level 1: vectors. The second form of each is that of before CUDA 4 (cublas.h).
#pragma once

#include "blas_handle.h"

namespace cuda_cpu {

template <class T>
struct Axpy : Named {  // y = alpha x + y
    cublasStatus_t operator()(cublasHandle_t handle, int n, const T* alpha, const T* x, int step_x,
                              T* y, int step_y) const {
        BlasCall call(name, handle);
        const auto factor = call.scalar("alpha", alpha);
        call.vector("x", x, n, step_x, Use::read);
        call.vector("y", y, n, step_y, Use::written);
        return call.routine<T>("axpy", n, factor, x, step_x, y, step_y);
    }
    void operator()(int n, T alpha, const T* x, int step_x, T* y, int step_y) const {
        legacy_status() = (*this)(legacy_handle(), n, &alpha, x, step_x, y, step_y);
    }
};
template <class T>
struct CopyVector : Named {  // y = x
    cublasStatus_t operator()(cublasHandle_t handle, int n, const T* x, int step_x, T* y,
                              int step_y) const {
        BlasCall call(name, handle);
        call.vector("x", x, n, step_x, Use::read);
        call.vector("y", y, n, step_y, Use::written);
        return call.routine<T>("copy", n, x, step_x, y, step_y);
    }
    void operator()(int n, const T* x, int step_x, T* y, int step_y) const {
        legacy_status() = (*this)(legacy_handle(), n, x, step_x, y, step_y);
    }
};
template <class T>
struct Swap : Named {
    cublasStatus_t operator()(cublasHandle_t handle, int n, T* x, int step_x, T* y,
                              int step_y) const {
        BlasCall call(name, handle);
        call.vector("x", x, n, step_x, Use::written);
        call.vector("y", y, n, step_y, Use::written);
        return call.routine<T>("swap", n, x, step_x, y, step_y);
    }
    void operator()(int n, T* x, int step_x, T* y, int step_y) const {
        legacy_status() = (*this)(legacy_handle(), n, x, step_x, y, step_y);
    }
};
template <class T>
struct Scal : Named {  // x = alpha x
    cublasStatus_t operator()(cublasHandle_t handle, int n, const T* alpha, T* x, int step) const {
        BlasCall call(name, handle);
        const auto factor = call.scalar("alpha", alpha);
        call.vector("x", x, n, step, Use::written);
        return call.routine<T>("scal", n, factor, x, step);
    }
    void operator()(int n, T alpha, T* x, int step) const {
        legacy_status() = (*this)(legacy_handle(), n, &alpha, x, step);
    }
};

// Numbers from vectors. Without elements they are 0.
template <class T, class Compute>
cublasStatus_t number_of(BlasCall& call, T* result, bool is_empty, Compute compute) {
    call.result("the result", result);
    return call.join_and_wait_for_result([=] { *result = is_empty ? T{} : compute(); });
}
enum class Product { plain, conjugated };
template <class T, Product product>
struct DotProduct : Named {
    cublasStatus_t operator()(cublasHandle_t handle, int n, const T* x, int step_x, const T* y,
                              int step_y, T* result) const {
        BlasCall call(name, handle);
        call.vector("x", x, n, step_x, Use::read);
        call.vector("y", y, n, step_y, Use::read);
        const char* const routine = !is_complex<T>              ? "dot"
                                    : product == Product::plain ? "dotu"
                                                                : "dotc";
        void* const blas = fortran_function<T>(Library::blas, routine, name);
        return number_of(call, result, n <= 0,
                         [=] { return call_fortran<T>(blas, n, x, step_x, y, step_y); });
    }
    T operator()(int n, const T* x, int step_x, const T* y, int step_y) const {
        T result{};
        legacy_status() = (*this)(legacy_handle(), n, x, step_x, y, step_y, &result);
        return result;
    }
};
template <class T>
using Dot = DotProduct<T, Product::plain>;
template <class T>
using DotConjugated = DotProduct<T, Product::conjugated>;

// nrm2 and asum: dznrm2_ is the norm of double2.
template <class T, bool is_norm>
struct Size : Named {
    cublasStatus_t operator()(cublasHandle_t handle, int n, const T* x, int step,
                              RealOf<T>* result) const {
        BlasCall call(name, handle);
        call.vector("x", x, n, step, Use::read);
        const std::string letter = is_complex<T> ? std::string(1, TypeLetter<T>::letter) : "";
        void* const blas =
            fortran_function<RealOf<T>>(Library::blas, letter + (is_norm ? "nrm2" : "asum"), name);
        return number_of(call, result, n <= 0 || step <= 0,
                         [=] { return call_fortran<RealOf<T>>(blas, n, x, step); });
    }
    RealOf<T> operator()(int n, const T* x, int step) const {
        RealOf<T> result{};
        legacy_status() = (*this)(legacy_handle(), n, x, step, &result);
        return result;
    }
};
template <class T>
using Nrm2 = Size<T, true>;
template <class T>
using Asum = Size<T, false>;

// The place of the first largest or smallest, from 1; of complex numbers by |re| + |im|. BLAS has only the largest.
template <class T, bool largest>
struct Extreme : Named {
    cublasStatus_t operator()(cublasHandle_t handle, int n, const T* x, int step,
                              int* result) const {
        BlasCall call(name, handle);
        call.vector("x", x, n, step, Use::read);
        return number_of(call, result, n <= 0 || step <= 0, [=] {
            int best = 0;
            for (int i = 1; i < n; ++i) {
                const auto here = size(x[static_cast<size_t>(i) * step]),
                           there = size(x[static_cast<size_t>(best) * step]);
                if (largest ? here > there : here < there) best = i;
            }
            return best + 1;
        });
    }
    int operator()(int n, const T* x, int step) const {
        int result = 0;
        legacy_status() = (*this)(legacy_handle(), n, x, step, &result);
        return result;
    }

 private:
    static RealOf<T> size(const T& x) {
        if constexpr (is_complex<T>) {
            return std::abs(x.x) + std::abs(x.y);
        } else {
            return std::abs(x);
        }
    }
};
template <class T>
using Amax = Extreme<T, true>;
template <class T>
using Amin = Extreme<T, false>;

template <class T>
struct Rot : Named {  // (x, y) = (c x + s y, c y - s x)
    cublasStatus_t operator()(cublasHandle_t handle, int n, T* x, int step_x, T* y, int step_y,
                              const T* c, const T* s) const {
        BlasCall call(name, handle);
        const auto cosine = call.scalar("c", c), sine = call.scalar("s", s);
        call.vector("x", x, n, step_x, Use::written);
        call.vector("y", y, n, step_y, Use::written);
        return call.routine<T>("rot", n, x, step_x, y, step_y, cosine, sine);
    }
};
template <class T>
struct Rotg : Named {  // the rotation that makes (a, b) to (r, 0)
    cublasStatus_t operator()(cublasHandle_t handle, T* a, T* b, T* c, T* s) const {
        BlasCall call(name, handle);
        for (T* const number : {a, b, c, s}) call.result("a, b, c or s", number);
        void* const blas = fortran_function<T>(Library::blas, "rotg", name);
        return call.join_and_wait_for_result([=] { call_fortran(blas, a, b, c, s); });
    }
};

}  // namespace cuda_cpu

CUDA_CPU_BLAS(Axpy, axpy)
CUDA_CPU_BLAS(CopyVector, copy)
CUDA_CPU_BLAS(Swap, swap)
CUDA_CPU_BLAS(Scal, scal)
CUDA_CPU_BLAS_REAL(Dot, dot)
CUDA_CPU_BLAS_COMPLEX(Dot, dotu)
CUDA_CPU_BLAS_COMPLEX(DotConjugated, dotc)
CUDA_CPU_BLAS_REAL(Rot, rot)
CUDA_CPU_BLAS_REAL(Rotg, rotg)
// Here the type's letter stands elsewhere.
#define CUDA_CPU_BLAS_SIZES(letters, letter, T)                                           \
    inline constexpr cuda_cpu::Nrm2<T> cublas##letters##nrm2{{"cublas" #letters "nrm2"}}; \
    inline constexpr cuda_cpu::Asum<T> cublas##letters##asum{{"cublas" #letters "asum"}}; \
    inline constexpr cuda_cpu::Amax<T> cublasI##letter##amax{{"cublasI" #letter "amax"}}; \
    inline constexpr cuda_cpu::Amin<T> cublasI##letter##amin{{"cublasI" #letter "amin"}};
CUDA_CPU_BLAS_SIZES(S, s, float)
CUDA_CPU_BLAS_SIZES(D, d, double)
CUDA_CPU_BLAS_SIZES(Sc, c, cuComplex)
CUDA_CPU_BLAS_SIZES(Dz, z, cuDoubleComplex)
#undef CUDA_CPU_BLAS_SIZES
