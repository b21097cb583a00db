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

class PictureRunner {
 public:
    PictureRunner(lab::Study& study, const Request& request, const lab::Image& image)
        : study_(study),
          request_(request),
          count_(image.count()),
          pageable_input_(image.pixels),
          pageable_output_(count_),
          reference_(count_),
          input_(count_),
          output_(count_),
          d_input_(count_),
          d_output_(count_),
          arrivals_(request.strips_of(image.height)) {
        std::memcpy(input_.get(), image.pixels.data(), count_);
        sharpen_on_cpu(image.pixels.data(), reference_.data(), int(image.height), int(image.width));
        pinned_.height = int(image.height), pinned_.width = int(image.width);
        pinned_.strips = int(arrivals_.size());
        pinned_.h_input = input_.get(), pinned_.h_output = output_.get();
        pinned_.d_input = d_input_.get(), pinned_.d_output = d_output_.get();
        pinned_.arrivals = arrivals_.data();
        for (int i = 0; i < pinned_.strips; ++i) pinned_.copied.push_back(handles_.event());
        for (int i = 0; i < request.streams; ++i) {
            pinned_.streams.push_back(handles_.stream());
            pinned_.joints.push_back(handles_.event());
        }
    }

    // One variant: judged and timed, its time line, its files.
    void run(const std::string& name) {
        const Picture picture = picture_of(name);
        const bool in_strips = name != "whole";
        const cudaGraphExec_t graph =
            name == "graph" ? capture(picture.streams[0], [&] { launch_strips(picture); })
                            : nullptr;
        const auto launch = [&]() -> lab::Launch {
            if (!in_strips) return launch_whole(picture);
            if (name != "graph") return launch_strips(picture);
            if (graph) CHECK(cudaGraphLaunch(graph, picture.streams[0]));
            return sharpen_shape(picture.width, picture.rows(0));
        };
        const lab::Trial trial = study_.run(
            name, [&] { prepare(picture); }, launch, [&] { return judge(picture); });
        const bool right = trial.comparison.right();
        if (right && in_strips && name != "graph" && !lab::runs_once)
            prepare(picture), draw_timeline(study_, request_, name, picture);
        if (in_strips) note_silence(name);
        if (request_.asynchronous && !lab::on_cpu && right && in_strips &&
            !returns_at_once(picture.streams[0], launch))
            study_.add(name + " asynchronous", dim3(0), dim3(0), 0, 0, 0,
                       wrong_because("the host waits for the device while the work is handed out"));
        CHECK(cudaDeviceSynchronize());
        if (graph) CHECK(cudaGraphExecDestroy(graph));
        write_files(picture);
    }

 private:
    // What the variant works with, and its arrivals, which point into its output.
    Picture picture_of(const std::string& name) {
        Picture picture = pinned_;
        if (name == "pageable")
            picture.h_input = pageable_input_.data(), picture.h_output = pageable_output_.data();
        if (name == "one_stream") picture.streams.resize(1);
        if (name == "with_default") picture.streams[0] = nullptr;
        for (int i = 0; i < picture.strips; ++i) {
            const uint8_t* const rows = picture.h_output + picture.offset(i);
            arrivals_[i] = {rows, rows + int64_t{picture.rows(i) - 1} * picture.width,
                            picture.width, -1};
        }
        return picture;
    }
    void prepare(const Picture& picture) {
        d_input_.poison(), d_output_.poison();
        std::memset(picture.h_output, 0xFF, count_);
        for (Arrival& arrival : arrivals_) arrival.sum = -1;
        CHECK(cudaDeviceSynchronize());
    }
    lab::Comparison judge(const Picture& picture) const {
        CHECK(cudaDeviceSynchronize());
        return lab::compare(picture.h_output, reference_.data(), count_);
    }
    void note_silence(const std::string& name) {
        const auto silent = std::count_if(arrivals_.begin(), arrivals_.end(),
                                          [](const Arrival& arrival) { return arrival.sum < 0; });
        if (silent > 0)
            study_.note(lab::format("%s: of %d strips the host was not told of %d", name.c_str(),
                                    pinned_.strips, int(silent)));
    }
    void write_files(const Picture& picture) const {
        if (!request_.output.empty())
            lab::write_image(request_.output, picture.h_output, picture.height, picture.width, 1);
        std::vector<int32_t> sums;
        for (const Arrival& arrival : arrivals_) sums.push_back(arrival.sum);
        if (!request_.sums.empty())
            lab::write_array(request_.sums, sums.data(), {int64_t(sums.size())});
    }

    lab::Study& study_;
    const Request& request_;
    int64_t count_;
    std::vector<uint8_t> pageable_input_, pageable_output_, reference_;
    HostArray<uint8_t> input_, output_;  // pinned
    lab::DeviceArray<uint8_t> d_input_, d_output_;
    std::vector<Arrival> arrivals_;
    Handles handles_;
    Picture pinned_;
};

inline void run_pictures(lab::Study& study, const Request& request, const lab::Image& image) {
    if (!works_on_picture(study)) return;
    load_kernels();
    study.moves(2.0 * image.count());
    if (request.asynchronous && lab::on_cpu)
        study.note(
            "--asynchronous needs a card; in CPU mode make check judges whether the host waits");
    PictureRunner runner(study, request, image);
    for (const std::string& name : study.names())
        if (is_of_picture(name)) runner.run(name);
    study.moves(0);
}
