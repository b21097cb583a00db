// The variants of this folder, in the order of the ladder.
#pragma once

#include <memory>

#include "../given/solver.h"
#include "lu_factors.cuh"
#include "refined.cuh"

// Why the tensor cores cannot help here, or "".
template <class T>
std::string tensor_cores_missing() {
#ifndef CUDA_ON_CPU
    const Device device = Device::current();
    cudaFuncAttributes attributes;
    if (device.capability < 80) return "needs compute capability 8.0";
    CHECK(cudaFuncGetAttributes(&attributes, update_by_tensor_cores<UsualTile<T>>));
    if (attributes.ptxVersion < 80)
        return "compiled for an older card: nvcc -arch=native, or make ARCH=native";
#endif
    return "";
}

// Why one block cannot keep a panel of so many rows, or "".
inline std::string one_block_missing(int64_t n) {
    constexpr int64_t most = rows_of_block(4, panel_most_threads);
    if (n <= most) return "";
    return lab::format("one block has no more than %lld rows in its registers", (long long)most);
}

// Floats that are factored and solved with as `tensor` does it, or `team` where there are no tensor cores.
class TeamFactors {
 public:
    TeamFactors(int n, int* singular)
        : lu_(n, PanelBy::team,
              tensor_cores_missing<float>().empty() ? UpdateBy::tensor_cores : UpdateBy::registers,
              singular) {}

    void factor(const System<float>& system) {
        lu_.factor(system, true);
        if (!between_)
            between_ = std::make_unique<DeviceArray<float>>(int64_t{system.n} * system.sides());
    }

    void solve_factored(const System<float>& system, const float* b, float* x) {
        const int sides = system.sides();
        lu_.launch_substitute<true>(system, {b, sides, sides}, between_->get(), nullptr);
        lu_.launch_substitute<false>(system, {between_->get(), sides, sides}, x, nullptr);
    }

    const int* pivots() const { return lu_.pivots(); }

 private:
    LuFactors<float> lu_;
    std::unique_ptr<DeviceArray<float>> between_;
};

template <class T>
Variant<T> variant_by_blocks(const char* name, const Solver<T>& solver, PanelBy panel_by,
                             UpdateBy update_by, const std::string& reason) {
    const int n = solver.n();
    std::shared_ptr<LuFactors<T>> lu;  // made when it is needed
    const auto solve = [=, &solver](int&) mutable {
        int* const singular = solver.work().singular;
        if (!lu) lu = std::make_shared<LuFactors<T>>(n, panel_by, update_by, singular);
        lu->solve(solver.work().system, solver.work().x);
        const PanelShape shape = lu->panel_shape(n);
        return lab::Launch{dim3(shape.blocks), dim3(shape.threads)};
    };
    return {name, solve, reason};
}

template <class T>
std::vector<Variant<T>> further_variants(const Solver<T>& solver) {
    std::vector<Variant<T>> variants = {
        variant_by_blocks("one_block", solver, PanelBy::one_block, UpdateBy::registers,
                          one_block_missing(solver.n())),
        variant_by_blocks("team", solver, PanelBy::team, UpdateBy::registers, ""),
        variant_by_blocks("tensor", solver, PanelBy::team, UpdateBy::tensor_cores,
                          tensor_cores_missing<T>()),
        {"refined_team", {}, "its answers are doubles"}};
    if constexpr (is_double<T>) {
        const bool by_tensor_cores = variants[2].reason.empty();
        variants.back() = refined_variant<TeamFactors>("refined_team", solver,
                                                       variants[by_tensor_cores ? 2 : 1].solve, "");
    }
    return variants;
}

template std::vector<Variant<float>> further_variants(const Solver<float>& solver);
template std::vector<Variant<double>> further_variants(const Solver<double>& solver);
