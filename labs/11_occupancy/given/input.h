// What the kernels work on, and the CPU's reference.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "../../../common/array_file.h"
#include "options.h"

inline void square_on_cpu(const float* x, float* y, int64_t count, int steps) {
    const lab::NvtxRange range("reference");
    for (int64_t i = 0; i < count; i++) {
        y[i] = x[i];
        for (int step = 0; step < steps; step++) y[i] = std::fma(y[i], y[i], constant);
    }
}

// next: (rows, width), ends: (walkers, width); width is 1, or 32 where every lane has links of its
// own. Walker w starts at row w % rows.
inline void walk_on_cpu(const int32_t* next, int64_t rows, int width, int32_t* ends,
                        int64_t walkers, int steps) {
    const lab::NvtxRange range("reference");
    for (int64_t i = 0; i < walkers * width; i++) {
        ends[i] = i / width % rows;
        for (int step = 0; step < steps; step++) {
            ends[i] = next[int64_t{ends[i]} * width + i % width];
        }
    }
}

// Random values repeat after so many, and so does the reference, which would take minutes.
constexpr int64_t period = 4096;

inline std::vector<float> random_starts(int64_t count) {
    const std::vector<float> once = lab::random_values<float>(period, -1, 1, 1);
    std::vector<float> values(count);
    for (int64_t i = 0; i < count; i++) values[i] = once[i % period];
    return values;
}

// A permutation that is one single cycle, so that no walker comes back before it has been everywhere.
inline std::vector<int32_t> random_cycle(int64_t rows) {
    const std::vector<uint64_t> random = lab::random_values<uint64_t>(rows, 0, UINT64_MAX, 2);
    std::vector<int32_t> next(rows);
    for (int64_t i = 0; i < rows; i++) next[i] = i;
    for (int64_t i = rows - 1; i > 0; i--) std::swap(next[i], next[random[i] % uint64_t(i)]);
    return next;
}

// (rows) or (rows, 32); the second is for checking that each lane reads its own number.
inline lab::Array<int32_t> read_links(const std::string& path) {
    const lab::Array<int32_t> file = lab::read_array<int32_t>(path);
    const bool fits =
        file.shape.size() == 1 || (file.shape.size() == 2 && file.shape[1] == warp_size);
    if (!fits) lab::refuse("--links wants the shape (rows) or (rows, 32)");
    if (file.shape[0] == 0) lab::refuse("--links has no rows: a walk needs one at least");
    for (const int32_t next : file.values) {
        if (next < 0 || next >= file.shape[0]) {
            lab::refuse("--links leads to row %d, and has the rows 0 to %lld", next,
                        static_cast<long long>(file.shape[0] - 1));
        }
    }
    return file;
}

// What both the reference and the kernels take. The values are uploaded by each variant anew.
struct Input {
    std::vector<float> values;
    std::vector<int32_t> next;  // (rows, width)
    int64_t rows = 0;
    int width = 1;
    int32_t* d_links = nullptr;
};

// links: every number of `next` 32 times, unless there are 32 for a row already.
inline void spread(const Input& input, lab::DeviceArray<int32_t>& d_links) {
    if (input.width == warp_size) return d_links.upload(input.next.data(), input.next.size());
    const lab::DeviceArray<int32_t> d_next(input.next);
    const unsigned blocks = unsigned(lab::divide_up(input.rows * warp_size, 256));
    spread_kernel<<<blocks, 256>>>(d_next.get(), d_links.get(), input.rows);
    CHECK_LAUNCH();
}

inline int steps_of(const Variant& variant, const Options& options) {
    if (options.steps >= 0) return options.steps;
    if (lab::on_cpu) return 64;
    return variant.walks ? 64 : 2048;
}

// As many as were asked for, or as make so many waves.
inline int64_t items_of(const Variant& variant, const Options& options) {
    if (options.waves == 0) return variant.walks ? options.walkers : options.values;
    const int blocks = variant.blocks_by_api(options.threads, options.shared_bytes);
    const int64_t full = int64_t{lab::device_attribute(cudaDevAttrMultiProcessorCount)} * blocks;
    const int64_t grid = std::max<int64_t>(1, std::llround(options.waves * double(full)));
    return grid * variant.items_of_block(options.threads);
}
