// CUB: what stands before each, in a block.
#pragma once

#include "../block_call.cuh"

namespace cub {

enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

template <class T, int block_x, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int block_y = 1,
          int block_z = 1, int = 0>
class BlockScan {
    static constexpr int threads = block_x * block_y * block_z;
    struct Fixed {  // what an exclusive scan begins with
        T first;
        T operator()(const T&) const { return first; }
    };

 public:
    using TempStorage = detail::Room<T, threads + 1>;
    explicit BlockScan(TempStorage& storage = detail::own_storage<TempStorage>())
        : values_(storage.elements()) {}

    // `prefix` tells the first thread what stands before the block, of what the block comes to (`all`).
    template <int items, class Operator, class Prefix>
    void ExclusiveScan(T (&in)[items], T (&out)[items], Operator combine, Prefix prefix,
                       T& all) const {
        T own = in[0];
        for (int i = 1; i < items; ++i) own = combine(own, in[i]);
        T before = scanned(own, combine, prefix, all);
        for (int i = 0; i < items; ++i) {
            const T value = in[i];
            out[i] = before;
            before = combine(before, value);
        }
    }
    template <int items, class Operator>
    void InclusiveScan(T (&in)[items], T (&out)[items], Operator combine, T& all) const {
        const int thread = detail::thread_of_block();
        T own = in[0];
        for (int i = 1; i < items; ++i) own = combine(own, in[i]);
        // What stands before the first thread is never combined.
        values_[thread] = own;
        __syncthreads();
        if (thread == 0)
            for (int i = 1; i < threads; ++i) values_[i] = combine(values_[i - 1], values_[i]);
        __syncthreads();
        all = values_[threads - 1];
        T sum = thread > 0 ? combine(values_[thread - 1], in[0]) : in[0];
        for (int i = 0;;) {
            const T next = i + 1 < items ? in[i + 1] : in[i];
            out[i] = sum;
            if (++i == items) break;
            sum = combine(sum, next);
        }
    }
    template <int items, class Operator>
    void InclusiveScan(T (&in)[items], T (&out)[items], Operator combine) const {
        T all;
        InclusiveScan(in, out, combine, all);
    }
    template <int items, class Operator>
    void ExclusiveScan(T (&in)[items], T (&out)[items], T first, Operator combine, T& all) const {
        ExclusiveScan(in, out, combine, Fixed{first}, all);
    }
    template <int items, class Operator>
    void ExclusiveScan(T (&in)[items], T (&out)[items], T first, Operator combine) const {
        T all;
        ExclusiveScan(in, out, first, combine, all);
    }
    template <int items>
    void InclusiveSum(T (&in)[items], T (&out)[items]) const {
        InclusiveScan(in, out, cub::Sum());
    }
    template <int items>
    void InclusiveSum(T (&in)[items], T (&out)[items], T& all) const {
        InclusiveScan(in, out, cub::Sum(), all);
    }
    template <int items>
    void ExclusiveSum(T (&in)[items], T (&out)[items]) const {
        ExclusiveScan(in, out, T{}, cub::Sum());
    }
    template <int items>
    void ExclusiveSum(T (&in)[items], T (&out)[items], T& all) const {
        ExclusiveScan(in, out, T{}, cub::Sum(), all);
    }
    // The same for one element of each thread.
    template <class... Rest>
    void InclusiveSum(T in, T& out, Rest&&... rest) const {
        one(in, out, [&](auto& i, auto& o) { InclusiveSum(i, o, rest...); });
    }
    void ExclusiveSum(T in, T& out) const {
        one(in, out, [&](auto& i, auto& o) { ExclusiveSum(i, o); });
    }
    void ExclusiveSum(T in, T& out, T& all) const {
        one(in, out, [&](auto& i, auto& o) { ExclusiveSum(i, o, all); });
    }
    template <class Prefix,
              class = std::enable_if_t<std::is_class_v<Prefix> && !std::is_same_v<Prefix, T>>>
    void ExclusiveSum(T in, T& out, Prefix& prefix) const {
        T all;
        one(in, out, [&](auto& i, auto& o) {
            ExclusiveScan(
                i, o, cub::Sum(), [&](const T& sum) { return prefix(sum); }, all);
        });
    }
    template <class... Rest>
    void InclusiveScan(T in, T& out, Rest&&... rest) const {
        one(in, out, [&](auto& i, auto& o) { InclusiveScan(i, o, rest...); });
    }
    template <class... Rest>
    void ExclusiveScan(T in, T& out, T first, Rest&&... rest) const {
        one(in, out, [&](auto& i, auto& o) { ExclusiveScan(i, o, first, rest...); });
    }

 private:
    template <class Scan>
    static void one(const T& in, T& out, Scan scan) {
        T values[1] = {in}, results[1];
        scan(values, results);
        out = results[0];
    }
    template <class Operator, class Prefix>
    T scanned(const T& own, Operator combine, Prefix prefix, T& all) const {
        const int thread = detail::thread_of_block();
        values_[thread] = own;
        __syncthreads();
        if (thread == 0) {
            T sum = values_[0];
            for (int i = 1; i < threads; ++i) sum = combine(sum, values_[i]);
            T before = prefix(sum);
            for (int i = 0; i < threads; ++i) {
                const T value = values_[i];
                values_[i] = before;
                before = combine(before, value);
            }
            values_[threads] = sum;
        }
        __syncthreads();
        all = values_[threads];
        return values_[thread];
    }
    T* values_;
};

}  // namespace cub
