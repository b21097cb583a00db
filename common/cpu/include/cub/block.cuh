// CUB's algorithms for a block. All threads bring what they have to TempStorage; the first one does the work.
#pragma once

#include <algorithm>
#include <vector>

#include "operators.cuh"

namespace cub {

enum BlockReduceAlgorithm {
    BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
    BLOCK_REDUCE_RAKING,
    BLOCK_REDUCE_WARP_REDUCTIONS
};
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockLoadAlgorithm {
    BLOCK_LOAD_DIRECT,
    BLOCK_LOAD_STRIPED,
    BLOCK_LOAD_VECTORIZE,
    BLOCK_LOAD_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};
enum BlockStoreAlgorithm {
    BLOCK_STORE_DIRECT,
    BLOCK_STORE_STRIPED,
    BLOCK_STORE_VECTORIZE,
    BLOCK_STORE_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};

namespace detail {
inline int thread_of_block() {
    return static_cast<int>(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
}
// Room for elements that are not made there.
template <class T, int count>
struct Room {
    alignas(T) char bytes[sizeof(T) * count];
    T* elements() { return reinterpret_cast<T*>(bytes); }
};
struct NoStorage {};
}  // namespace detail

template <class T, int block_x, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS,
          int block_y = 1, int block_z = 1, int = 0>
class BlockReduce {
    static constexpr int threads = block_x * block_y * block_z;

 public:
    using TempStorage = detail::Room<T, threads>;
    explicit BlockReduce(TempStorage& storage) : values_(storage.elements()) {}
    // Right in the first thread; of `valid` threads, the first ones.
    template <class Operator>
    T Reduce(T value, Operator combine, int valid = threads) const {
        const int thread = detail::thread_of_block();
        values_[thread] = value;
        __syncthreads();
        if (thread != 0) return value;
        for (int i = 1; i < valid; ++i) value = combine(value, values_[i]);
        return value;
    }
    template <int items, class Operator>
    T Reduce(T (&values)[items], Operator combine) const {
        T all = values[0];
        for (int i = 1; i < items; ++i) all = combine(all, values[i]);
        return Reduce(all, combine);
    }
    T Sum(T value, int valid = threads) const { return Reduce(value, cub::Sum(), valid); }
    template <int items>
    T Sum(T (&values)[items]) const {
        return Reduce(values, cub::Sum());
    }

 private:
    T* values_;
};

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
    explicit BlockScan(TempStorage& storage) : values_(storage.elements()) {}

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

// Elements that follow each other for a thread; with the striped form neighbours for neighbouring threads.
template <class T, int block_x, int items, BlockLoadAlgorithm algorithm = BLOCK_LOAD_DIRECT,
          int block_y = 1, int block_z = 1, int = 0>
class BlockLoad {
    static int place(int i) {
        const int thread = detail::thread_of_block();
        return algorithm == BLOCK_LOAD_STRIPED ? thread + i * block_x * block_y * block_z
                                               : thread * items + i;
    }

 public:
    using TempStorage = detail::NoStorage;
    BlockLoad() = default;
    explicit BlockLoad(TempStorage&) {}
    template <class Input>
    void Load(Input from, T (&to)[items]) const {
        for (int i = 0; i < items; ++i) to[i] = from[place(i)];
    }
    template <class Input>
    void Load(Input from, T (&to)[items], int valid) const {
        for (int i = 0; i < items; ++i)
            if (place(i) < valid) to[i] = from[place(i)];
    }
    template <class Input, class Default>
    void Load(Input from, T (&to)[items], int valid, Default other) const {
        for (int i = 0; i < items; ++i)
            to[i] = place(i) < valid ? static_cast<T>(from[place(i)]) : static_cast<T>(other);
    }
};
template <class T, int block_x, int items, BlockStoreAlgorithm algorithm = BLOCK_STORE_DIRECT,
          int block_y = 1, int block_z = 1, int = 0>
class BlockStore {
 public:
    using TempStorage = detail::NoStorage;
    BlockStore() = default;
    explicit BlockStore(TempStorage&) {}
    template <class Output>
    void Store(Output to, T (&from)[items], int valid = block_x * block_y * block_z * items) const {
        const int thread = detail::thread_of_block();
        for (int i = 0; i < items; ++i) {
            const int place = algorithm == BLOCK_STORE_STRIPED
                                  ? thread + i * block_x * block_y * block_z
                                  : thread * items + i;
            if (place < valid) to[place] = from[i];
        }
    }
};

template <class Key, int block_x, int items, class Value = NullType, int = 4, bool = true,
          BlockScanAlgorithm = BLOCK_SCAN_WARP_SCANS>
class BlockRadixSort {
    static constexpr int count = block_x * items;
    struct Element {
        Key key;
        Value value;
    };

 public:
    using TempStorage = detail::Room<Element, count>;
    explicit BlockRadixSort(TempStorage& storage) : elements_(storage.elements()) {}
    void Sort(Key (&keys)[items], int begin = 0, int end = 8 * sizeof(Key)) const {
        sort(keys, none(), {begin, end, false}, false);
    }
    void SortDescending(Key (&keys)[items], int begin = 0, int end = 8 * sizeof(Key)) const {
        sort(keys, none(), {begin, end, true}, false);
    }
    void Sort(Key (&keys)[items], Value (&values)[items], int begin = 0,
              int end = 8 * sizeof(Key)) const {
        sort(keys, values, {begin, end, false}, false);
    }
    void SortDescending(Key (&keys)[items], Value (&values)[items], int begin = 0,
                        int end = 8 * sizeof(Key)) const {
        sort(keys, values, {begin, end, true}, false);
    }
    void SortBlockedToStriped(Key (&keys)[items], int begin = 0, int end = 8 * sizeof(Key)) const {
        sort(keys, none(), {begin, end, false}, true);
    }
    void SortBlockedToStriped(Key (&keys)[items], Value (&values)[items], int begin = 0,
                              int end = 8 * sizeof(Key)) const {
        sort(keys, values, {begin, end, false}, true);
    }

 private:
    static Value (&none())[items] {
        static thread_local Value values[items];
        return values;
    }
    void sort(Key (&keys)[items], Value (&values)[items], detail::ByBits<Key> before,
              bool striped) const {
        const int thread = detail::thread_of_block();
        for (int i = 0; i < items; ++i) elements_[thread * items + i] = {keys[i], values[i]};
        __syncthreads();
        if (thread == 0)
            std::stable_sort(elements_, elements_ + count, [&](const Element& a, const Element& b) {
                return before(a.key, b.key);
            });
        __syncthreads();
        for (int i = 0; i < items; ++i) {
            const Element& element = elements_[striped ? thread + i * block_x : thread * items + i];
            keys[i] = element.key;
            values[i] = element.value;
        }
        __syncthreads();
    }
    Element* elements_;
};

template <class T, int block_x, int items, bool = false, int block_y = 1, int block_z = 1, int = 0>
class BlockExchange {
    static constexpr int threads = block_x * block_y * block_z;

 public:
    using TempStorage = detail::Room<T, threads * items>;
    explicit BlockExchange(TempStorage& storage) : values_(storage.elements()) {}
    void BlockedToStriped(T (&in)[items], T (&out)[items]) const { exchange(in, out, false); }
    void StripedToBlocked(T (&in)[items], T (&out)[items]) const { exchange(in, out, true); }
    void BlockedToStriped(T (&values)[items]) const { exchange(values, values, false); }
    void StripedToBlocked(T (&values)[items]) const { exchange(values, values, true); }

 private:
    void exchange(T (&in)[items], T (&out)[items], bool from_striped) const {
        const int thread = detail::thread_of_block();
        const auto place = [=](int i, bool striped) {
            return striped ? thread + i * threads : thread * items + i;
        };
        for (int i = 0; i < items; ++i) values_[place(i, from_striped)] = in[i];
        __syncthreads();
        for (int i = 0; i < items; ++i) out[i] = values_[place(i, !from_striped)];
    }
    T* values_;
};

}  // namespace cub
