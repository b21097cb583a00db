// The program: the reference, the launches, the table of variants, the options, and the run of each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "../../../common/array_file.h"
#include "../../../common/lab.h"

// CPU reference. Element i takes path i % paths. All is arithmetic of 32 bits without a sign, exact
// everywhere.

// The work of one path on up to 64 values: side by side, so that the compiler can vectorise it.
inline void work_on_cpu(uint32_t* values, int count, int path, int rounds) {
    for (int round = 0; round < rounds; round++) {
        for (int k = 0; k < count; k++) {
            values[k] = (values[k] ^ (values[k] >> shift_of(path))) * factor_of(path) + path;
        }
    }
}

inline void paths_on_cpu(const uint32_t* x, uint32_t* y, int64_t count, int paths, int rounds) {
    const auto take_group = [&](int64_t first) {
        for (int path = 0; path < paths; path++) {
            uint32_t values[64];
            int taken = 0;
            for (int64_t i = first + path; i < count && taken < 64; i += paths)
                values[taken++] = x[i];
            work_on_cpu(values, taken, path, rounds);
            for (int k = 0; k < taken; k++) y[first + path + int64_t{k} * paths] = values[k];
        }
    };
    const int64_t group = 64 * paths;
    const auto work = [&](int64_t, int64_t begin, int64_t end) {
        for (int64_t k = begin; k < end; k++) take_group(k * group);
    };
    lab::in_parts(lab::divide_up(count, group), work, group * rounds);
}

inline void short_branch_on_cpu(const uint32_t* x, uint32_t* y, int64_t count) {
    for (int64_t i = 0; i < count; i++) y[i] = i % 2 == 0 ? x[i] + salt : x[i] ^ salt;
}

// Beyond the end of the array stand zeros. Path 0 for the lower half of 32 values, 1 for the upper;
// then each value less its neighbour in the half, and that less its counterpart in the other half.
inline void exchange_on_cpu(const uint32_t* x, uint32_t* y, int64_t count, int rounds) {
    for (int64_t first = 0; first < count; first += 2 * half_warp) {
        const int present = int(std::min<int64_t>(2 * half_warp, count - first));
        uint32_t own[2 * half_warp] = {}, pair[2 * half_warp];
        std::copy(x + first, x + first + present, own);
        work_on_cpu(own, half_warp, 0, rounds);
        work_on_cpu(own + half_warp, half_warp, 1, rounds);
        for (int lane = 0; lane < 2 * half_warp; lane++) {
            const int next = lane / half_warp * half_warp + (lane + 1) % half_warp;
            pair[lane] = own[lane] - own[next];
        }
        for (int k = 0; k < present; k++) y[first + k] = pair[k] - pair[k ^ half_warp];
    }
}

template <class Rounds>
using Kernel = void (*)(const uint32_t* x, uint32_t* y, unsigned count, int paths, Rounds rounds);

// A thread an element; rounded up to whole groups of 32 * paths, since by_warp shares out those.
inline dim3 grid_of(int64_t count, int paths, dim3 block) {
    const int64_t threads = lab::divide_up(count, 32 * paths) * 32 * paths;
    return dim3(unsigned(lab::divide_up(threads, block.x)));
}

template <class Rounds, Kernel<Rounds> kernel>
lab::Launch launch(dim3 block, const uint32_t* d_x, uint32_t* d_y, int64_t count, int paths,
                   Rounds rounds) {
    const dim3 grid = grid_of(count, paths, block);
    kernel<<<grid, block>>>(d_x, d_y, unsigned(count), paths, rounds);
    CHECK_LAUNCH();
    return {grid, block};
}

template <class Rounds>
using Launcher = lab::Launch (*)(dim3 block, const uint32_t* d_x, uint32_t* d_y, int64_t count,
                                 int paths, Rounds rounds);

struct Variant {
    const char* name;
    int paths;  // 0: as many as wanted
    Launcher<int> launch;
    Launcher<RecordedRounds> record;  // or nullptr
};

#define RECORDED(kernel) launch<int, kernel<int>>, launch<RecordedRounds, kernel<RecordedRounds>>

const Variant all_variants[] = {
    {"short_branch", 2, launch<int, short_branch>, nullptr},
    {"thread_parity", 2, RECORDED(thread_parity)},
    {"warp_parity", 2, RECORDED(warp_parity)},
    {"by_thread", 0, RECORDED(by_thread)},
    {"by_warp", 0, RECORDED(by_warp)},
    {"exchange", 2, launch<int, exchange>, nullptr},
};

// One row of the table.
struct Task {
    const Variant* variant;
    int paths;
    std::string name() const {
        return variant->name + (variant->paths ? "" : lab::format(" %d paths", paths));
    }
};

inline std::vector<Task> tasks_of(const lab::Study& study, const std::vector<int>& ladder) {
    std::vector<Task> tasks;
    for (const Variant& variant : all_variants) {
        if (!study.chosen(variant.name)) continue;
        if (variant.paths) tasks.push_back({&variant, variant.paths});
        for (const int paths : ladder) {
            if (!variant.paths) tasks.push_back({&variant, paths});
        }
    }
    return tasks;
}

inline std::vector<uint32_t> reference_of(const Task& task, const std::vector<uint32_t>& x,
                                          int rounds) {
    const lab::NvtxRange range("reference");
    std::vector<uint32_t> y(x.size());
    const std::string name = task.variant->name;
    if (name == "short_branch") {
        short_branch_on_cpu(x.data(), y.data(), x.size());
    } else if (name == "exchange") {
        exchange_on_cpu(x.data(), y.data(), x.size(), rounds);
    } else {
        paths_on_cpu(x.data(), y.data(), x.size(), task.paths, rounds);
    }
    return y;
}

// Bits are bits: files hold them as int32.
inline std::vector<uint32_t> read_input(const std::string& path, int64_t count) {
    constexpr int64_t most = int64_t{1} << 30;
    if (path.empty()) return lab::random_values<uint32_t>(count, 0, UINT32_MAX, 1);
    const lab::Array<int32_t> file = lab::read_array<int32_t>(path, 1);
    if (file.count() > most) lab::refuse("--input has more than 1073741824 elements");
    return {file.values.begin(), file.values.end()};
}

// Runs once more and writes which paths each thread of the grid took, as int32: bit k for path k.
inline void write_paths(const std::string& path, const Task& task, dim3 block, const uint32_t* d_x,
                        uint32_t* d_y, int64_t count, int rounds) {
    std::vector<int32_t> h_taken(int64_t{grid_of(count, task.paths, block).x} * block.x);
    const lab::DeviceArray<uint32_t> d_taken(std::vector<uint32_t>(h_taken.size()));
    task.variant->record(block, d_x, d_y, count, task.paths, {rounds, d_taken.get()});
    CHECK(cudaMemcpy(h_taken.data(), d_taken.get(), d_taken.bytes(), cudaMemcpyDeviceToHost));
    lab::write_array(path, h_taken.data(), {int64_t(h_taken.size())});
}

// The times of the same work, shared out in two ways.
inline void note_slowdown(lab::Study& study, const std::string& slow, const std::string& quick,
                          double slow_milliseconds, double quick_milliseconds) {
    if (lab::on_cpu || slow_milliseconds <= 0 || quick_milliseconds <= 0) return;
    study.note(lab::format("%s takes %.2f times as long as %s", slow.c_str(),
                           slow_milliseconds / quick_milliseconds, quick.c_str()));
}

inline int run_program(int argc, char** argv) {
    lab::Arguments arguments(argc, argv, "Runs the same work with and without divergent warps.");
    int64_t count = arguments.integer("elements", lab::on_cpu ? 16 * 1024 : 4 * 1024 * 1024, 0,
                                      int64_t{1} << 30, "elements of random input");
    const int rounds = arguments.integer("rounds", lab::on_cpu ? 64 : 256, 0, 1000000,
                                         "steps of the work on each element");
    const int paths =
        arguments.integer("paths", most_paths, 1, most_paths,
                          "paths of by_thread and by_warp; without it 1, 2, 4 ... 32");
    const dim3 block = arguments.block("block", dim3(256), "threads of a block, whole warps", 1);
    const std::string input_path = arguments.input("input", "the elements, int32 .npy");
    const std::string output_path = arguments.output("output", "the result, of one variant");
    const std::string taken_path = arguments.output(
        "paths-output", "the paths that each thread took, int32 .npy: bit k for path k");
    lab::Study study(arguments, lab::names_of(all_variants));
    arguments.finish();
    std::vector<int> ladder = {1, 2, 4, 8, 16, 32};
    if (arguments.given("paths")) ladder = {paths};
    const std::vector<Task> tasks = tasks_of(study, ladder);
    if (block.x % 32 != 0) lab::refuse("--block: this lab wants whole warps, a multiple of 32");
    arguments.excludes("input", {"elements"}, "random input");
    if (!output_path.empty() && tasks.size() != 1) {
        lab::refuse("--output takes one result: choose with --variant, and --paths for a switch");
    }
    if (!taken_path.empty() && (tasks.size() != 1 || !tasks[0].variant->record)) {
        lab::refuse(
            "--paths-output takes one of thread_parity, warp_parity, by_thread and by_warp: choose "
            "with --variant, and --paths for a switch");
    }
    lab::require_host_memory(4 * sizeof(uint32_t) * count, "elements of this number");
    const std::vector<uint32_t> x = read_input(input_path, count);
    count = x.size();
    if (count == 0) {  // a grid without blocks cannot be launched, and need not be
        for (const std::string& path : {output_path, taken_path}) {
            if (!path.empty()) lab::write_array<int32_t>(path, nullptr, {0});
        }
        std::printf("0 elements: the result is empty, and nothing is launched\n");
        return 0;
    }

    lab::require_device();
    lab::require_device_memory(2 * sizeof(uint32_t) * count, "the elements and the result");
    study.size(lab::format("%lld elements, %d rounds", static_cast<long long>(count), rounds));
    const lab::DeviceArray<uint32_t> d_x(x);
    lab::DeviceArray<uint32_t> d_y(count);
    std::vector<uint32_t> h_y(count);
    std::vector<double> times;
    for (const Task& task : tasks) {
        const std::vector<uint32_t> reference = reference_of(task, x, rounds);
        const auto launch = [&] {
            return task.variant->launch(block, d_x.get(), d_y.get(), count, task.paths, rounds);
        };
        const auto judge = [&] {
            d_y.download(h_y);
            return lab::compare(h_y.data(), reference.data(), count);
        };
        const lab::Trial trial = study.run(
            task.name(), [&] { d_y.poison(); }, launch, judge);
        times.push_back(trial.milliseconds);
    }
    for (size_t slow = 0; slow < tasks.size(); slow++) {
        for (size_t quick = slow + 1; quick < tasks.size(); quick++) {
            const std::string pair =
                std::string(tasks[slow].variant->name) + " " + tasks[quick].variant->name;
            if (pair != "thread_parity warp_parity" && pair != "by_thread by_warp") continue;
            if (tasks[slow].paths != tasks[quick].paths) continue;
            note_slowdown(study, tasks[slow].name(), tasks[quick].variant->name, times[slow],
                          times[quick]);
        }
    }
    if (!output_path.empty()) {
        const std::vector<int32_t> words(h_y.begin(), h_y.end());
        lab::write_array(output_path, words.data(), {count});
    }
    if (!taken_path.empty()) {
        write_paths(taken_path, tasks[0], block, d_x.get(), d_y.get(), count, rounds);
    }
    return study.finish();
}
