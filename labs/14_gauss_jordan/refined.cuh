// Mixed precision: floats factor, doubles judge. Task 13.
//
//     A in double, rounded to float  ------->  L and U in float: half the bytes, and on many cards
//                                              a small part of the time
//     x = 0
//     again and again:   r = b - A x           in double: how far x is from a solution
//                        L U d = r             in float, with the factors that are there
//                        x = x + d             in double
//
// The error shrinks by about the condition times 2^-24 in each round. A matrix whose condition is near 2^24 or
// beyond makes no progress, and is left to doubles.
#pragma once

#include <cmath>
#include <numeric>
#include <vector>

#include "blocked.cuh"
#include "given/refinement_kernels.cuh"

// Which row of A stands where after all exchanges. pivots: (n), on the device
inline std::vector<int> order_of(const int* pivots, int n) {
    std::vector<int> with(n), order(n);
    CHECK(cudaMemcpy(with.data(), pivots, n * sizeof(int), cudaMemcpyDeviceToHost));
    std::iota(order.begin(), order.end(), 0);
    for (int i = 0; i < n; i++) std::swap(order[i], order[with[i]]);
    return order;
}

// Lu has the factors of a float system: factor(system) and solve_factored(system, b, x).
template <class Lu>
class Refinement {
 public:
    explicit Refinement(const System<double>& system)
        : n_(system.n),
          sides_(system.sides()),
          singular_(1),
          lu_(system.n, singular_.get()),
          floats_(n_ * stride_of(n_, sides_)),
          ordered_(int64_t{n_} * sides_),
          correction_(int64_t{n_} * sides_),
          residual_(int64_t{n_} * sides_),
          order_(n_),
          sizes_(sides_) {
        CHECK(cudaMemset(singular_.get(), 0xFF, singular_.bytes()));
        factors_ = {floats_.get(), n_, first_side_of(n_), first_side_of(n_) + sides_,
                    stride_of(n_, sides_)};
    }

    // Returns the number of rounds, or 0 when the error did not shrink and x is no solution.
    // largest: the largest magnitude in A; norm: the largest sum of magnitudes of a row
    int solve(const System<double>& system, double largest, double norm, double* x) {
        int exponent = 0;
        std::frexp(largest, &exponent);
        const double factor = std::ldexp(1.0, -exponent);
        const dim3 grid(n_, unsigned(lab::divide_up(factors_.stride, 256)));
        round_to_float<<<grid, 256>>>(system, factors_, factor);
        CHECK_LAUNCH();
        lu_.factor(factors_);
        find_order();
        const int64_t count = int64_t{n_} * sides_;
        const unsigned blocks = unsigned(lab::divide_up(count, 256));
        CHECK(cudaMemsetAsync(x, 0, count * sizeof(double)));
        double before = INFINITY;
        for (int round = 1; round <= most_rounds; round++) {
            find_residual<<<n_, 256>>>(system, x, residual_.get());
            CHECK_LAUNCH();
            const double error = backward_error(x, norm);
            if (error <= std::sqrt(double(n_)) * 0x1p-53) return round;
            if (round > 1 && !(error < before / 2)) return 0;
            if (round > 1) before = error;  // the first x is 0, and its error says nothing
            // TODO 13 (about 5 lines): launch permute_residual (into ordered_), have lu_.solve_factored find the
            // correction (in correction_) with the factors, and launch add_correction, which improves x. The kernels are in
            // given/refinement_kernels.cuh; sizes_ are this round's, from backward_error().
            (void)blocks;
        }
        return 0;
    }

 private:
    static constexpr int most_rounds = 30;

    // Which row of A stands where after all exchanges.
    void find_order() {
        const std::vector<int> order = order_of(lu_.pivots(), n_);
        CHECK(
            cudaMemcpyAsync(order_.get(), order.data(), n_ * sizeof(int), cudaMemcpyHostToDevice));
    }

    // The largest of |residual| / (norm |x|) over all right-hand sides; 0 where the residual is 0.
    double backward_error(const double* x, double norm) {
        find_sizes<<<sides_, 256>>>(residual_.get(), x, n_, sides_, sizes_.get());
        CHECK_LAUNCH();
        std::vector<Sizes> sizes(sides_);
        CHECK(cudaMemcpy(sizes.data(), sizes_.get(), sizes_.bytes(), cudaMemcpyDeviceToHost));
        double worst = 0;
        for (const Sizes& side : sizes) {
            const double error = side.residual == 0 ? 0 : side.residual / norm / side.solution;
            if (!(error <= worst)) worst = error;
        }
        return worst;
    }

    const int n_, sides_;
    DeviceArray<int> singular_;  // not asked for: without a pivot there is no progress
    Lu lu_;
    DeviceArray<float> floats_, ordered_, correction_;
    DeviceArray<double> residual_;
    DeviceArray<int> order_;
    DeviceArray<Sizes> sizes_;
    System<float> factors_;
};
