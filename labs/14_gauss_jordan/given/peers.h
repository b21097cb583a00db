// The libraries that make bench compares with, where they are found.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "run.h"

#if defined(LAB_BENCH) && defined(LAB_PEERS) && __has_include(<cusolverDn.h>)
#include <cusolverDn.h>
#define WITH_CUSOLVER
#endif
#if defined(LAB_BENCH) && defined(LAB_HOST_PEERS)
#define WITH_OPENBLAS
extern "C" {  // LAPACK, which OpenBLAS brings along; all arguments by address
void sgesv_(const int*, const int*, float*, const int*, int*, float*, const int*, int*);
void dgesv_(const int*, const int*, double*, const int*, int*, double*, const int*, int*);
}
#endif

#ifdef WITH_CUSOLVER
void check_cusolver(cusolverStatus_t status) {
    if (status != CUSOLVER_STATUS_SUCCESS) lab::fail("cuSOLVER failed with status %d", int(status));
}

// to: (width, height), from: (height, width), rows `stride` apart. The library counts columns first.
template <class T>
__global__ void transpose(const T* from, int64_t stride, int width, T* to) {
    const int64_t row = blockIdx.x, height = gridDim.x;
    for (int64_t j = threadIdx.x; j < width; j += blockDim.x)
        to[j * height + row] = from[row * stride + j];
}

template <class T>
class Cusolver {
 public:
    explicit Cusolver(const System<T>& given)
        : given_(given),
          a_(int64_t{given.n} * given.n),
          b_(int64_t{given.n} * given.sides()),
          pivots_(given.n),
          status_(1) {
        int count = 0;
        check_cusolver(cusolverDnCreate(&handle_));
        if constexpr (is_double<T>) {
            check_cusolver(
                cusolverDnDgetrf_bufferSize(handle_, given.n, given.n, a_.get(), given.n, &count));
        } else {
            check_cusolver(
                cusolverDnSgetrf_bufferSize(handle_, given.n, given.n, a_.get(), given.n, &count));
        }
        workspace_ = std::make_unique<DeviceArray<T>>(count);
    }
    ~Cusolver() { cusolverDnDestroy(handle_); }

    void reset() {
        transpose<<<given_.n, 256>>>(given_.values, given_.stride, given_.n, a_.get());
        transpose<<<given_.n, 256>>>(given_.values + given_.first_side, given_.stride,
                                     given_.sides(), b_.get());
        CHECK_LAUNCH();
    }

    void solve() {
        const int n = given_.n, sides = given_.sides();
        const auto call = [&](auto getrf, auto getrs) {
            check_cusolver(
                getrf(handle_, n, n, a_.get(), n, workspace_->get(), pivots_.get(), status_.get()));
            check_cusolver(getrs(handle_, CUBLAS_OP_N, n, sides, a_.get(), n, pivots_.get(),
                                 b_.get(), n, status_.get()));
        };
        if constexpr (is_double<T>) {
            call(cusolverDnDgetrf, cusolverDnDgetrs);
        } else {
            call(cusolverDnSgetrf, cusolverDnSgetrs);
        }
    }

    std::vector<T> solution() const {
        const int64_t n = given_.n, sides = given_.sides();
        std::vector<T> columns(n * sides), x(n * sides);
        CHECK(cudaMemcpy(columns.data(), b_.get(), b_.bytes(), cudaMemcpyDeviceToHost));
        for (int64_t i = 0; i < n * sides; i++) x[i] = columns[i % sides * n + i / sides];
        return x;
    }

 private:
    const System<T> given_;
    DeviceArray<T> a_, b_;
    DeviceArray<int> pivots_, status_;
    std::unique_ptr<DeviceArray<T>> workspace_;
    cusolverDnHandle_t handle_ = nullptr;
};

template <class T>
void run_cusolver(Run<T>& run, const Solver<T>& solver) {
    Cusolver<T> cusolver(solver.given());
    const double milliseconds = time_after([&] { cusolver.reset(); }, [&] { cusolver.solve(); });
    run.x = cusolver.solution();
    report_errors(run, "cusolver", {dim3(0), dim3(0)}, milliseconds);
}
#endif

#ifdef WITH_OPENBLAS
template <class T>
void run_openblas(Run<T>& run) {
    const int n = int(run.problem.n), sides = int(run.problem.sides);
    std::vector<double> times;
    for (int round = 0; round < 3; round++) {
        std::vector<T> a(run.problem.a.size()), b(run.problem.b.size());
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j < n; j++) a[j * n + i] = run.problem.a[i * n + j];
            for (int64_t c = 0; c < sides; c++) b[c * n + i] = run.problem.b[i * sides + c];
        }
        std::vector<int> pivots(n);
        int status = 0;
        const lab::HostTimer clock;
        if constexpr (is_double<T>) {
            dgesv_(&n, &sides, a.data(), &n, pivots.data(), b.data(), &n, &status);
        } else {
            sgesv_(&n, &sides, a.data(), &n, pivots.data(), b.data(), &n, &status);
        }
        times.push_back(clock.milliseconds());
        for (int64_t i = 0; i < int64_t{n} * sides; i++) run.x[i] = b[i % sides * n + i / sides];
    }
    std::sort(times.begin(), times.end());
    report_errors(run, "openblas", {dim3(0), dim3(0)}, times[1]);
}
#endif
