// Runs variants on automata, judges what they find, and takes their times.
#pragma once
#ifdef LAB_GIVEN_COMPILED
#pragma interface  // compiled once, in host.cpp
#endif

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "../../../common/array_file.h"
#include "../../../common/lab/carriers.h"
#include "options.h"

// By whom a result is judged.
inline const HostVariant* reference_for(const Options& options, int64_t transitions) {
    const bool is_small = transitions <= int64_t{4} << 20;
    const std::string by_size = is_small ? "hopcroft" : "moore_hash";
    return find_host_variant(options.reference == "auto" ? by_size : options.reference);
}

// An automaton on the device, and room for its classes.
class OnDevice {
 public:
    OnDevice(const Automaton& automaton, lab::Carriers& carriers)
        : automaton_(automaton),
          carriers_(carriers),
          next_(automaton.next.size()),
          is_final_(automaton.states),
          class_of_(automaton.states) {}

    void copy_in() {
        carriers_.to_device(next_.get(), automaton_.next.data(), next_.bytes());
        carriers_.to_device(is_final_.get(), automaton_.is_final.data(), is_final_.bytes());
    }

    Refined refine(Refine refine, const RefineOptions& options) {
        return refine({automaton_.states, automaton_.symbols, next_.get(), is_final_.get()},
                      class_of_.get(), options);
    }

    void poison() { class_of_.poison(); }

    void copy_out(std::vector<int32_t>& class_of) const {
        class_of.resize(automaton_.states);
        carriers_.to_host(class_of.data(), class_of_.get(), class_of_.bytes());
    }

 private:
    const Automaton& automaton_;
    lab::Carriers& carriers_;
    lab::DeviceArray<int32_t> next_;
    lab::DeviceArray<uint8_t> is_final_;
    lab::DeviceArray<int32_t> class_of_;
};

// The median of a time already taken and, if that was short, of more.
template <class F>
double more_milliseconds(double first, F&& run) {
    const lab::NvtxRange range("timing");
    std::vector<double> times = {first};
    for (double total = first; total < 1000 && times.size() < 5; total += times.back()) {
        const lab::HostTimer timer;
        run();
        times.push_back(timer.milliseconds());
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

// Runs variants on all automata, and compares what they find with the reference.
class Runner {
 public:
    Runner(const Options& options, const std::vector<Automaton>& automata, lab::Results& results)
        : options_(options), automata_(automata), results_(results) {
        for (const Automaton& automaton : automata) {
            transitions_ += automaton.next.size();
            states_ += automaton.states;
            references_.push_back(reference(automaton));
        }
    }

    // Why the variant cannot run here, or "".
    std::string obstacle(const std::string& name) const {
        double needed = 0, available;
        const HostVariant* const host = find_host_variant(name);
        for (const Automaton& automaton : automata_) {
            needed = std::max(needed, double(bytes(name, automaton.states, automaton.symbols)));
        }
        if (host) {
            available = lab::host_memory() - 4.0 * transitions_ - 8.0 * states_;
        } else {
            size_t free_bytes = 0, total = 0;
            CHECK(cudaMemGetInfo(&free_bytes, &total));
            available = double(free_bytes);
        }
        if (needed <= available) return "";
        return lab::format("needs %s of %s memory, and %s are free",
                           lab::bytes_text(needed).c_str(), host ? "the host's" : "device",
                           lab::bytes_text(std::max(0.0, available)).c_str());
    }

    void run(const std::string& name) {
        const lab::NvtxRange range(name);
        FirstFault fault(name, options_.verify);
        found_.clear();
        comparison_ = {};
        milliseconds_ = copied_milliseconds_ = 0;
        for (size_t i = 0; i < automata_.size(); ++i) {
            find_host_variant(name) ? run_on_host(name, i, fault) : run_on_device(name, i, fault);
            judge(i);
        }
        if (fault.found() && comparison_.right()) comparison_.wrong = 1;
        if (!options_.classes.empty()) {
            for (const Partition& partition : found_) {
                all_classes_.insert(all_classes_.end(), partition.class_of.begin(),
                                    partition.class_of.end());
            }
        }
        add_row(name);
    }

    bool right() const { return comparison_.right(); }
    std::string sentence() const { return comparison_.sentence(); }
    const std::vector<Partition>& found() const { return found_; }

    // What --classes writes, (variants, states of all automata).
    void write_classes(const std::string& path, int64_t variants) const {
        lab::write_array(path, all_classes_.data(), {variants, states_});
    }

 private:
    int64_t bytes(const std::string& name, int64_t states, int64_t symbols) const {
        const HostVariant* const host = find_host_variant(name);
        return host ? host->bytes(states, symbols)
                    : device_bytes(name.c_str(), states, symbols, options_.device);
    }

    Partition reference(const Automaton& automaton) {
        const lab::NvtxRange range("reference");
        const HostVariant* const variant = reference_for(options_, int64_t(automaton.next.size()));
        const int64_t bytes = variant->bytes(automaton.states, automaton.symbols);
        lab::require_host_memory(bytes + 4 * transitions_ + 9 * states_,
                                 "the automaton and the reference that finds its classes");
        const lab::HostTimer timer;
        HostOptions options;
        options.threads = options_.host.threads;
        Partition partition = variant->minimize(automaton, options);
        reference_milliseconds_ = timer.milliseconds();
        return partition;
    }

    // Several automata are run once each, for their answers; and so is what is verified.
    bool is_timed() const {
        return automata_.size() == 1 && options_.classes.empty() && !options_.verify;
    }

    void run_on_host(const std::string& name, size_t i, FirstFault& fault) {
        const HostVariant* const variant = find_host_variant(name);
        const auto minimize = variant->minimize;
        if (is_timed() && !lab::on_cpu && reference_milliseconds_ > 1000 &&
            variant == reference_for(options_, transitions_)) {
            found_.push_back(references_[i]);  // once more would take as long
            milliseconds_ = reference_milliseconds_;
            return;
        }
        HostOptions options = options_.host;
        options.verbose = options_.verbose;
        options.fault = &fault;
        lab::HostTimer timer;
        found_.push_back(minimize(automata_[i], options));
        double milliseconds = timer.milliseconds();
        options.verbose = false;
        if (is_timed()) {
            Partition last;
            milliseconds =
                more_milliseconds(milliseconds, [&] { last = minimize(automata_[i], options); });
            if (!last.class_of.empty()) judge_last(i, last.class_of);
        }
        milliseconds_ += milliseconds;
    }

    void run_on_device(const std::string& name, size_t i, FirstFault& fault) {
        const Refine refine = find_device_variant(name);
        RefineOptions options = options_.device;
        options.verbose = options_.verbose;
        options.fault = &fault;
        Partition partition;
        if (!carriers_) carriers_ = std::make_unique<lab::Carriers>();
        OnDevice device(automata_[i], *carriers_);
        device.poison();
        lab::HostTimer timer;
        device.copy_in();
        const Refined refined = device.refine(refine, options);
        device.copy_out(partition.class_of);
        const double first = timer.milliseconds();
        partition.classes = refined.classes;
        partition.rounds = refined.rounds;
        found_.push_back(partition);
        if (!is_timed()) {
            milliseconds_ += first;
            return;
        }
        options.verbose = false;
        device.poison();
        if (first < 1000) {
            milliseconds_ = lab::median_milliseconds([&] { device.refine(refine, options); });
        }
        copied_milliseconds_ = first;
        // Times say little in CPU mode, where the number of launches is to be the same each time.
        if (!lab::on_cpu) {
            copied_milliseconds_ = more_milliseconds(first, [&] {
                device.copy_in();
                device.refine(refine, options);
                device.copy_out(partition.class_of);
            });
        }
        if (first >= 1000) {  // it was not repeated
            milliseconds_ = copied_milliseconds_;
            return;
        }
#ifndef LAB_BENCH  // which leaves that to the checker, as lab::compare_and_time does
        device.copy_out(partition.class_of);
        judge_last(i, partition.class_of);
#endif
    }

    // A variant is to be right in the timed runs as well: their last result is judged if the first one
    // is right.
    void judge_last(size_t i, const std::vector<int32_t>& last) {
        if (found_[i].class_of != references_[i].class_of) return;
        comparison_.later = last != found_[i].class_of;
        found_[i].class_of = last;
    }

    void judge(size_t i) {
        const Partition &found = found_[i], &expected = references_[i];
        lab::Comparison one =
            lab::compare(found.class_of.data(), expected.class_of.data(), automata_[i].states);
        if (one.right() && found.classes != expected.classes) {
            one = {1, 1, 0, double(expected.classes), double(found.classes)};
        }
        if (comparison_.right() && !one.right()) {
            comparison_.first = comparison_.count + one.first;
            comparison_.expected = one.expected;
            comparison_.got = one.got;
        }
        comparison_.count += one.count;
        comparison_.wrong += one.wrong;
    }

    void add_row(const std::string& name) {
        const bool is_host = find_host_variant(name);
        results_.add(name, dim3(0), dim3(0), right() ? milliseconds_ : 0, 0, 0, comparison_);
        if (right() && copied_milliseconds_ > 0) {
            results_.add(name + ", with copies", dim3(0), dim3(0), copied_milliseconds_, 0, 0,
                         comparison_);
        }
        if (automata_.size() > 1) return;
        const Automaton& automaton = automata_[0];
        const double memory = double(bytes(name, automaton.states, automaton.symbols));
        results_.note(lab::format("%s: %lld classes, %lld %s, %s of %s", name.c_str(),
                                  (long long)found_[0].classes, (long long)found_[0].rounds,
                                  name == "hopcroft" ? "splitters" : "rounds",
                                  lab::bytes_text(memory).c_str(),
                                  is_host ? "memory beside the automaton" : "device memory"));
    }

    const Options& options_;
    const std::vector<Automaton>& automata_;
    lab::Results& results_;
    std::unique_ptr<lab::Carriers> carriers_;
    std::vector<Partition> references_, found_;
    std::vector<int32_t> all_classes_;
    lab::Comparison comparison_;
    double milliseconds_ = 0, copied_milliseconds_ = 0, reference_milliseconds_ = 0;
    int64_t transitions_ = 0, states_ = 0;
};
