// A system on the device, and how a variant solves it.
#pragma once
#ifdef LAB_GIVEN_COMPILED
#pragma interface  // compiled once, in host.cpp
#endif

#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "input.h"
#include "reference.h"
#include "system.h"

template <class T>
constexpr bool is_double = std::is_same_v<T, double>;

// A system on the device: as it was given, and a copy that each run destroys anew.
template <class T>
class Solver {
 public:
    Solver(const Problem<T>& problem, const Norms& norms)
        : n_(int(problem.n)),
          sides_(int(problem.sides)),
          norms_(norms),
          stride_(stride_of(n_, sides_)),
          given_(n_ * stride_),
          copy_(n_ * stride_),
          x_(int64_t{n_} * sides_),
          candidates_(blocks_for(n_, 8) + 1),
          words_(2) {
        upload(problem);
        work_ = {system_at(copy_.get()),
                 x_.get(),
                 candidates_.get(),
                 candidates_.get() + blocks_for(n_, 8),
                 reinterpret_cast<unsigned*>(words_.get()),
                 words_.get() + 1};
    }

    int n() const { return n_; }
    const Norms& norms() const { return norms_; }
    const Work<T>& work() const { return work_; }
    System<T> given() const { return system_at(given_.get()); }

    // A fresh copy, and NaN where the solution will be.
    void reset() {
        const int nothing[] = {0, -1};
        CHECK(cudaMemcpyAsync(copy_.get(), given_.get(), given_.bytes(), cudaMemcpyDeviceToDevice));
        CHECK(cudaMemsetAsync(x_.get(), 0xFF, x_.bytes()));
        CHECK(cudaMemcpy(words_.get(), nothing, sizeof nothing, cudaMemcpyHostToDevice));
    }

    std::vector<T> solution() const {
        std::vector<T> x(size_t(n_) * sides_);
        CHECK(cudaMemcpy(x.data(), x_.get(), x_.bytes(), cudaMemcpyDeviceToHost));
        return x;
    }

    int singular() const {
        int column = -1;
        CHECK(cudaMemcpy(&column, work_.singular, sizeof column, cudaMemcpyDeviceToHost));
        return column;
    }

    static int64_t bytes(int64_t n, int64_t sides) {
        return elements_on_device(n, sides) * int64_t(sizeof(T));
    }

 private:
    System<T> system_at(T* values) const {
        const int first_side = first_side_of(n_);
        return {values, n_, first_side, first_side + sides_, stride_};
    }

    void upload(const Problem<T>& problem) {
        const System<T> system = given();
        const size_t pitch = stride_ * sizeof(T), a = n_ * sizeof(T), b = sides_ * sizeof(T);
        CHECK(cudaMemset(system.values, 0, given_.bytes()));
        CHECK(
            cudaMemcpy2D(system.values, pitch, problem.a.data(), a, a, n_, cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy2D(system.values + system.first_side, pitch, problem.b.data(), b, b, n_,
                           cudaMemcpyHostToDevice));
    }

    const int n_, sides_;
    const Norms norms_;
    const int64_t stride_;
    DeviceArray<T> given_, copy_, x_;
    DeviceArray<Candidate> candidates_;
    DeviceArray<int> words_;
    Work<T> work_;
};

template <class T>
struct Variant {
    std::string name;
    std::function<lab::Launch(int& rounds)> solve;  // rounds: of refinement; 0: doubles had to help
    std::string reason;                             // why it cannot run here, or ""
};

// Those that can run here, in the order of the ladder: path_variants.cuh, further/variants.cuh.
template <class T>
std::vector<Variant<T>> path_variants(const Solver<T>& solver);
template <class T>
std::vector<Variant<T>> further_variants(const Solver<T>& solver);

// The factors on the host, for the condition of a matrix that the CPU would take too long for.
template <class T>
HostFactors<T> blocked_factors(Solver<T>& solver);
