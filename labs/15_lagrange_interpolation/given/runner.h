// How a variant is run, judged and timed, and what the program says of it. Included behind the kernels.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "device.cuh"
#include "input.h"
#include "judging.h"

enum Kind { Linear, Quadratic, Phases, Transferring, InPieces };

struct Variant {
    const char* name;
    Kind kind;
    lab::Launch (*launch)(const Work& work);
    void (*before)(const Work& work) = nullptr;  // once for a set of nodes
    size_t most_nodes = SIZE_MAX;                // what constant memory holds

    bool quadratic() const { return kind == Quadratic || kind == Phases; }
};

// Memory of the host that the system promises not to move, so that the device can copy on its own.
class Pinned {
 public:
    Pinned(const double* values, int64_t count) : start_(const_cast<double*>(values)) {
        if (count == 0) start_ = nullptr;
        if (start_) {
            CHECK(cudaHostRegister(start_, count * sizeof(double), cudaHostRegisterDefault));
        }
    }
    ~Pinned() {
        if (start_) cudaHostUnregister(start_);
    }
    Pinned(const Pinned&) = delete;
    Pinned& operator=(const Pinned&) = delete;

 private:
    void* start_;
};

// Memory that only the phases need.
struct PhasesMemory {
    PhasesMemory(int64_t points, int64_t nodes)
        : t(nodes * nodes), z(nodes * nodes), sums(points * lab::divide_up(nodes, side)) {}
    lab::DeviceArray<double> t, z, sums;

    static double bytes(double points, double nodes) {
        return 8 * (2 * nodes * nodes + points * std::ceil(nodes / side));
    }
};

// Runs the variants, and keeps the values of the last one.
class Runner {
 public:
    Runner(const Problem& problem, int64_t piece, lab::Study& study)
        : problem_(problem),
          on_device_(problem),
          sample_(take_sample(problem)),
          values_(lab::zeros<double>(problem.abscissae.size())),
          study_(study) {
        work_.nodes = on_device_.nodes();
        work_.points = static_cast<int64_t>(values_.size());
        work_.h_abscissae = problem.abscissae.data();
        work_.h_values = values_.data();
        work_.piece = piece;
        for (cudaStream_t& stream : work_.streams) CHECK(cudaStreamCreate(&stream));
        study.note("GFLOP/s: instructions in double, 4 a term (a point and a node) or a factor");
        if (lab::on_cpu) return;
        limit_ = measured_instruction_rate() / 4;
        study.note(lab::format("limit, measured: %.4g terms a second", limit_));
    }
    ~Runner() {
        for (const cudaStream_t stream : work_.streams) cudaStreamDestroy(stream);
    }

    // Why the variant cannot run here, or "".
    std::string obstacle(const Variant& variant) const {
        const double points = work_.points, nodes = work_.nodes.count;
        if (nodes > variant.most_nodes) {
            return lab::format("constant memory holds %zu nodes", variant.most_nodes);
        }
        size_t available = 0, total = 0;
        CHECK(cudaMemGetInfo(&available, &total));
        double bytes = 16 * points;
        if (variant.kind == Phases) bytes += PhasesMemory::bytes(points, nodes);
        if (variant.kind == InPieces) bytes = 16.0 * stream_count * work_.piece;
        if (bytes <= available) return "";
        return lab::format("needs %s of device memory, and %s are free",
                           lab::bytes_text(bytes).c_str(), lab::bytes_text(available).c_str());
    }

    void run(const Variant& variant) {
        if (study_.skips(variant.name, obstacle(variant))) return;
        const bool phases = variant.kind == Phases, in_pieces = variant.kind == InPieces;
        const bool transfers = variant.kind == Transferring || in_pieces;
        const int64_t room = in_pieces ? stream_count * work_.piece : work_.points;
        lab::DeviceArray<double> abscissae(room), values(room);
        PhasesMemory memory(phases ? work_.points : 0, phases ? work_.nodes.count : 0);
        Work work = work_;
        work.d_abscissae = abscissae.get();
        work.d_values = values.get();
        work.t = memory.t.get();
        work.z = memory.z.get();
        work.partial_sums = memory.sums.get();
        if (!transfers) abscissae.upload(work.h_abscissae, work.points);
        if (variant.before) variant.before(work);
        const int64_t pinned = in_pieces ? work.points : 0;
        const Pinned h_abscissae(work.h_abscissae, pinned), h_values(work.h_values, pinned);
        const auto prepare = [&] {
            on_device_.forget_careful();  // nothing is left of an earlier launch
            lab::in_parts(values_.size(), [&](int64_t, int64_t begin, int64_t end) {
                std::memset(values_.data() + begin, 0xFF, (end - begin) * sizeof(double));  // NaN
            });
            values.poison();
            memory.sums.poison();
            if (transfers) abscissae.poison();
            if (in_pieces) CHECK(cudaDeviceSynchronize());
        };
        const auto judged = [&] {
            transfers ? CHECK(cudaDeviceSynchronize()) : values.download(values_);
            return judge_careful(judge(values_, sample_, phases));
        };
        const double nodes = work.nodes.count;
        const double terms = work.points * nodes * (variant.quadratic() ? nodes : 1);
        study_.moves(16.0 * work.points);
        study_.computes(4 * terms);
        note(variant, terms,
             study_.run(
                 variant.name, prepare, [&] { return variant.launch(work); }, judged));
    }

    const std::vector<double>& values() const { return values_; }

    // The largest difference between the last variant's values and the function itself.
    double largest_error() const {
        double largest = 0;
        for (size_t i = 0; i < values_.size(); i++) {
            const double error =
                std::fabs(values_[i] - problem_.function->value(problem_.abscissae[i]));
            largest = std::isnan(error) ? NAN : std::max(largest, error);
        }
        return largest;
    }

    // What the program says below its table, about all variants.
    void note_all() {
        note_accuracy(sample_, study_);
        if (!careful_.empty()) {
            study_.note(
                "careful way taken by points at a node + near the limits of double + without a "
                "reason: " +
                lab::joined(careful_, ", "));
        }
        const double milliseconds = lab::median_milliseconds([&] { on_device_.make_terms(); });
        study_.note(lab::format("weights, once: %.4f ms", milliseconds));
        if (problem_.x.size() <= 4096) study_.note(serial_note(problem_));
        if (!problem_.function || work_.points > 1000000) return;
        study_.note(lab::format("largest error against %s at these points: %.8g",
                                problem_.function->name, largest_error()));
    }

 private:
    // Right are values within the bounds that are not owed to the careful way.
    lab::Comparison judge_careful(lab::Comparison comparison) {
        counts_ = on_device_.careful();
        if (!comparison.right() || counts_[NoReason] == 0) return comparison;
        comparison.wrong = counts_[NoReason];
        comparison.instead =
            lab::format("%llu of %lld points take the careful way without a reason",
                        counts_[NoReason], (long long)work_.points);
        return comparison;
    }

    void note(const Variant& variant, double terms, const lab::Trial& trial) {
        if (!variant.quadratic()) {
            careful_.push_back(lab::format("%s %llu + %llu + %llu", variant.name, counts_[AtNode],
                                           counts_[NearLimits], counts_[NoReason]));
        }
        if (trial.milliseconds == 0) return;
        const double rate = terms / (trial.milliseconds * 1e-3);
        const bool limited = limit_ > 0 && !variant.quadratic();
        const std::string share =
            limited ? lab::format(", %.1f %% of the limit", 100 * rate / limit_) : "";
        study_.note(lab::format("%s: %.3g %s a second%s", variant.name, rate,
                                variant.quadratic() ? "factors" : "terms", share.c_str()));
    }

    const Problem& problem_;
    NodesOnDevice on_device_;
    Sample sample_;
    std::vector<double> values_;
    lab::Study& study_;
    Work work_ = {};
    std::vector<unsigned long long> counts_;  // of the last attempt's careful points, by reason
    std::vector<std::string> careful_;        // the same in words, for every variant
    double limit_ = 0;                        // terms a second, at 4 instructions a term
};
