// The report's other way to sort: a bit at a time from the lowest, those with a 0 before those with
// a 1. One prefix sum of +1 and -1 gives the places of both kinds.
#pragma once

#include "prefix_sum.cuh"

__global__ void sign_bits(const int32_t* digits, int64_t elements, int bit, int32_t* signs) {
    const int64_t p = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (p < elements) signs[p] = (digits[p] >> bit) % 2 ? -1 : 1;
}

// Before element p come x elements with a 0 and y with a 1, where x + y = p, and sums[p] = x - y.
// All with a 1 go behind all those with a 0, of which there are (elements + *total) / 2.
__global__ void move_by_sign(const int32_t* digits, const int32_t* order, int64_t elements, int bit,
                             const int32_t* sums, const int32_t* total, int32_t* moved_digits,
                             int32_t* moved_order) {
    const int64_t p = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (p >= elements) return;
    const bool one = (digits[p] >> bit) % 2;
    const int64_t place = one ? (elements + *total) / 2 + (p - sums[p]) / 2 : (p + sums[p]) / 2;
    moved_digits[place] = digits[p];
    moved_order[place] = order[p];
}

class BottomUpSort {
 public:
    explicit BottomUpSort(int64_t elements)
        : elements_(elements),
          signs_(elements),
          spare_digits_(elements),
          spare_order_(elements),
          prefix_(elements) {}

    static int64_t bytes(int64_t elements) { return 12 * elements + PrefixSum::bytes(elements); }

    // digits, order, sorted: (elements). sorted becomes what order is, by digit; digits and order are
    // used up.
    void sort(int32_t* digits, int32_t* order, int bits, int32_t* sorted) {
        int32_t *from_digits = digits, *to_digits = spare_digits_.get();
        int32_t *from = order, *to = spare_order_.get();
        const unsigned blocks = unsigned(lab::divide_up(elements_, 256));
        for (int bit = 0; bit < bits; bit++) {
            if (bit == bits - 1) to = sorted;
            sign_bits<<<blocks, 256>>>(from_digits, elements_, bit, signs_.get());
            CHECK_LAUNCH();
            prefix_.enqueue(signs_.get(), elements_);
            move_by_sign<<<blocks, 256>>>(from_digits, from, elements_, bit, signs_.get(),
                                          prefix_.total(), to_digits, to);
            CHECK_LAUNCH();
            std::swap(from_digits, to_digits);
            std::swap(from, to);
        }
    }

 private:
    int64_t elements_;
    DeviceArray<int32_t> signs_, spare_digits_, spare_order_;  // (elements)
    PrefixSum prefix_;
};
