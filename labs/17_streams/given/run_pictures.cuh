// Runs the variants of part one: memory, streams and events, judging, the time line.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "request.cuh"

inline void draw_timeline(lab::Study& study, const Request& request, const std::string& name,
                          Picture picture) {
    Timeline timeline;
    picture.timeline = &timeline;
    CHECK(cudaDeviceSynchronize());
    const lab::HostTimer clock;
    launch_strips(picture);
    const double free_after = clock.milliseconds();
    CHECK(cudaDeviceSynchronize());
    timeline.read();
    for (const std::string& line : timeline.lines(name)) study.note(line);
    if (!lab::on_cpu)
        study.note(lab::format("  the host was free again after %.3f ms", free_after));
    if (!request.timeline.empty()) timeline.write(request.timeline, name);
}

inline void run_pictures(lab::Study& study, const Request& request, const lab::Image& image) {
    if (std::none_of(study.names().begin(), study.names().end(), is_of_picture)) return;
    const int64_t count = image.count();
    const int strips = request.strips_of(image.height);
    std::vector<uint8_t> pageable_input = image.pixels, pageable_output(count), reference(count);
    const HostArray<uint8_t> input(count), output(count);
    std::memcpy(input.get(), image.pixels.data(), count);
    lab::DeviceArray<uint8_t> d_input(count), d_output(count);
    std::vector<Arrival> arrivals(strips);
    Handles handles;
    Picture pinned = {int(image.height),
                      int(image.width),
                      strips,
                      input.get(),
                      output.get(),
                      d_input.get(),
                      d_output.get(),
                      arrivals.data(),
                      {},
                      {},
                      {}};
    for (int i = 0; i < strips; ++i) pinned.copied.push_back(handles.event());
    for (int i = 0; i < request.streams; ++i) {
        pinned.streams.push_back(handles.stream());
        pinned.joints.push_back(handles.event());
    }
    study.moves(2.0 * count);
    sharpen_on_cpu(image.pixels.data(), reference.data(), pinned.height, pinned.width);
    load_kernels();

    for (const std::string& name : study.names()) {
        if (!is_of_picture(name)) continue;
        Picture picture = pinned;
        if (name == "pageable")
            picture.h_input = pageable_input.data(), picture.h_output = pageable_output.data();
        if (name == "one_stream") picture.streams.resize(1);
        if (name == "with_default") picture.streams[0] = nullptr;
        for (int i = 0; i < strips; ++i) {
            const uint8_t* const rows = picture.h_output + picture.offset(i);
            arrivals[i] = {rows, rows + int64_t{picture.rows(i) - 1} * picture.width, picture.width,
                           -1};
        }
        const auto prepare = [&] {
            d_input.poison(), d_output.poison();
            std::memset(picture.h_output, 0xFF, count);
            for (Arrival& arrival : arrivals) arrival.sum = -1;
            CHECK(cudaDeviceSynchronize());
        };
        const cudaGraphExec_t graph =
            name == "graph" ? capture(picture.streams[0], [&] { launch_strips(picture); })
                            : nullptr;
        const auto launch = [&]() -> lab::Launch {
            if (name == "whole") return launch_whole(picture);
            if (name != "graph") return launch_strips(picture);
            if (graph) CHECK(cudaGraphLaunch(graph, picture.streams[0]));
            return sharpen_shape(picture.width, picture.rows(0));
        };
        const auto judge = [&] {
            CHECK(cudaDeviceSynchronize());
            return lab::compare(picture.h_output, reference.data(), count);
        };
        const lab::Trial trial = study.run(name, prepare, launch, judge);
        const bool in_strips = name != "whole" && name != "graph" && !lab::runs_once;
        if (trial.comparison.right() && in_strips) draw_timeline(study, request, name, picture);
        const auto silent = std::count_if(arrivals.begin(), arrivals.end(),
                                          [](const Arrival& arrival) { return arrival.sum < 0; });
        if (silent > 0 && name != "whole")
            study.note(lab::format("%s: of %d strips the host was not told of %d", name.c_str(),
                                   strips, int(silent)));
        if (request.asynchronous && !lab::on_cpu && trial.comparison.right() && name != "whole" &&
            !returns_at_once(picture.streams[0], launch))
            study.add(name + " asynchronous", dim3(0), dim3(0), 0, 0, 0,
                      wrong_because("the host waits for the device while the work is handed out"));
        CHECK(cudaDeviceSynchronize());
        if (graph) CHECK(cudaGraphExecDestroy(graph));
        if (!request.output.empty())
            lab::write_image(request.output, picture.h_output, picture.height, picture.width, 1);
        std::vector<int32_t> sums;
        for (const Arrival& arrival : arrivals) sums.push_back(arrival.sum);
        if (!request.sums.empty()) lab::write_array(request.sums, sums.data(), {strips});
    }
    study.moves(0);
}
