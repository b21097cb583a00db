// Runs the variants of parts two and three.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "request.cuh"

// The bits of the cells, as NumPy's int32.
inline void write_state(const std::string& path, const uint32_t* cells, int64_t count) {
    lab::write_array(path, reinterpret_cast<const int32_t*>(cells), {count});
}

inline void run_chain(lab::Study& study, const Request& request) {
    if (!works_on_chain(study)) return;
    const std::vector<uint32_t>& start = request.cells;
    const int count = int(start.size());
    std::vector<uint32_t> reference = start;
    lab::DeviceArray<uint32_t> d_first(count), d_second(count);
    const HostArray<uint32_t> h_cells(count);
    Handles handles;
    const Chain chain = {count,         request.steps,
                         request.keys,  {d_first.get(), d_second.get()},
                         h_cells.get(), handles.stream()};
    for (const uint32_t key : chain.keys) {
        const lab::NvtxRange range("reference");
        stir_on_cpu(reference, key, 1);
        for (int step = 0; step < chain.steps; ++step) step_on_cpu(reference);
    }
    load_kernels();
    const lab::HostTimer clock;
    const cudaGraphExec_t all =
        study.chosen("captured") ? capture(chain.stream, [&] { launch_rounds(chain); }) : nullptr;
    const double capture_ms = clock.milliseconds();
    const Round round = study.chosen("built") ? build_round(chain) : Round{};
    const double build_ms = clock.milliseconds() - capture_ms;
    const auto prepare = [&] {
        d_first.upload(start.data(), count), d_second.poison();
        std::memset(h_cells.get(), 0xFF, chain.bytes());
        CHECK(cudaDeviceSynchronize());
    };
    const auto judge = [&] {
        CHECK(cudaDeviceSynchronize());
        return lab::compare(h_cells.get(), reference.data(), count);
    };
    const auto run = [&](const char* name, const auto& work, double made_in) {
        const auto launch = [&] { return work(), chain.shape(); };
        const lab::Trial trial = study.run(name, prepare, launch, judge);
        const double kernels = double(chain.keys.size()) * (request.steps + 1);
        if (trial.milliseconds > 0)
            study.note(lab::format(
                "%s: %.3f us a kernel%s", name, 1e3 * trial.milliseconds / kernels,
                made_in > 0 ? lab::format("; its graph was made in %.3f ms", made_in).c_str()
                            : ""));
    };
    run(
        "one_by_one", [&] { launch_rounds(chain); }, 0);
    const auto launch_captured = [&] {
        if (all) CHECK(cudaGraphLaunch(all, chain.stream));
    };
    run("captured", launch_captured, capture_ms);
    run(
        "built", [&] { launch_built(chain, round); }, build_ms);
    if (!request.state.empty() && study.only_one() != "urgent")
        write_state(request.state, h_cells.get(), count);
    if (all) CHECK(cudaGraphExecDestroy(all));
    if (round.executable) CHECK(cudaGraphExecDestroy(round.executable));
    if (round.graph) CHECK(cudaGraphDestroy(round.graph));
}

// A kernel of many blocks in one stream, then a small one in the other: how long until that has ended?
inline void run_urgent(lab::Study& study, const Request& request) {
    if (!study.chosen("urgent")) return;
    const std::vector<uint32_t>& start = request.cells;
    const int count = int(start.size()), large = lab::on_cpu ? 4096 : 1 << 22,
              times = lab::on_cpu ? 5 : 4000;
    std::vector<uint32_t> reference = start, cells(count);
    step_on_cpu(reference);
    const lab::DeviceArray<uint32_t> d_from(start);
    lab::DeviceArray<uint32_t> d_to(count), d_large(large);
    CHECK(cudaMemset(d_large.get(), 0, d_large.bytes()));
    load_kernels();
    Handles handles;
    const cudaEvent_t begin = handles.event(cudaEventDefault),
                      end = handles.event(cudaEventDefault);
    const auto measure = [&](const std::string& name, const TwoStreams& streams,
                             bool judge_priorities) {
        const lab::Launch shape = cells_shape(count), shape_of_large = cells_shape(large);
        std::vector<double> waits;
        for (int i = 0; i < (lab::on_cpu ? 1 : 5); ++i) {
            d_to.poison();
            CHECK(cudaDeviceSynchronize());
            CHECK(cudaEventRecord(begin, streams.background));
            stir_kernel<<<shape_of_large.grid, shape_of_large.block, 0, streams.background>>>(
                d_large.get(), large, 1, times);
            CHECK(cudaGetLastError());
            step_kernel<<<shape.grid, shape.block, 0, streams.urgent>>>(d_from.get(), d_to.get(),
                                                                        count);
            CHECK(cudaGetLastError());
            CHECK(cudaEventRecord(end, streams.urgent));
            CHECK(cudaDeviceSynchronize());
            float passed = 0;
            CHECK(cudaEventElapsedTime(&passed, begin, end));
            waits.push_back(passed);
        }
        std::sort(waits.begin(), waits.end());
        d_to.download(cells);
        lab::Comparison comparison = lab::compare(cells.data(), reference.data(), count);
        int of_background = 0, of_urgent = 0, lowest = 0, highest = 0;
        CHECK(cudaStreamGetPriority(streams.background, &of_background));
        CHECK(cudaStreamGetPriority(streams.urgent, &of_urgent));
        CHECK(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
        if (judge_priorities && (of_background != lowest || of_urgent != highest))
            comparison = wrong_because(
                lab::format("the priorities are %d and %d; the lowest is %d, the highest %d",
                            of_background, of_urgent, lowest, highest));
        for (const cudaStream_t stream : {streams.background, streams.urgent}) {
            unsigned int flags = 0;
            CHECK(cudaStreamGetFlags(stream, &flags));
            if (flags != cudaStreamNonBlocking)
                comparison = wrong_because(
                    "the default stream waits for these streams: make both with "
                    "cudaStreamNonBlocking");
        }
        study.add(name, shape.grid, shape.block, comparison.right() ? waits[waits.size() / 2] : 0,
                  0, 0, comparison);
        CHECK(cudaStreamDestroy(streams.background));
        CHECK(cudaStreamDestroy(streams.urgent));
    };
    TwoStreams alike;
    CHECK(cudaStreamCreateWithFlags(&alike.background, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&alike.urgent, cudaStreamNonBlocking));
    measure("urgent alike", alike, false);
    measure("urgent first", make_streams(), true);
    if (!request.state.empty()) write_state(request.state, cells.data(), count);
}
