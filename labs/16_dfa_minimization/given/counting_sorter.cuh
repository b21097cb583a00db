// The counting sort's launches: its three phases with a solution of each, again and again.
#pragma once

#include "counting_sort.cuh"
#include "prefix_sum.cuh"
#include "verify.h"

// Sorts `elements` digits of up to 2^bits values, again and again.
class CountingSort {
 public:
    CountingSort(int64_t elements, int threads, int elements_per_thread, int bits, Form form,
                 Solution solution, FirstFault* fault)
        : fault_(fault),
          threads_(threads),
          form_(form),
          solution_(solution),
          segments_(cut(elements, threads, elements_per_thread, 1 << bits, form)),
          counts_(places()),
          sums_(form == Form::horizontal ? places() : 0),
          begins_(segments_.values),
          prefix_(places()) {}

    static int64_t bytes(int64_t elements, int threads, int elements_per_thread, int bits,
                         Form form) {
        const Segments segments = cut(elements, threads, elements_per_thread, 1 << bits, form);
        const int64_t places = segments.count * segments.values;
        return 4 * (form == Form::horizontal ? 2 : 1) * places + 4 * segments.values +
               PrefixSum::bytes(places);
    }

    // digits, order, sorted: (elements). sorted becomes what order is, by digit.
    void sort(const int32_t* digits, const int32_t* order, int32_t* sorted) {
        count(digits);
        const int32_t* starts = form_ == Form::vertical ? sum_columns() : sum_rows();
        const bool verified = verifies(fault_);
        if (verified) CHECK(cudaMemset(sorted, 0xFF, 4 * segments_.elements));
        move(digits, order, starts, sorted);
        if (!verified) return;
        const char* const what = solution_ == Solution::a   ? "TODO 5 in counting_sort.cuh"
                                 : solution_ == Solution::c ? "TODO 6 in counting_sort.cuh"
                                                            : "move_by_vote in counting_sort.cuh";
        verify_sort(*fault_, what, digits, order, sorted, segments_.elements, segments_.length);
    }

 private:
    static Segments cut(int64_t elements, int threads, int elements_per_thread, int values,
                        Form form) {
        const int length = threads * elements_per_thread;
        const int64_t count = lab::divide_up(elements, length);
        const bool horizontal = form == Form::horizontal;
        return {elements, count, length, values, horizontal ? values : 1, horizontal ? 1 : count};
    }

    int64_t places() const { return segments_.count * segments_.values; }

    void count(const int32_t* digits) {
        const auto kernel = solution_ == Solution::a   ? count_by_value
                            : solution_ == Solution::b ? count_by_vote
                                                       : count_by_atomics;
        kernel<<<unsigned(segments_.count), threads_, 4 * segments_.values>>>(digits, segments_,
                                                                              counts_.get());
        CHECK_LAUNCH();
    }

    // In the vertical form the places of the result come in the order of the matrix itself, so one
    // long prefix sum does it all; but the blocks read and write columns, far apart.
    const int32_t* sum_columns() {
        prefix_.enqueue(counts_.get(), places());
        return counts_.get();
    }

    const int32_t* sum_rows() {
        const unsigned blocks = unsigned(lab::divide_up(places(), 256));
        int32_t *sums = counts_.get(), *wider = sums_.get();
        for (int64_t distance = 1; distance < segments_.count; distance *= 2) {
            add_rows<<<blocks, 256>>>(sums, places(), distance * segments_.values, wider);
            CHECK_LAUNCH();
            std::swap(sums, wider);
        }
        sum_values<<<1, threads_>>>(sums + places() - segments_.values, segments_.values,
                                    begins_.get());
        CHECK_LAUNCH();
        place_rows<<<blocks, 256>>>(sums, begins_.get(), places(), segments_.values, wider);
        CHECK_LAUNCH();
        return wider;
    }

    void move(const int32_t* digits, const int32_t* order, const int32_t* starts, int32_t* sorted) {
        const auto kernel = solution_ == Solution::a   ? move_by_value
                            : solution_ == Solution::b ? move_by_vote
                                                       : move_by_atomics;
        kernel<<<unsigned(segments_.count), threads_, 8 * segments_.values>>>(
            digits, order, segments_, starts, sorted);
        CHECK_LAUNCH();
    }

    FirstFault* fault_;
    int threads_;
    Form form_;
    Solution solution_;
    Segments segments_;
    DeviceArray<int32_t> counts_, sums_;  // the matrix, and in the horizontal form another
    DeviceArray<int32_t> begins_;         // (values)
    PrefixSum prefix_;
};
