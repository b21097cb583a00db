// 14 gauss_jordan: A X = B for n unknowns and any number of right-hand sides, by elimination with
// partial pivoting. From a student report's kernels to a solver by blocks, one idea a variant:
//
//   report         the report's algorithm, kernel by kernel; the host drives each step
//   on_device      the pivot's row stays on the device, and elimination finds the next candidates
//   gauss_jordan   eliminates above the diagonal as well: no substitution at the end
//   tiled          tiles of 32 x 128, and one launch a step: the last block takes the next pivot
//   blocked        LU: panels of columns in the registers of one block, the rest by matrix products
//   team           a panel is shared out over several blocks (a cluster, or any that run together)
//   tensor         the products by FP64 tensor cores (double only)
//   refined        factors in float, and refinement to the accuracy of double (double only)
//
// `cpu` is the same elimination on the host. make bench compares with cusolver, and with openblas on
// the host, where these are found.
//
// The pages: elimination.cuh has the first four variants, and nearly all that you write. The kernels of the
// others are in further/, and further/blocked.cuh has their order. In given/, reference.h is the CPU,
// input.h reads systems, system.h is what all of them share.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "elimination.cuh"
#include "further/blocked.cuh"
#include "given/input.h"
#include "given/reference.h"

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

template <class T>
constexpr bool is_double = std::is_same_v<T, double>;

struct Shape {
    dim3 grid, block;
};

// ---------------------------------------------------------------------------------------------
// Step by step: what the host launches

// What the kernels of a variant work on, and where they put what they find.
template <class T>
struct Work {
    System<T> system;
    T* x;  // (n, right-hand sides)
    Candidate *candidates, *pivot;
    unsigned* finished;  // 0 between launches
    int* singular;       // -1, or the first column without a pivot
};

inline unsigned blocks_for(int64_t count, int64_t threads) {
    return unsigned(lab::divide_up(count, threads));
}

// Four launches a step, and a copy that the host waits for: it must know the pivot's row to launch the
// exchange.
template <class T>
Shape launch_report(const Work<T>& work) {
    const System<T>& system = work.system;
    const int n = system.n;
    for (int k = 0; k < n; k++) {
        const unsigned blocks = blocks_for(n - k, search_threads);
        find_candidates<<<blocks, search_threads>>>(system, k, work.candidates);
        choose_candidate<<<1, 1>>>(work.candidates, int(blocks), work.pivot);
        CHECK_LAUNCH();
        Candidate pivot;
        CHECK(cudaMemcpy(&pivot, work.pivot, sizeof pivot, cudaMemcpyDeviceToHost));
        if (pivot.magnitude == 0) {
            CHECK(cudaMemcpy(work.singular, &k, sizeof k, cudaMemcpyHostToDevice));
            break;
        }
        if (pivot.row != k) {
            swap_rows<<<blocks_for(system.width - k, 1024), 1024>>>(system, k, pivot.row);
        }
        if (k + 1 < n) eliminate<<<n - 1 - k, 256>>>(system, k);
        CHECK_LAUNCH();
    }
    back_substitute<<<system.sides(), 256>>>(system, work.x);
    CHECK_LAUNCH();
    return {dim3(std::max(1, n - 1)), dim3(256)};
}

template <class T, bool jordan>
Shape launch_on_device(const Work<T>& work) {
    const System<T>& system = work.system;
    const int n = system.n;
    unsigned candidates = blocks_for(n, search_threads);
    find_candidates<<<candidates, search_threads>>>(system, 0, work.candidates);
    CHECK_LAUNCH();
    for (int k = 0; k < n; k++) {
        take_pivot<<<blocks_for(system.width - k, 256), 256>>>(system, k, work.candidates,
                                                               int(candidates), work.singular);
        CHECK_LAUNCH();
        candidates = blocks_for(jordan ? n : n - 1 - k, 8);
        if (candidates == 0) continue;
        eliminate_and_search<T, jordan><<<candidates, 256>>>(system, k, work.candidates);
        CHECK_LAUNCH();
    }
    if (jordan) {
        divide_by_diagonal<<<blocks_for(int64_t{n} * system.sides(), 256), 256>>>(system, work.x);
    } else {
        back_substitute<<<system.sides(), 256>>>(system, work.x);
    }
    CHECK_LAUNCH();
    return {dim3(blocks_for(n, 8)), dim3(256)};
}

template <class T>
Shape launch_tiled(const Work<T>& work) {
    const System<T>& system = work.system;
    const int n = system.n;
    const auto tiles = [&](int k) {
        // TODO 9 (about 2 lines): the grid of step k: along x as many tiles of tile_columns as cover the
        // columns from k + 1 to system.width, along y tiles of tile_rows for the rows k + 1 to n. They
        // replace the line below.
        return dim3(1 + 0 * k);
    };
    const unsigned candidates = blocks_for(n, search_threads);
    find_candidates<<<candidates, search_threads>>>(system, 0, work.candidates);
    take_pivot<<<blocks_for(system.width, 256), 256>>>(system, 0, work.candidates, int(candidates),
                                                       work.singular);
    CHECK_LAUNCH();
    for (int k = 0; k + 1 < n; k++) {
        eliminate_tile<<<tiles(k), 256>>>(system, k, work.candidates, work.finished, work.singular);
        CHECK_LAUNCH();
    }
    back_substitute<<<system.sides(), 256>>>(system, work.x);
    CHECK_LAUNCH();
    return {n > 1 ? tiles(0) : dim3(1), dim3(256)};
}

// ---------------------------------------------------------------------------------------------
// Variants

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

    // The solver by blocks with these parts, made once.
    LuFactors<T>& factors(PanelBy panel_by, UpdateBy update_by) {
        auto& factors = factors_[int(panel_by)][int(update_by)];
        if (!factors) {
            factors = std::make_unique<LuFactors<T>>(n_, panel_by, update_by, work_.singular);
        }
        return *factors;
    }

    Shape solve_by_blocks(PanelBy panel_by, UpdateBy update_by) {
        LuFactors<T>& lu = factors(panel_by, update_by);
        lu.solve(work_.system, work_.x);
        const PanelShape shape = lu.panel_shape(n_);
        return {dim3(shape.blocks), dim3(shape.threads)};
    }

    // Returns the shape, and says in `rounds` how many rounds it took; 0: doubles had to help.
    Shape solve_refined(int& rounds) {
        rounds = 0;
        if constexpr (is_double<T>) {
            if (!refinement_) refinement_ = std::make_unique<Refinement>(given());
            rounds = refinement_->solve(given(), norms_.largest, norms_.rows, work_.x);
            if (rounds > 0) return {dim3(blocks_for(n_, 256)), dim3(256)};
        }
        return solve_by_blocks(PanelBy::team, UpdateBy::registers);
    }

    // The factors on the host, for the condition of a matrix that the CPU would take too long for.
    HostFactors<T> host_factors() {
        LuFactors<T>& lu = factors(PanelBy::team, UpdateBy::registers);
        reset();
        lu.factor(work_.system, true);
        HostFactors<T> factors = {std::vector<T>(size_t(n_) * n_), order_of(lu.pivots(), n_), -1};
        CHECK(cudaMemcpy2D(factors.lu.data(), n_ * sizeof(T), work_.system.values,
                           stride_ * sizeof(T), n_ * sizeof(T), n_, cudaMemcpyDeviceToHost));
        factors.singular = singular();
        return factors;
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
    std::unique_ptr<LuFactors<T>> factors_[2][2];
    std::unique_ptr<Refinement> refinement_;
};

template <class T>
struct Variant {
    std::string name;
    Shape (*solve)(Solver<T>& solver, int& rounds);
    std::string reason;  // why it cannot run here, or ""
};

// Why the tensor cores cannot help here, or "".
template <class T>
std::string tensor_cores_missing() {
    if (!is_double<T>) return "multiplies doubles only";
#ifndef CUDA_ON_CPU
    const Device device = Device::current();
    cudaFuncAttributes attributes;
    if (device.capability < 80) return "needs compute capability 8.0";
    CHECK(
        cudaFuncGetAttributes(&attributes, update_by_tensor_cores<TensorTile<64, 64, 32, 32, 3>>));
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

template <class T>
std::vector<Variant<T>> all_variants(int64_t n) {
    return {
        {"report", [](Solver<T>& solver, int&) { return launch_report(solver.work()); }, ""},
        {"on_device",
         [](Solver<T>& solver, int&) { return launch_on_device<T, false>(solver.work()); }, ""},
        {"gauss_jordan",
         [](Solver<T>& solver, int&) { return launch_on_device<T, true>(solver.work()); }, ""},
        {"tiled", [](Solver<T>& solver, int&) { return launch_tiled(solver.work()); }, ""},
        {"blocked",
         [](Solver<T>& solver, int&) {
             return solver.solve_by_blocks(PanelBy::one_block, UpdateBy::registers);
         },
         one_block_missing(n)},
        {"team",
         [](Solver<T>& solver, int&) {
             return solver.solve_by_blocks(PanelBy::team, UpdateBy::registers);
         },
         ""},
        {"tensor",
         [](Solver<T>& solver, int&) {
             return solver.solve_by_blocks(PanelBy::team, UpdateBy::tensor_cores);
         },
         tensor_cores_missing<T>()},
        {"refined", [](Solver<T>& solver, int& rounds) { return solver.solve_refined(rounds); },
         is_double<T> ? "" : "its answers are doubles"},
    };
}

std::vector<std::string> variant_names() {
    std::vector<std::string> names = {"cpu",     "report", "on_device", "gauss_jordan", "tiled",
                                      "blocked", "team",   "tensor",    "refined"};
#ifdef WITH_CUSOLVER
    names.push_back("cusolver");
#endif
#ifdef WITH_OPENBLAS
    names.push_back("openblas");
#endif
    return names;
}

// What --without may name: a peer also where this build does not have it.
std::vector<std::string> names_with_peers() {
    std::vector<std::string> names = variant_names();
    names.insert(names.end(), {"cusolver", "openblas"});
    return names;
}

// ---------------------------------------------------------------------------------------------
// Running, judging, timing

struct Options {
    InputOptions input;
    std::vector<std::string> names;
    std::string output_path, study_path;
    bool cpu_asked_for;
};

// A run with what is known about all of its variants.
template <class T>
struct Run {
    const Options& options;
    const Problem<T>& problem;
    lab::Results& results;
    Norms norms;
    double allowed, allowed_by_jordan;  // of the backward error; of the variant gauss_jordan
    double operations;
    double condition;   // NaN: not known yet
    double backward;    // the largest backward error of a right solution
    std::vector<T> x;   // of the last variant that found one
    std::string study;  // lines for --study

    // Whether every variant must find all its pivots.
    bool is_regular() const { return condition * epsilon<T> < 1; }

    bool chosen(const std::string& name) const {
        return std::count(options.names.begin(), options.names.end(), name) > 0;
    }

    double allowed_for(const std::string& name) const {
        return name == "gauss_jordan" ? allowed_by_jordan : allowed;
    }

    bool is_right(const std::string& name, const std::vector<T>& solution) const {
        const double limit = allowed_for(name);
        return find_errors(problem, solution, norms.rows, limit).backward <= limit;
    }
};

// The largest backward error of a right solution. With partial pivoting it is at most of the order of 1
// but for matrices in which elements grow; of these the CPU's own elimination gives the measure. So does its
// Gauss-Jordan elimination for that variant, where the condition is bad.
constexpr double usual_backward_error = 16;

// What is wrong with X, which may be that nobody has written it, or that the type has no such numbers.
template <class T>
std::string what_is_wrong(const std::vector<T>& x, const Errors& errors, int64_t sides) {
    const auto is_finite = [](T value) { return std::isfinite(value); };
    const auto is_zero = [](T value) { return value == 0; };
    const char* const type = is_double<T> ? "double" : "float";
    const auto* const bytes = reinterpret_cast<const unsigned char*>(x.data());
    if (std::all_of(bytes, bytes + x.size() * sizeof(T), [](int byte) { return byte == 0xFF; })) {
        return "not one unknown was written";
    }
    if (!std::all_of(x.begin(), x.end(), is_finite)) {
        return lab::format(
            "X is not finite; if numbers become too large for a %s, divide B, or A and B, by a "
            "number",
            type);
    }
    if (std::all_of(x.begin(), x.end(), is_zero)) {
        return lab::format("X is 0; if it is too small for a %s, multiply B by a number", type);
    }
    return lab::format("A X is not B: in row %lld, column %lld it is %.6g, and B has %.6g there",
                       (long long)(errors.place / sides), (long long)(errors.place % sides),
                       errors.got, errors.expected);
}

// `later`: X is of a later run than the first one, which was right.
template <class T>
void report_errors(Run<T>& run, const std::string& name, Shape shape, double milliseconds,
                   bool later = false) {
    const double allowed = run.allowed_for(name);
    const Errors errors = find_errors(run.problem, run.x, run.norms.rows, allowed);
    lab::Comparison comparison;
    comparison.count = run.problem.n * run.problem.sides;
    comparison.later = later;
    if (errors.backward <= run.allowed) {
        run.backward = std::max(run.backward, errors.backward);
    } else if (errors.backward <= allowed) {
        run.results.note(
            "gauss_jordan: what it eliminates above the diagonal is magnified by the condition, on "
            "the CPU as well");
    } else {
        comparison.wrong = std::max<int64_t>(1, errors.above);
        comparison.first = errors.place;
        comparison.expected = errors.expected;
        comparison.got = errors.got;
        run.results.note(name + ": " + what_is_wrong(run.x, errors, run.problem.sides));
    }
    run.results.add(name, shape.grid, shape.block, milliseconds, 0, run.operations, comparison);
    run.results.note(lab::format("%s: largest |b - A x| %.3g, backward error %.3g", name.c_str(),
                                 errors.residual, errors.backward));
    run.study += lab::format("%s,%s,%lld,%g,%g,%.6g,%.6g,%.6g\n", name.c_str(),
                             is_double<T> ? "double" : "float", (long long)run.problem.n,
                             run.options.input.range, run.options.input.value, milliseconds,
                             errors.residual, errors.backward);
}

// No pivot: the matrix has none, or the variant has missed it.
template <class T>
void report_singular(Run<T>& run, const std::string& name, Shape shape, int column) {
    if (!run.is_regular()) {
        lab::fail("%s: A is singular to working precision: column %d (counted from 0) has no pivot",
                  name.c_str(), column);
    }
    lab::Comparison comparison;
    comparison.count = run.problem.n;
    comparison.wrong = run.problem.n - column;
    comparison.first = column;
    comparison.got = NAN;
    run.x.clear();
    run.results.add(name, shape.grid, shape.block, 0, 0, 0, comparison);
    run.results.note(
        lab::format("%s: no pivot found in column %d (counted from 0), where the CPU finds one",
                    name.c_str(), column));
}

// The median time of work() after setup(), which is not timed.
template <class Setup, class F>
double time_after(Setup&& setup, F&& work) {
    const lab::NvtxRange range("timing");
    const size_t fewest = 3, most = lab::on_cpu ? 3 : 20;
    lab::EventTimer timer;
    std::vector<double> times;
    double total = 0;
    while (times.size() < fewest || (times.size() < most && total < 300)) {
        setup();
        CHECK(cudaDeviceSynchronize());
        timer.start();
        work();
        timer.stop();
        times.push_back(timer.milliseconds());
        total += times.back();
        if (total > 20000) break;  // once more would be a minute
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

template <class T>
void run_variant(Run<T>& run, Solver<T>& solver, const Variant<T>& variant) {
    const lab::NvtxRange range(variant.name);
    if (!variant.reason.empty()) {
        run.results.skip(variant.name, variant.reason);
        return;
    }
    int rounds = -1;
    solver.reset();
    const Shape shape = variant.solve(solver, rounds);
    const int singular = solver.singular();
    if (singular >= 0) return report_singular(run, variant.name, shape, singular);
    const std::vector<T> first = solver.solution();
    const double milliseconds =
        time_after([&] { solver.reset(); }, [&] { variant.solve(solver, rounds); });
    run.x = solver.solution();  // of the last run: what is right only once shows
    const bool later = std::memcmp(first.data(), run.x.data(), first.size() * sizeof(T)) != 0 &&
                       run.is_right(variant.name, first);
    if (!later) run.x = first;
    report_errors(run, variant.name, shape, milliseconds, later);
    if (variant.name == "refined") {
        run.results.note(rounds > 0
                             ? lab::format("refined: %d round%s", rounds, rounds == 1 ? "" : "s")
                             : "refined: floats made no progress, so doubles have solved it");
    }
}

// The CPU's solution: the measure of what rounding does to this matrix, and a row of the table.
template <class T>
void run_on_cpu(Run<T>& run) {
    const lab::NvtxRange range("reference");
    const int64_t n = run.problem.n;
    const lab::HostTimer clock;
    const HostFactors<T> factors = factor_on_cpu(run.problem.a, n);
    run.x = solve_on_cpu(factors, run.problem.b, n, run.problem.sides);
    const double milliseconds = clock.milliseconds();
    run.condition = estimate_condition(factors, run.norms.columns, n);
    if (factors.singular >= 0) {
        if (run.options.names.size() > 1 || !run.chosen("cpu")) return;  // let the device say so
        lab::fail(
            "cpu: A is singular to working precision: column %lld (counted from 0) has no pivot",
            (long long)factors.singular);
    }
    const double backward = find_errors(run.problem, run.x, run.norms.rows, run.allowed).backward;
    if (backward > run.allowed / 8 && std::isfinite(backward)) run.allowed = 8 * backward;
    run.allowed_by_jordan = run.allowed;
    if (run.chosen("gauss_jordan") && !run.is_regular()) {
        const std::vector<T> x =
            solve_by_jordan_on_cpu(factors, run.problem.b, n, run.problem.sides);
        const double measure = find_errors(run.problem, x, run.norms.rows, run.allowed).backward;
        if (std::isfinite(measure)) run.allowed_by_jordan = std::max(run.allowed, 64 * measure);
    }
    if (run.chosen("cpu")) report_errors(run, "cpu", {dim3(0), dim3(0)}, milliseconds);
}

// ---------------------------------------------------------------------------------------------
// The libraries that make bench compares with

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

// ---------------------------------------------------------------------------------------------
// What the program says besides its table

// How many digits of the solution can be trusted: the condition magnifies the backward error, which
// is one rounding at least.
template <class T>
void note_condition(const Run<T>& run) {
    const double roundings = std::max(1.0, run.backward * double(run.problem.n));
    const double digits = -std::log10(run.condition * roundings * epsilon<T>);
    const std::string certain =
        digits >= 1 ? std::to_string(int(digits)) + " digits" : "not one digit";
    run.results.note(lab::format("condition about %.2g (1-norm): %s of the solution can be trusted",
                                 run.condition, certain.c_str()));
    if (run.backward > usual_backward_error) {
        run.results.note(
            lab::format("warning: elements of A grow while it is eliminated, as much on the CPU; "
                        "that is why the backward error is %.2g, where it is rarely above 1",
                        run.backward));
    }
    if (run.is_regular()) return;
    run.results.note(
        "warning: A is nearly singular: other coefficients that round to the same numbers have "
        "other solutions");
}

template <class T>
void note_memory(Run<T>& run) {
    size_t available = 0, total = 0;
    CHECK(cudaMemGetInfo(&available, &total));
    const int64_t n = run.problem.n, sides = run.problem.sides;
    const double bytes = double(Solver<T>::bytes(n, sides));
    int64_t largest = n;
    while (largest < largest_n &&
           double(Solver<T>::bytes(largest * 65 / 64 + 1, 1)) < double(total)) {
        largest = largest * 65 / 64 + 1;
    }
    while (largest > 1 && double(Solver<T>::bytes(largest, 1)) > double(total)) largest--;
    run.results.note(
        lab::format("memory: two copies of the system and x take %s, %.3g %% of the device's; in "
                    "use are %.3g %%; about n = %lld fits",
                    lab::bytes_text(bytes).c_str(), 100 * bytes / double(total),
                    100 * double(total - available) / double(total), (long long)largest));
}

// Appends what the studies of the handout are drawn from.
void append_study(const std::string& path, const std::string& lines) {
    if (path.empty()) return;
    std::FILE* const file = std::fopen(path.c_str(), "a");
    if (!file) lab::fail("cannot write %s: %s", lab::quoted(path).c_str(), std::strerror(errno));
    std::fseek(file, 0, SEEK_END);
    std::string text;
    if (std::ftell(file) == 0)
        text = "card,variant,type,n,range,value,milliseconds,residual,backward\n";
    const std::string card = lab::device_name();
    for (size_t at = 0; at < lines.size(); at = lines.find('\n', at) + 1) {
        text += '"' + card + "\"," + lines.substr(at, lines.find('\n', at) + 1 - at);
    }
    const bool written = std::fputs(text.c_str(), file) >= 0;
    if (std::fclose(file) != 0 || !written) {
        lab::fail("cannot write %s: %s", lab::quoted(path).c_str(), std::strerror(errno));
    }
}

template <class T>
void write_solution(const Options& options, const Problem<T>& problem, const std::vector<T>& x) {
    if (options.output_path.empty() || int64_t(x.size()) != problem.n * problem.sides) return;
    std::vector<int64_t> shape = {problem.n};
    if (!problem.b_is_vector) shape.push_back(problem.sides);
    lab::write_array(options.output_path, x.data(), shape);
}

std::string system_text(int64_t n, int64_t sides) {
    return lab::format("%lld unknown%s, %lld right-hand side%s", (long long)n, n == 1 ? "" : "s",
                       (long long)sides, sides == 1 ? "" : "s");
}

template <class T>
int run(const Options& options, lab::Results& results) {
    const Problem<T> problem = read_problem<T>(options.input);
    const int64_t n = problem.n, sides = problem.sides;
    if (n * sides == 0) {
        write_solution<T>(options, problem, {});
        std::printf("nothing to solve for: %s\n", system_text(n, sides).c_str());
        return 0;
    }
    lab::require_device();
    const double cube = double(n) * double(n) * double(n), square = double(n) * double(n);
    Run<T> run = {options,
                  problem,
                  results,
                  norms_of(problem.a, n),
                  usual_backward_error,
                  usual_backward_error,
                  2.0 / 3 * cube + 2 * square * double(sides),
                  NAN,
                  0,
                  {},
                  ""};
    if (!std::isfinite(run.norms.rows)) {
        lab::refuse(
            "the coefficients are so large that a row's sum overflows: divide A and B by a number");
    }
    const int64_t square_bytes = n * n * int64_t(sizeof(T));
    lab::require_device_memory(Solver<T>::bytes(n, sides) +
                                   (run.chosen("refined") ? square_bytes / 2 : 0) +
                                   (run.chosen("cusolver") ? square_bytes : 0),
                               "two copies of the system");
    results.size(lab::format("%s, %s, %s", system_text(n, sides).c_str(),
                             is_double<T> ? "double" : "float", problem.words.c_str()));
    const bool by_cpu = options.cpu_asked_for || cube + 3 * square * double(sides) <= 9e9;
    if (by_cpu) {
        run_on_cpu(run);
    } else if (run.chosen("cpu")) {
        results.skip("cpu", "takes long: ask for it by --variant cpu");
    }
    Solver<T> solver(problem, run.norms);
    for (const Variant<T>& variant : all_variants<T>(n)) {
        if (run.chosen(variant.name)) run_variant(run, solver, variant);
    }
#ifdef WITH_CUSOLVER
    if (run.chosen("cusolver")) run_cusolver(run, solver);
#endif
#ifdef WITH_OPENBLAS
    if (run.chosen("openblas")) run_openblas(run);
#endif
    if (int64_t(judged_sides(n, sides).size()) < sides) {
        results.note("judged by some of the right-hand sides, which are spread evenly");
    }
    if (!by_cpu) run.condition = estimate_condition(solver.host_factors(), run.norms.columns, n);
    note_condition(run);
    note_memory(run);
    const int status = results.finish();
    append_study(options.study_path, run.study);
    if (status != 77) write_solution(options, problem, run.x);
    return status;
}

int main(int argc, char** argv) {
    lab::Arguments arguments(argc, argv, "Solves A X = B by elimination with partial pivoting.");
    const std::string type = arguments.choice("type", {"float", "double"}, "double", "of elements");
    Options options;
    InputOptions& input = options.input;
    input.n =
        arguments.integer("n", lab::on_cpu ? 96 : 2048, 0, largest_n, "unknowns, for random A");
    input.sides = arguments.integer("sides", 1, 0, largest_n, "right-hand sides, without --b");
    input.range =
        arguments.real("range", 10, 1e-30, 1e30, "random coefficients lie between 0 and this");
    input.value = arguments.real("value", 1, -1e30, 1e30, "all of B, without --b");
    input.seed = arguments.integer("seed", 1, 0, int64_t{1} << 31, "of the random coefficients");
    input.a_path = arguments.input("a", "A: .npy of the type, or Matrix Market (.mtx)");
    input.b_path = arguments.input("b", "B: a vector, or a matrix with a column a right-hand side");
    input.inverse = arguments.flag("inverse", "B is the identity, so X is the inverse of A");
    options.output_path = arguments.output("output", "the solution of one variant, .npy");
    options.study_path = arguments.output("study", "append times and errors to this CSV file");
    options.names = arguments.variants(variant_names());
    lab::leave_out(options.names, names_with_peers(),
                   arguments.text("without", "", "variants to leave out: report,on_device"));
    options.cpu_asked_for =
        arguments.given("variant") && std::count(options.names.begin(), options.names.end(), "cpu");
    lab::Results results(arguments);
    arguments.finish();
    for (const char* name : {"n", "range", "seed"}) {
        if (!input.a_path.empty() && arguments.given(name)) {
            lab::refuse("--%s is for a random A: drop it, or --a", name);
        }
    }
    for (const char* name : {"sides", "value"}) {
        if ((!input.b_path.empty() || input.inverse) && arguments.given(name)) {
            lab::refuse("--%s is for a B that is not given: drop it, or %s", name,
                        input.inverse ? "--inverse" : "--b");
        }
    }
    if (input.inverse && !input.b_path.empty()) {
        lab::refuse("--inverse takes the identity for B: drop it, or --b");
    }
    if (!options.output_path.empty() && options.names.size() != 1) {
        lab::refuse("--output takes the solution of one variant: choose with --variant");
    }
    return type == "float" ? run<float>(options, results) : run<double>(options, results);
}
