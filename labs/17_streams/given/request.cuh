// What the variants are asked for, and what running them takes.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

inline std::vector<std::string> variant_names() {
    return {"whole",        "strips",     "graph",    "pageable", "one_stream",
            "with_default", "one_by_one", "captured", "built",    "urgent"};
}
inline bool is_of_picture(const std::string& name) {
    const auto names = variant_names();
    return std::any_of(names.begin(), names.begin() + 6,
                       [&](const std::string& own) { return own == name; });
}

inline bool is_of_chain(const std::string& name) {
    return !is_of_picture(name) && name != "urgent";
}

inline bool works_on_picture(const lab::Study& study) {
    return std::any_of(study.names().begin(), study.names().end(), is_of_picture);
}
inline bool works_on_chain(const lab::Study& study) {
    return std::any_of(study.names().begin(), study.names().end(), is_of_chain);
}

// "1 strip", "2 strips".
inline std::string counted(int64_t count, const char* what) {
    return lab::format("%lld %s%s", (long long)count, what, count == 1 ? "" : "s");
}

struct Request {
    lab::PictureInput input;
    int strips, streams, count, rounds, steps;
    std::string output, sums, start, key_file, state, timeline;
    std::vector<uint32_t> cells, keys;  // before the first round; one a round
    bool asynchronous;

    explicit Request(lab::Arguments& arguments)
        : input(arguments, lab::on_cpu ? 256 : 8192, int64_t{1} << 17) {
        const auto number = [&](const char* name, int card, int cpu, int lowest, int highest,
                                const char* help) {
            return int(arguments.integer(name, lab::on_cpu ? cpu : card, lowest, highest, help));
        };
        strips = number("strips", 16, 8, 1, 512, "of the picture; a row is the smallest");
        streams = number("streams", 3, 3, 1, 64, "over which the strips are dealt out");
        count = number("cells", 4096, 512, 1, 1 << 24, "of the chain of small steps");
        rounds = number("rounds", 20, 3, 1, 1000, "of the chain, each with a key of its own");
        steps = number("steps", 50, 10, 0, 1000, "of a round, an even number");
        output = lab::image_output(arguments, "output", "the sharpened picture, for one variant");
        sums =
            arguments.output("sums", "of each strip's first and last row (int32), for one variant");
        start =
            arguments.input("start", "the cells before the first round (int32), not random ones");
        key_file = arguments.input("keys", "the key of each round (int32), not random ones");
        arguments.excludes("start", {"cells"}, "random cells");
        arguments.excludes("keys", {"rounds"}, "random keys");
        state =
            arguments.output("state", "the cells after the last round (int32), for one variant");
        timeline = arguments.output("timeline", "of the strips, as CSV");
        asynchronous = arguments.flag("asynchronous",
                                      "on a card: see to it that no launch makes the host wait");
    }

    // Refuses what does not go together, and reads cells and keys.
    void finish(const lab::Arguments& arguments, const lab::Study& study) {
        for (const char* option : {"output", "sums", "state", "timeline"})
            study.require_one_for(arguments, option, "the result");
        const std::string name = study.only_one();
        const bool of_picture = is_of_picture(name);
        for (const char* option : {"output", "sums", "timeline"})
            if (arguments.given(option) && !of_picture)
                lab::refuse("--%s: %s works on no picture", option, name.c_str());
        if (arguments.given("state") && of_picture)
            lab::refuse("--state: %s has no cells", name.c_str());
        if (arguments.given("sums") && name == "whole") lab::refuse("--sums: whole has no strips");
        if (arguments.given("timeline") && (name == "whole" || name == "graph"))
            lab::refuse("--timeline: %s hands out no strips one by one", name.c_str());
        if (arguments.given("input") && !works_on_picture(study))
            lab::refuse("--input: %s works on no picture",
                        lab::joined(study.names(), ", ").c_str());
        if (arguments.given("start") && !works_on_chain(study) && !study.chosen("urgent"))
            lab::refuse("--start: %s has no cells", lab::joined(study.names(), ", ").c_str());
        if (arguments.given("keys") && !works_on_chain(study))
            lab::refuse("--keys: %s has no rounds", lab::joined(study.names(), ", ").c_str());
        if (steps % 2 != 0)
            lab::refuse("--steps: %d is odd; a round ends in the buffer where it began", steps);
        cells = bits_of(start, count, 17), keys = bits_of(key_file, rounds, 18);
    }

    // Cells and keys: 32 bits each, without a sign.
    static std::vector<uint32_t> bits_of(const std::string& path, int count, uint64_t seed) {
        if (path.empty()) return lab::random_values<uint32_t>(count, 0, UINT32_MAX, seed);
        const std::vector<int32_t> values = lab::read_array<int32_t>(path, 1).values;
        if (values.empty()) lab::refuse("%s holds no element", lab::quoted(path).c_str());
        return {values.begin(), values.end()};
    }

    int strips_of(int64_t height) const { return int(std::min<int64_t>(strips, height)); }

    // Without a pixel where no variant asks for any.
    lab::Image read_picture(const lab::Study& study) const {
        if (!works_on_picture(study)) return {};
        return input.read(1, 1, [&](int64_t height, int64_t width, int) {
            lab::require_writable_image("output", output, height, width, 1);
            lab::require_memory(6 * height * width, 2 * height * width + 8 * int64_t(cells.size()),
                                "the picture on both sides");
        });
    }
};

// The size of what is chosen, in words.
inline std::string size_words(const lab::Study& study, const Request& request,
                              const lab::Image& image) {
    std::vector<std::string> words;
    const std::string cells = counted(int64_t(request.cells.size()), "cell");
    if (works_on_picture(study))
        words.push_back(lab::format("%lld x %lld pixels, %s, %s", (long long)image.height,
                                    (long long)image.width,
                                    counted(request.strips_of(image.height), "strip").c_str(),
                                    counted(request.streams, "stream").c_str()));
    if (works_on_chain(study))
        words.push_back(lab::format("%s of %d steps, %s",
                                    counted(int64_t(request.keys.size()), "round").c_str(),
                                    request.steps, cells.c_str()));
    return words.empty() ? cells : lab::joined(words, "; ");
}

// Whether `work` hands its work out and returns before any of it is done. A function of the host stands
// before all in the first stream until `work` has returned; if that waits for the device, only the clock opens the gate.
template <class Work>
bool returns_at_once(cudaStream_t first, const Work& work) {
    struct Gate {
        std::atomic<bool> open{false}, by_clock{false};
    } gate;
    const cudaHostFn_t hold = [](void* data) {
        Gate& held = *static_cast<Gate*>(data);
        const lab::HostTimer clock;
        while (!held.open && !held.by_clock) {
            std::this_thread::sleep_for(std::chrono::microseconds(100));
            if (clock.milliseconds() > 2000) held.by_clock = true;
        }
    };
    CHECK(cudaLaunchHostFunc(first, hold, &gate));
    work();
    const bool at_once = !gate.by_clock;
    gate.open = true;
    CHECK(cudaDeviceSynchronize());
    return at_once;
}

// Streams and events that end with the object.
class Handles {
 public:
    ~Handles() {
        for (const cudaStream_t stream : streams_) cudaStreamDestroy(stream);
        for (const cudaEvent_t event : events_) cudaEventDestroy(event);
    }
    cudaStream_t stream() {
        streams_.push_back(nullptr);
        CHECK(cudaStreamCreate(&streams_.back()));
        return streams_.back();
    }
    cudaEvent_t event(unsigned int flags = cudaEventDisableTiming) {
        events_.push_back(nullptr);
        CHECK(cudaEventCreateWithFlags(&events_.back(), flags));
        return events_.back();
    }

 private:
    std::vector<cudaStream_t> streams_;
    std::vector<cudaEvent_t> events_;
};

inline lab::Comparison wrong_because(const std::string& reason) {
    lab::Comparison comparison;
    comparison.wrong = 1;
    comparison.instead = reason;
    return comparison;
}

// All that is not measured: kernels are loaded before a stream is captured or held up.
inline void load_kernels() {
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, sharpen_kernel));
    CHECK(cudaFuncGetAttributes(&attributes, stir_kernel));
    CHECK(cudaFuncGetAttributes(&attributes, step_kernel));
}
