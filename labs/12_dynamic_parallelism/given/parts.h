// The three parts of the program, from the host's side.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "../../../common/array_file.h"
#include "../../../common/image.h"

// What may have led to an error of a launch from the device.
const char* advice_for(cudaError_t error) {
    if (error == cudaErrorLaunchPendingCountExceeded) {
        return "; does only one thread of a block launch? If so, a larger --smallest needs fewer";
    }
    if (error != cudaErrorInvalidConfiguration) return "";
    return "; is there a grid without blocks, or a block of more than 1024 threads?";
}

inline Tally read_tally(const Tally* d_tally) {
    Tally tally;
    CHECK(cudaMemcpy(&tally, d_tally, sizeof tally, cudaMemcpyDeviceToHost));
    const cudaError_t error = static_cast<cudaError_t>(tally.error);
    if (error != cudaSuccess) {
        lab::fail("a launch from the device failed: %s: %s%s", cudaGetErrorName(error),
                  cudaGetErrorString(error), advice_for(error));
    }
    return tally;
}

inline void run_hello(int blocks, int threads) {
    lab::require_device();
    size_t room = 0;  // for every line that the device prints before the host reads them
    CHECK(cudaDeviceGetLimit(&room, cudaLimitPrintfFifoSize));
    room = std::max<size_t>(room, size_t{200} * blocks * (2 * threads + 32));
    CHECK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, room));
    const lab::DeviceArray<Tally> d_tally(std::vector<Tally>(1));
    std::printf("host: launches %d block%s of %d\n", blocks, blocks == 1 ? "" : "s", threads);
    std::fflush(stdout);  // the host's line stays before those of the device
    nested_hello<<<blocks, threads>>>(threads, 0, d_tally.get());
    CHECK_LAUNCH();
    CHECK(cudaDeviceSynchronize());
    const Tally tally = read_tally(d_tally.get());
    std::printf("host: all have ended; %llu %s launched from the device\n", tally.launches,
                tally.launches == 1 ? "grid was" : "grids were");
}

inline void run_streams() {
    lab::require_device();
    const lab::DeviceArray<Notes> d_notes(std::vector<Notes>(1));
    const lab::DeviceArray<Tally> d_tally(std::vector<Tally>(1));
    std::printf("host: launches the parent\n");
    std::fflush(stdout);
    parent_kernel<<<1, 1>>>(d_notes.get(), d_tally.get());
    CHECK_LAUNCH();
    if (!has_tail_launch) {  // the next launch of the host runs behind the whole family as well
        tail_kernel<<<1, 1>>>(d_notes.get());
        CHECK_LAUNCH();
    }
    CHECK(cudaDeviceSynchronize());
    read_tally(d_tally.get());
    std::printf("host: the parent and all that it launched have ended\n");
}

// Black inside; outside the dwell's root goes round the colours, so that near the set they differ.
inline std::vector<uint8_t> colours_of(const std::vector<int32_t>& dwells, int limit) {
    std::vector<uint8_t> pixels(3 * dwells.size(), 0);
    for (size_t i = 0; i < dwells.size(); i++) {
        if (dwells[i] >= limit) continue;
        for (int channel = 0; channel < 3; channel++) {
            const double angle = 0.8 * std::sqrt(double(dwells[i])) + 3.6 - 0.9 * channel;
            pixels[3 * i + channel] = uint8_t(127.5 + 127.4 * std::sin(angle));
        }
    }
    return pixels;
}

struct Request {
    View view;
    int64_t tile;  // the longest side of the first rectangles
    std::string output_path, picture_path;
};

// How far the cutting can go: levels, launches of device_launches, rectangles of the last level.
struct Reach {
    int levels;
    int64_t launches, rectangles;
};

// A rectangle is cut as long as its sides are longer than `smallest`; a part's are at most half of the
// inside's, rounded up. The parts of a level do not overlap: there are no more than pixels.
inline Reach reach_of(const Request& request) {
    const View& view = request.view;
    Reach reach = {
        1, 0, lab::divide_up(view.height, request.tile) * lab::divide_up(view.width, request.tile)};
    for (int64_t side = request.tile; side > view.smallest; side = (side - 1) / 2) {
        reach.launches += reach.rectangles;
        reach.rectangles *= 4;
        reach.levels++;
    }
    reach.rectangles = std::min(reach.rectangles, int64_t{view.height} * view.width);
    return reach;
}

// A grid launched from the device waits in a buffer of fixed length until it can run. It holds 2048
// by default; one launch more fails, and the rest of the picture would stay empty.
inline void make_room_for_launches(const Job& job) {
    constexpr int64_t usual = 2048, most = 1 << 18;
    const int64_t wanted = std::min(std::max(job.most_launches, usual), most);
    CHECK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, size_t(wanted)));
}

inline std::vector<int32_t> run_variant(const Variant& variant, const Job& job,
                                        const std::vector<int32_t>& expected, lab::Study& study) {
    std::vector<int32_t> dwells(expected.size());
    const size_t bytes = dwells.size() * sizeof(int32_t);
    Tally tally = {};
    const auto prepare = [&] {
        CHECK(cudaMemset(job.dwells, 0xFF, bytes));  // -1: what no thread writes will show
        CHECK(cudaMemset(job.tally, 0, sizeof(Tally)));
    };
    const auto judge = [&] {
        CHECK(cudaDeviceSynchronize());
        tally = read_tally(job.tally);  // a launch from the device may have failed
        CHECK(cudaMemcpy(dwells.data(), job.dwells, bytes, cudaMemcpyDeviceToHost));
        return lab::compare(dwells.data(), expected.data(), int64_t(dwells.size()));
    };
    study.run(
        variant.name, prepare, [&] { return variant.launch(job); }, judge);
    study.note(lab::format("%-16s %5.1f %% of the pixels computed, %llu launches from the device",
                           variant.name, 100.0 * double(tally.pixels) / double(dwells.size()),
                           tally.launches));
    return dwells;
}

inline void run_picture(const Request& request, lab::Study& study) {
    const View& view = request.view;
    lab::require_device();
    std::vector<int32_t> expected(int64_t{view.height} * view.width), dwells;  // of all pixels
    lab::HostTimer clock;
    {
        const lab::NvtxRange range("reference");
        dwells_on_cpu(view, expected.data());
    }
    study.note(
        lab::format("direct, on all cores of the CPU: %.1f ms; the largest parts of the set "
                    "by a formula",
                    clock.milliseconds()));
    const Reach reach = reach_of(request);
    const lab::DeviceArray<int32_t> d_dwells(expected.size());
    const lab::DeviceArray<Rectangle> d_even(reach.rectangles), d_odd(reach.rectangles);
    // one more, always 0: who goes a level too far finds nothing there
    const lab::DeviceArray<unsigned> d_counts(reach.levels + 1);
    const lab::DeviceArray<Tally> d_tally(1);
    const Job job = {view,
                     int(lab::divide_up(view.height, request.tile)),
                     int(lab::divide_up(view.width, request.tile)),
                     reach.launches,
                     {{d_even.get(), d_odd.get()}, d_counts.get(), reach.levels},
                     d_dwells.get(),
                     d_tally.get()};
    make_room_for_launches(job);
    std::vector<int32_t> filled = expected;
    fill_on_cpu(view, job.whole(), job.rows, job.columns, expected, filled);
    int64_t differ = 0;
    for (size_t i = 0; i < filled.size(); i++) differ += filled[i] != expected[i];
    study.note(lab::format("filling rectangles changes %lld of %zu pixels",
                           static_cast<long long>(differ), filled.size()));
    for (const Variant& variant : all_variants) {
        if (!study.chosen(variant.name)) continue;
        dwells = run_variant(variant, job, variant.fills ? filled : expected, study);
    }
    if (!request.output_path.empty()) {
        lab::write_array(request.output_path, dwells.data(), {view.height, view.width});
    }
    if (!request.picture_path.empty()) {
        lab::write_image(request.picture_path, colours_of(dwells, view.limit).data(), view.height,
                         view.width, 3);
    }
    study.size(lab::format("%d x %d pixels, limit %d, rectangles of %lld down to %d", view.height,
                           view.width, view.limit, static_cast<long long>(request.tile),
                           view.smallest));
}
