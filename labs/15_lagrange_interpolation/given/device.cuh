// The nodes in device memory, and how many instructions the device starts a second. Included behind the kernels.
#pragma once

#include <vector>

#include "input.h"

// The nodes on the device, with their terms; made once.
class NodesOnDevice {
 public:
    explicit NodesOnDevice(const Problem& problem)
        : count_(problem.x.size()),
          given_x_(problem.x),
          given_y_(problem.y),
          x_(count_),
          terms_(count_),
          weights_(count_),
          exponents_(lab::divide_up(count_, group_size)),
          careful_(reasons) {
        const int exponent = unit_exponent(problem.x);
        nodes_ = {static_cast<int>(count_),
                  given_x_.get(),
                  given_y_.get(),
                  x_.get(),
                  terms_.get(),
                  exponents_.get(),
                  unit_factor(exponent, false),
                  unit_factor(exponent, true),
                  careful_.get()};
        std::vector<double> x;
        for (const double given : problem.x) {
            x.push_back(in_unit(given, nodes_.unit, nodes_.unit_again));
        }
        x_.upload(x.data(), count_);
        make_terms();
    }

    void make_terms() {
        launch_find_weights(nodes_, weights_.get(), terms_.get(), exponents_.get());
    }

    const Nodes& nodes() const { return nodes_; }

    void forget_careful() { CHECK(cudaMemset(careful_.get(), 0, careful_.bytes())); }

    // How many points took the careful way since they were forgotten, a number for each reason.
    std::vector<unsigned long long> careful() const {
        std::vector<unsigned long long> counts(reasons);
        careful_.download(counts);
        return counts;
    }

 private:
    int64_t count_;
    lab::DeviceArray<double> given_x_, given_y_, x_;
    lab::DeviceArray<Term> terms_;
    lab::DeviceArray<Scaled> weights_;
    lab::DeviceArray<int> exponents_;
    lab::DeviceArray<unsigned long long> careful_;
    Nodes nodes_;
};

// What this device can do: fused multiply-adds in double, in independent chains. In instructions
// (of one thread each) a second.
__global__ void multiply_add(double* sums, double factor) {
    double sum[8];
    for (int k = 0; k < 8; k++) sum[k] = threadIdx.x + k;
    for (int i = 0; i < 4096; i++) {
        for (int k = 0; k < 8; k++) sum[k] = sum[k] * factor + 1.0;
    }
    double all = 0;
    for (int k = 0; k < 8; k++) all += sum[k];
    sums[int64_t{blockIdx.x} * blockDim.x + threadIdx.x] = all;
}

inline double measured_instruction_rate() {
    const int blocks = lab::on_cpu ? 2 : 8 * lab::device_attribute(cudaDevAttrMultiProcessorCount);
    const lab::DeviceArray<double> sums(blocks * 256);
    const double milliseconds = lab::median_milliseconds([&] {
        multiply_add<<<blocks, 256>>>(sums.get(), 0.5);
        CHECK_LAUNCH();
    });
    return 8.0 * 4096 * 256 * blocks / (milliseconds * 1e-3);
}
