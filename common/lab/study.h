// What a lab's program does with its variants: each is chosen or left out, judged, timed, and given a row.
#pragma once
#ifdef LAB_COMPILED
#pragma interface  // compiled once, in cpu/course.cpp
#endif

#include <algorithm>
#include <cstdio>
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "table.h"
#include "timers.h"

namespace lab {

// The grid and the block of a launch, which a launcher returns for the table.
struct Launch {
    dim3 grid = dim3(0), block = dim3(0);  // 0: the library that is called chooses its own
};

// The names of a table of variants, and the variant of a name that is in it.
template <class Table>
std::vector<std::string> names_of(const Table& variants) {
    std::vector<std::string> names;
    for (const auto& variant : variants) names.push_back(variant.name);
    return names;
}
template <class Table>
const auto& variant_of(const Table& variants, const std::string& name) {
    return *std::find_if(std::begin(variants), std::end(variants),
                         [&](const auto& variant) { return name == variant.name; });
}

// The exit status where there is nothing: a grid without blocks cannot be launched, and need not be.
inline int nothing_to_launch(const char* what) {
    std::printf("0 %s: nothing is launched\n", what);
    return 0;
}

// The table of results, filled variant by variant.
//     lab::Study study(arguments, {"naive", "tiled"}, {"fused"});  // before arguments.finish()
//     study.moves(2.0 * bytes);
//     study.run("naive", [&] { d_output.poison(); }, [&] { return launch_naive(job); },
//               [&] { d_output.download(h_output); return lab::compare(...); });
//     return study.finish();
class Study : public Results {
 public:
    // Declares --variant and --csv. `further` are the variants of the lab's folder further/.
    Study(Arguments& arguments, const std::vector<std::string>& names,
          const std::vector<std::string>& further = {}, bool has_further = with_further)
        : Results(arguments), names_(arguments.variants(names, further, has_further)) {}

    // The chosen variants.
    const std::vector<std::string>& names() const { return names_; }
    bool chosen(const std::string& name) const {
        return std::count(names_.begin(), names_.end(), name) > 0;
    }

    // The only chosen variant, or "".
    std::string only_one() const { return names_.size() == 1 ? names_[0] : ""; }

    // Refuses to go on when the option (--output) was given with more than one variant.
    void require_one_for(const Arguments& arguments, const std::string& option,
                         const char* what) const {
        if (!arguments.given(option) || names_.size() == 1) return;
        refuse("--%s takes %s of one variant: choose it with --variant", option.c_str(), what);
    }

    // For GB/s: the bytes that a run moves to and from memory. For GFLOP/s: its operations.
    void moves(double bytes) { bytes_ = bytes; }
    void computes(double operations) { operations_ = operations; }

    // Has the host compute the reference, and notes the time below the table.
    void time_on_cpu(const std::function<void()>& reference) {
        const NvtxRange range("reference");
        const HostTimer clock;
        reference();
        note(format("the same on the CPU, one loop: %.3f ms", clock.milliseconds()));
    }

    // Runs a variant, if it is chosen; a row's name may have more words than the variant's: "by_warp
    // 8 paths". `prepare()` fills the output with something wrong, `launch()`
    // returns the Launch, `judge()` copies back and returns a Comparison. Right ones are timed in
    // between and judged again (compare_and_time); `timed` false: it is launched and judged once.
    // Returns what came of it.
    Trial run(const std::string& name, const std::function<void()>& prepare,
              const std::function<Launch()>& launch, const std::function<Comparison()>& judge,
              bool timed = true) {
        if (!chosen(name.substr(0, name.find(' ')))) return {};
        const NvtxRange range(name);
        Launch shape;
        const auto work = [&] { shape = launch(); };
        const auto attempt = [&] {
            prepare();
            work();
            return judge();
        };
        const Trial trial =
            timed ? compare_and_time(attempt, [&] { return median_milliseconds(work); })
                  : Trial{attempt()};
        add(name, shape.grid, shape.block, trial.milliseconds, bytes_, operations_,
            trial.comparison);
        return trial;
    }

    // Leaves a variant out for a reason, if it is chosen and there is one. True: it was left out, or
    // is not chosen.
    bool skips(const std::string& name, const std::string& reason) {
        if (!chosen(name)) return true;
        if (!reason.empty()) skip(name, reason);
        return !reason.empty();
    }

 private:
    std::vector<std::string> names_;
    double bytes_ = 0, operations_ = 0;
};

}  // namespace lab
