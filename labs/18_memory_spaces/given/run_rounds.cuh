// Runs and judges the variants of part two. What passes between host and device is timed by the host's clock.
#pragma once

#include <cstring>
#include <string>
#include <vector>

struct RoundVariant {
    const char* name;
    Kind kind;
    lab::Launch (*run)(const Round& round);
};
constexpr RoundVariant round_variants[] = {
    {"pageable", Kind::pageable, round_copied},      {"pinned", Kind::pinned, round_copied},
    {"mapped", Kind::mapped, round_in_place},        {"managed", Kind::managed, round_in_place},
    {"prefetched", Kind::managed, round_prefetched}, {"advised", Kind::managed, round_prefetched}};

// An array of the host's, of a kind.
template <class T>
class HostArray {
 public:
    HostArray(Kind kind, const std::vector<T>& values)
        : kind_(kind), values_(static_cast<T*>(allocate(kind, values.size() * sizeof(T)))) {
        objection_ = objection();
        if (values_) std::memcpy(values_, values.data(), values.size() * sizeof(T));
    }
    ~HostArray() {
        if (objection_.empty()) release(kind_, values_);
    }
    HostArray(const HostArray&) = delete;
    HostArray& operator=(const HostArray&) = delete;
    T* get() const { return values_; }
    // Why it is not memory of its kind, or "".
    const std::string& wrong() const { return objection_; }

 private:
    // What CUDA says of it, if that is not its kind.
    std::string objection() const {
        static const char* const words[] = {"pageable", "pinned", "the device's", "managed"};
        if (!values_) return "allocate() gives no memory (TODO 5a)";
        cudaPointerAttributes attributes = {};
        CHECK(cudaPointerGetAttributes(&attributes, values_));
        const cudaMemoryType wanted = kind_ == Kind::pageable  ? cudaMemoryTypeUnregistered
                                      : kind_ == Kind::managed ? cudaMemoryTypeManaged
                                                               : cudaMemoryTypeHost;
        if (attributes.type == wanted) return "";
        return lab::format("allocate() gives memory that is %s (TODO 5a)", words[attributes.type]);
    }

    Kind kind_;
    T* values_;
    std::string objection_;
};

// Pages of managed memory that moved, and the faults that moved them, as CPU mode counts them. A card tells that to
// its profiler alone: make profile-nsys.
class Traffic {
 public:
    explicit Traffic(const Round& round) : round_(round) {}
    void begin() { before_ = count(); }
    std::string words(int rounds) const {
#ifdef CUDA_ON_CPU
        const auto after = count();
        const auto one = [&](size_t i) { return double(after[i] - before_[i]) / rounds; };
        return lab::format(
            "pages that a round moves: %.4g to the device, after %.4g faults; %.4g to the host, "
            "after %.4g",
            one(2), one(0), one(3), one(1));
#else
        (void)rounds;
        return "";
#endif
    }

 private:
    std::vector<size_t> count() const {
        std::vector<size_t> sums(4);
#ifdef CUDA_ON_CPU
        for (const void* array :
             {static_cast<const void*>(round_.h_angle), static_cast<const void*>(round_.h_field)}) {
            const cuda_cpu::PageTraffic one = cuda_cpu::page_traffic(array);
            sums[0] += one.device_faults, sums[1] += one.host_faults;
            sums[2] += one.to_device, sums[3] += one.to_host;
        }
#endif
        return sums;
    }
    const Round& round_;
    std::vector<size_t> before_;
};

inline lab::Comparison wrong_because(const std::string& reason) {
    lab::Comparison comparison;
    comparison.wrong = 1;
    comparison.instead = reason;
    return comparison;
}

// The median time of a round, after one that is not timed.
template <class Work>
double median_of_rounds(const Work& work) {
    std::vector<double> times;
    for (int i = 0; i < (lab::on_cpu ? 3 : 21); ++i) {
        const lab::HostTimer clock;
        work();
        times.push_back(clock.milliseconds());
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

inline void run_round(lab::Study& study, const Request& request, const RoundVariant& variant,
                      const State& expected) {
    const int count = int(request.angles.size());
    const bool managed = variant.kind == Kind::managed, mapped = variant.kind == Kind::mapped;
    const HostArray<uint32_t> h_angle(variant.kind, request.angles);
    const HostArray<int32_t> h_field(managed ? Kind::managed : Kind::pageable, request.field);
    lab::DeviceArray<uint32_t> d_angle(managed || mapped ? 0 : count), d_next(count),
        d_speed(count);
    const lab::DeviceArray<int32_t> d_weights(request.weights),
        d_field(managed ? std::vector<int32_t>() : request.field);
    std::string wrong = h_angle.wrong().empty() ? h_field.wrong() : h_angle.wrong();
    uint32_t* const angle = managed  ? h_angle.get()
                            : mapped ? (wrong.empty() ? device_pointer(h_angle.get()) : nullptr)
                                     : d_angle.get();
    if (wrong.empty() && !angle) wrong = "device_pointer() gives none (TODO 5c)";
    if (!wrong.empty())
        return study.add(variant.name, dim3(0), dim3(0), 0, 0, 0, wrong_because(wrong));
    const Round round = {{angle, d_next.get(), d_speed.get(), d_weights.get(),
                          managed ? h_field.get() : d_field.get(), 0, count,
                          int(request.weights.size()), int(request.field.size())},
                         h_angle.get(),
                         h_field.get(),
                         request.steps};
    if (std::strcmp(variant.name, "advised") == 0) advise(h_field.get(), round.chain.cells);
    State got(request);
    lab::Launch shape;
    Traffic traffic(round);
    const auto attempt = [&] {
        std::memcpy(h_angle.get(), request.angles.data(), count * sizeof(uint32_t));
        d_next.poison(), d_speed.upload(request.speeds.data(), count);
        traffic.begin();
        for (int i = 0; i < request.rounds; ++i) shape = variant.run(round);
        got.angle.assign(h_angle.get(), h_angle.get() + count);  // before anything waits
        CHECK(cudaDeviceSynchronize());
        d_speed.download(got.speed);
        return expected.compare(got.angle, got.speed);
    };
    const lab::Trial trial = lab::compare_and_time(
        attempt, [&] { return median_of_rounds([&] { variant.run(round); }); });
    study.add(variant.name, shape.grid, shape.block, trial.milliseconds, 0, 0, trial.comparison);
    if (managed && lab::on_cpu)
        study.note(std::string(variant.name) + ": " + traffic.words(request.rounds));
    if (study.only_one() == variant.name) request.write(got.angle, got.speed);
}

inline void run_rounds(lab::Study& study, const Request& request) {
    State expected(request);
    bool computed = false;
    for (const RoundVariant& variant : round_variants) {
        const bool sends = variant.run == round_prefetched;
        const bool can_send = lab::device_attribute(cudaDevAttrConcurrentManagedAccess) != 0;
        const char* const reason = "this device does not move managed memory page by page";
        if (study.skips(variant.name, sends && !can_send ? reason : "")) continue;
        for (int round = 0; round < request.rounds && !computed; ++round) {
            kick(expected.angle.data(), int64_t(expected.angle.size()), request.field.data(),
                 int(request.field.size()));
            for (int step = 0; step < request.steps; ++step) expected.step(request);
        }
        computed = true;
        run_round(study, request, variant, expected);
    }
}
