// CUB: what stands before each lane, in a warp.
#pragma once

#include "../warp_call.cuh"

namespace cub {

template <class T, int size = 32, int = 0>
class WarpScan {
 public:
    struct TempStorage {};
    explicit WarpScan(TempStorage&) {}
    template <class Operator>
    void InclusiveScan(T value, T& result, Operator combine) const {
        const detail::Part<size> part;
        for (int distance = 1; distance < size; distance *= 2) {
            const int other = part.place() - distance;
            const T theirs = part.from(value, other >= 0 ? other : part.place());
            if (other >= 0) value = combine(theirs, value);
        }
        result = value;
    }
    template <class Operator>
    void InclusiveScan(T value, T& result, Operator combine, T& all) const {
        InclusiveScan(value, result, combine);
        const detail::Part<size> part;
        all = part.from(result, part.count() - 1);
    }
    template <class Operator>
    void ExclusiveScan(T value, T& result, T first, Operator combine) const {
        const detail::Part<size> part;
        T inclusive;
        InclusiveScan(value, inclusive, combine);
        const T before = part.from(inclusive, part.place() > 0 ? part.place() - 1 : 0);
        result = part.place() == 0 ? first : combine(first, before);
    }
    template <class Operator>
    void ExclusiveScan(T value, T& result, Operator combine) const {
        const detail::Part<size> part;
        T inclusive;
        InclusiveScan(value, inclusive, combine);
        const T before = part.from(inclusive, part.place() > 0 ? part.place() - 1 : 0);
        if (part.place() > 0) result = before;
    }
    template <class Operator>
    void ExclusiveScan(T value, T& result, T first, Operator combine, T& all) const {
        T inclusive;
        InclusiveScan(value, inclusive, combine, all);
        ExclusiveScan(value, result, first, combine);
    }
    template <class Operator>
    void ExclusiveScan(T value, T& result, Operator combine, T& all) const {
        T inclusive;
        InclusiveScan(value, inclusive, combine, all);
        ExclusiveScan(value, result, combine);
    }
    // Both at once.
    template <class Operator>
    void Scan(T value, T& inclusive, T& exclusive, Operator combine) const {
        InclusiveScan(value, inclusive, combine);
        ExclusiveScan(value, exclusive, combine);
    }
    template <class Operator>
    void Scan(T value, T& inclusive, T& exclusive, T first, Operator combine) const {
        ExclusiveScan(value, exclusive, first, combine);
        inclusive = combine(exclusive, value);
    }
    void InclusiveSum(T value, T& result) const { InclusiveScan(value, result, cub::Sum()); }
    void InclusiveSum(T value, T& result, T& all) const {
        InclusiveScan(value, result, cub::Sum(), all);
    }
    void ExclusiveSum(T value, T& result) const { ExclusiveScan(value, result, T{}, cub::Sum()); }
    void ExclusiveSum(T value, T& result, T& all) const {
        T inclusive;
        InclusiveScan(value, inclusive, cub::Sum(), all);
        ExclusiveSum(value, result);
    }
    T Broadcast(T value, unsigned int place) const {
        return detail::Part<size>().from(value, static_cast<int>(place));
    }
};

}  // namespace cub
