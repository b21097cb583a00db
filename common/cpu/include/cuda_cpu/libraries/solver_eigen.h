// cuSOLVER: eigenvalues and eigenvectors of symmetric and Hermitian matrices, A x = w x and A x = w B x, all by LAPACK's syevd and
// sygvd: also where cuSOLVER has the method of Jacobi (syevj), and for a range of them (syevdx).
#pragma once

#include "solver_handle.h"

// What is set for the method of Jacobi. LAPACK's has no sweeps; the residual is measured.
struct syevjInfo {
    double tolerance = 0, residual = -1;
    int sweeps = 100, sorts = 1;
};
using syevjInfo_t = syevjInfo*;
inline cusolverStatus_t cusolverDnCreateSyevjInfo(syevjInfo_t* info) {
    *info = new syevjInfo;
    return CUSOLVER_STATUS_SUCCESS;
}
inline cusolverStatus_t cusolverDnDestroySyevjInfo(syevjInfo_t info) {
    delete info;
    return CUSOLVER_STATUS_SUCCESS;
}
inline cusolverStatus_t cusolverDnXsyevjSetTolerance(syevjInfo_t info, double tolerance) {
    info->tolerance = tolerance;
    return CUSOLVER_STATUS_SUCCESS;
}
inline cusolverStatus_t cusolverDnXsyevjSetMaxSweeps(syevjInfo_t info, int sweeps) {
    info->sweeps = sweeps;
    return CUSOLVER_STATUS_SUCCESS;
}
inline cusolverStatus_t cusolverDnXsyevjSetSortEig(syevjInfo_t info, int sorts) {
    info->sorts = sorts;
    return CUSOLVER_STATUS_SUCCESS;
}
// Of the last call with these settings; not of a batch.
inline cusolverStatus_t cusolverDnXsyevjGetResidual(cusolverDnHandle_t, syevjInfo_t info,
                                                    double* residual) {
    if (info->residual < 0) return CUSOLVER_STATUS_NOT_SUPPORTED;
    *residual = info->residual;
    return CUSOLVER_STATUS_SUCCESS;
}
inline cusolverStatus_t cusolverDnXsyevjGetSweeps(cusolverDnHandle_t, syevjInfo_t info,
                                                  int* sweeps) {
    if (info->residual < 0) return CUSOLVER_STATUS_NOT_SUPPORTED;
    *sweeps = 0;
    return CUSOLVER_STATUS_SUCCESS;
}

namespace cuda_cpu {

// LAPACK's syevd or heevd; with a second matrix sygvd or hegvd. The vectors take A's place, what LAPACK needs to work in it gets.
template <class T>
class EigenSolver {
 public:
    EigenSolver(const char* asked_by, bool has_second)
        : lapack_(fortran_function<T>(
              Library::lapack,
              std::string(is_complex<T> ? "he" : "sy") + (has_second ? "gvd" : "evd"), asked_by)) {}
    int operator()(bool vectors, char fill, int n, T* A, int leading, RealOf<T>* values) const {
        return call(vectors, fill, n, values, [&](auto... rest) {
            call_fortran(lapack_, job(vectors), fill, n, A, leading, values, rest...);
        });
    }
    int operator()(int type, bool vectors, char fill, int n, T* A, int leading_A, T* B,
                   int leading_B, RealOf<T>* values) const {
        return call(vectors, fill, n, values, [&](auto... rest) {
            call_fortran(lapack_, type, job(vectors), fill, n, A, leading_A, B, leading_B, values,
                         rest...);
        });
    }
    static int numbers(bool vectors, int n) {
        if (n <= 1) return 1;
        if (is_complex<T>) return vectors ? 2 * n + n * n : n + 1;
        return vectors ? 1 + 6 * n + 2 * n * n : 2 * n + 1;
    }

 private:
    static char job(bool vectors) { return vectors ? 'V' : 'N'; }
    template <class Routine>
    static int call(bool vectors, char, int n, RealOf<T>*, Routine routine) {
        const int length = numbers(vectors, n), of_integers = vectors && n > 1 ? 3 + 5 * n : 1;
        const int of_reals = !vectors || n <= 1 ? std::max(1, n) : 1 + 5 * n + 2 * n * n;
        std::vector<T> work(static_cast<size_t>(length));
        std::vector<int> integers(static_cast<size_t>(of_integers));
        int info = 0;
        if constexpr (is_complex<T>) {
            std::vector<RealOf<T>> reals(static_cast<size_t>(of_reals));
            routine(work.data(), length, reals.data(), of_reals, integers.data(), of_integers,
                    &info);
        } else {
            routine(work.data(), length, integers.data(), of_integers, &info);
        }
        return info;
    }
    void* lapack_;
};

template <class T>
double square_of(const T& number) {
    const T square = product_of(number, conjugate_of(number));
    if constexpr (is_complex<T>) {
        return square.x;
    } else {
        return square;
    }
}
// A V, where A has one half.
template <class T>
std::vector<T> half_times(const std::vector<T>& A, bool upper, int n, const T* V,
                          long long leading) {
    std::vector<T> result;
    for (int vector = 0; vector < n; ++vector) {
        for (int row = 0; row < n; ++row) {
            T sum{};
            for (int i = 0; i < n; ++i) {
                const bool stored = upper ? row <= i : row >= i;
                const T element = stored ? A[static_cast<size_t>(row + 1ll * i * n)]
                                         : conjugate_of(A[static_cast<size_t>(i + 1ll * row * n)]);
                sum = sum_of(sum, product_of(element, V[i + vector * leading]));
            }
            result.push_back(sum);
        }
    }
    return result;
}
// The root of the sum of the squares of A V - V W; of type 1 A V - B V W, of type 2 A B V - V W, of type 3 B A V - V W.
template <class T>
double eigen_residual(int type, const std::vector<T>& A, const std::vector<T>& B, bool upper, int n,
                      const T* V, long long leading, const RealOf<T>* values) {
    std::vector<T> left = half_times(type == 2 ? B : A, upper, n, V, leading);
    if (type >= 2) left = half_times(type == 2 ? A : B, upper, n, left.data(), n);
    std::vector<T> right(left.size());
    copy_columns(V, leading, right.data(), n, n, n);
    if (type == 1) right = half_times(B, upper, n, V, leading);
    double sum = 0;
    for (size_t i = 0; i < left.size(); ++i)
        sum += square_of(difference_of(
            left[i], product_of(complex_of<T>(values[i / static_cast<size_t>(n)]), right[i])));
    return std::sqrt(sum);
}

struct EigenChoice {  // which of them, from the smallest
    cusolverEigRange_t range = CUSOLVER_EIG_RANGE_ALL;
    double from = 0, to = 0;  // larger than `from`, at most `to`
    long long first = 1, last = 0;
    int* of_host = nullptr;  // how many there are
};
// Moves those that are chosen to the front, and tells how many they are.
template <class T>
int keep_chosen(const EigenChoice& choice, bool vectors, int n, T* V, long long leading,
                RealOf<T>* values) {
    int kept = 0;
    for (int i = 0; i < n; ++i) {
        const bool is_chosen =
            choice.range == CUSOLVER_EIG_RANGE_ALL ||
            (choice.range == CUSOLVER_EIG_RANGE_I && i + 1 >= choice.first && i < choice.last) ||
            (choice.range == CUSOLVER_EIG_RANGE_V && values[i] > choice.from &&
             values[i] <= choice.to);
        if (!is_chosen) continue;
        values[kept] = values[i];
        if (vectors) copy_columns(V + i * leading, leading, V + kept * leading, leading, n, 1);
        ++kept;
    }
    return kept;
}

// What all of these calls are: of `count` matrices that follow each other, with the second matrix of A x = w B x or without.
template <class T>
cusolverStatus_t eigenvalues(const char* name, cusolverDnHandle_t handle, cusolverEigMode_t mode,
                             cublasFillMode_t fill, int n, T* A, int leading, RealOf<T>* values,
                             T* work, long long length, int* info, int count = 1,
                             syevjInfo_t settings = nullptr, const EigenChoice& choice = {},
                             int type = 0, T* B = nullptr, int leading_B = 1) {
    const bool vectors = mode == CUSOLVER_EIG_MODE_VECTOR;
    SolverCall call(name, handle);
    call.matrix("A", A, n, 1ll * n * count, leading, Use::written);
    if (type != 0) call.matrix("B", B, n, n, leading_B, Use::written);
    call.vector("W", values, 1ll * n * count, 1, Use::written);
    call.work(work, length, 1);
    call.vector("info", info, count, 1, Use::written);
    call.expect(letter(fill) != '\0' && count >= 0);
    if (choice.range == CUSOLVER_EIG_RANGE_I)
        call.expect(choice.first >= 1 && choice.last >= choice.first && choice.last <= n);
    if (call.status() != CUSOLVER_STATUS_SUCCESS) return call.status();
    const EigenSolver<T> solve(name, type != 0);
    const auto compute = [=] {
        for (int i = 0; i < count; ++i) {
            T* const matrix = A + 1ll * i * n * leading;
            RealOf<T>* const own = values + 1ll * i * n;
            const bool is_measured = settings != nullptr && count == 1 && vectors;
            std::vector<T> before(static_cast<size_t>(is_measured ? n * n : 0)), second = before;
            if (is_measured) copy_columns(matrix, leading, before.data(), n, n, n);
            if (is_measured && type != 0) copy_columns(B, leading_B, second.data(), n, n, n);
            info[i] = type == 0
                          ? solve(vectors, letter(fill), n, matrix, leading, own)
                          : solve(type, vectors, letter(fill), n, A, leading, B, leading_B, own);
            if (settings != nullptr)
                settings->residual = is_measured ? eigen_residual(type, before, second,
                                                                  fill == CUBLAS_FILL_MODE_UPPER, n,
                                                                  matrix, leading, own)
                                                 : -1;
            const int kept = keep_chosen(choice, vectors, n, matrix, leading, own);
            if (choice.of_host != nullptr) *choice.of_host = kept;
        }
    };
    return choice.of_host != nullptr || settings != nullptr ? call.join_and_wait(compute)
                                                            : call.join(compute);
}
template <class T>
cusolverStatus_t eigen_length(cusolverEigMode_t mode, int n, int leading, int* length) {
    *length = EigenSolver<T>::numbers(mode == CUSOLVER_EIG_MODE_VECTOR, n);
    return n < 0 || leading < std::max(1, n) ? CUSOLVER_STATUS_INVALID_VALUE
                                             : CUSOLVER_STATUS_SUCCESS;
}

}  // namespace cuda_cpu

#include "solver_eigen_names.h"
