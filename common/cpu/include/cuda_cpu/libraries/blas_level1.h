// cuBLAS, level 1: vectors. The second form of each is that of before CUDA 4 (cublas.h).
#pragma once

#include <array>

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
template <class T>
struct ScalReal : Named {  // a complex x times a real number
    cublasStatus_t operator()(cublasHandle_t handle, int n, const RealOf<T>* alpha, T* x,
                              int step) const {
        BlasCall call(name, handle);
        const auto factor = call.scalar("alpha", alpha);
        call.vector("x", x, n, step, Use::written);
        return call.routine<T>(sizeof(T) == 8 ? "sscal" : "dscal", n, factor, x, step);
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

// (x, y) = (c x + s y, c y - conj(s) x); c is real, s real or of the vectors' type.
template <class T, class Sine = T>
struct Rot : Named {
    cublasStatus_t operator()(cublasHandle_t handle, int n, T* x, int step_x, T* y, int step_y,
                              const RealOf<T>* c, const Sine* s) const {
        BlasCall call(name, handle);
        const auto cosine = call.scalar("c", c);
        const auto sine = call.scalar("s", s);
        call.vector("x", x, n, step_x, Use::written);
        call.vector("y", y, n, step_y, Use::written);
        if constexpr (!is_complex<T>) {
            return call.routine<T>("rot", n, x, step_x, y, step_y, cosine, sine);
        } else if constexpr (is_complex<Sine>) {
            return call.routine<T, Library::lapack>("rot", n, x, step_x, y, step_y, cosine, sine);
        } else {
            return call.routine<T>(sizeof(T) == 8 ? "srot" : "drot", n, x, step_x, y, step_y,
                                   cosine, sine);
        }
    }
    void operator()(int n, T* x, int step_x, T* y, int step_y, RealOf<T> c, Sine s) const {
        legacy_status() = (*this)(legacy_handle(), n, x, step_x, y, step_y, &c, &s);
    }
};
template <class T>
using RotReal = Rot<T, RealOf<T>>;
template <class T>
struct Rotg : Named {  // the rotation that makes (a, b) to (r, 0)
    cublasStatus_t operator()(cublasHandle_t handle, T* a, T* b, RealOf<T>* c, T* s) const {
        BlasCall call(name, handle);
        for (T* const number : {a, b, s}) call.result("a, b or s", number);
        call.result("c", c);
        if (call.status() != CUBLAS_STATUS_SUCCESS) return call.status();
        void* const blas = fortran_function<T>(Library::blas, "rotg", name);
        return call.join_and_wait_for_result([=] { call_fortran(blas, a, b, c, s); });
    }
    void operator()(T* a, T* b, RealOf<T>* c, T* s) const {
        legacy_status() = (*this)(legacy_handle(), a, b, c, s);
    }
};
// The modified rotation: its parameters are a flag and the four elements of H.
template <class T>
struct Rotm : Named {
    cublasStatus_t operator()(cublasHandle_t handle, int n, T* x, int step_x, T* y, int step_y,
                              const T* parameters) const {
        BlasCall call(name, handle);
        call.vector("x", x, n, step_x, Use::written);
        call.vector("y", y, n, step_y, Use::written);
        call.expect(parameters != nullptr);
        std::array<T, 5> of_host{};
        if (!call.on_host()) {
            call.vector("the parameters", parameters, 5, 1, Use::read);
        } else if (parameters != nullptr) {
            expect_on_host(name, "the parameters", parameters);
            std::copy(parameters, parameters + 5, of_host.begin());
        }
        if (call.status() != CUBLAS_STATUS_SUCCESS) return call.status();
        void* const blas = fortran_function<T>(Library::blas, "rotm", name);
        return call.join([=, on_host = call.on_host()] {
            call_fortran(blas, n, x, step_x, y, step_y, on_host ? of_host.data() : parameters);
        });
    }
};
template <class T>
struct Rotmg : Named {
    cublasStatus_t operator()(cublasHandle_t handle, T* d1, T* d2, T* x, const T* y,
                              T* parameters) const {
        BlasCall call(name, handle);
        for (T* const number : {d1, d2, x, parameters}) call.result("an argument", number);
        call.expect(y != nullptr);
        if (call.status() != CUBLAS_STATUS_SUCCESS) return call.status();
        void* const blas = fortran_function<T>(Library::blas, "rotmg", name);
        return call.join_and_wait_for_result([=] { call_fortran(blas, d1, d2, x, y, parameters); });
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
CUDA_CPU_BLAS(Rot, rot)
CUDA_CPU_BLAS_NAME(RotReal<cuComplex>, Csrot)
CUDA_CPU_BLAS_NAME(RotReal<cuDoubleComplex>, Zdrot)
CUDA_CPU_BLAS_NAME(ScalReal<cuComplex>, Csscal)
CUDA_CPU_BLAS_NAME(ScalReal<cuDoubleComplex>, Zdscal)
CUDA_CPU_BLAS(Rotg, rotg)
CUDA_CPU_BLAS_REAL(Rotm, rotm)
CUDA_CPU_BLAS_REAL(Rotmg, rotmg)
// Here the type's letter stands elsewhere.
#define CUDA_CPU_BLAS_SIZES(letters, letter, T)  \
    CUDA_CPU_BLAS_NAME(Nrm2<T>, letters##nrm2)   \
    CUDA_CPU_BLAS_NAME(Asum<T>, letters##asum)   \
    CUDA_CPU_BLAS_NAME(Amax<T>, I##letter##amax) \
    CUDA_CPU_BLAS_NAME(Amin<T>, I##letter##amin)
CUDA_CPU_BLAS_SIZES(S, s, float)
CUDA_CPU_BLAS_SIZES(D, d, double)
CUDA_CPU_BLAS_SIZES(Sc, c, cuComplex)
CUDA_CPU_BLAS_SIZES(Dz, z, cuDoubleComplex)
#undef CUDA_CPU_BLAS_SIZES
