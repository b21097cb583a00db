// CUB: one value of all lanes, in a warp.
#pragma once

#include "../warp_call.cuh"

namespace cub {

template <class T, int size = 32, int = 0>
class WarpReduce {
 public:
    struct TempStorage {};
    explicit WarpReduce(TempStorage&) {}
    // Right in the first lane; of `valid` lanes, the first ones.
    template <class Operator>
    T Reduce(T value, Operator combine, int valid = size) const {
        const detail::Part<size> part;
        const int end = valid < part.count() ? valid : part.count();
        for (int distance = 1; distance < size; distance *= 2) {
            const int other = part.place() + distance;
            const T theirs = part.from(value, other < end ? other : part.place());
            if (other < end && part.place() % (2 * distance) == 0) value = combine(value, theirs);
        }
        return value;
    }
    T Sum(T value, int valid = size) const { return Reduce(value, cub::Sum(), valid); }
    T Max(T value, int valid = size) const { return Reduce(value, cub::Max(), valid); }
    T Min(T value, int valid = size) const { return Reduce(value, cub::Min(), valid); }
    // Of segments, right in the first lane of each; a lane whose flag is set begins one, or ends one.
    template <class Flag, class Operator>
    T HeadSegmentedReduce(T value, Flag is_head, Operator combine) const {
        const detail::Part<size> part;
        const int head = is_head ? 1 : 0;
        return segmented(part, value, combine, [&](int lane) {
            return lane + 1 >= part.count() || part.from(head, lane + 1) != 0;
        });
    }
    template <class Flag, class Operator>
    T TailSegmentedReduce(T value, Flag is_tail, Operator combine) const {
        const detail::Part<size> part;
        const int tail = is_tail ? 1 : 0;
        return segmented(part, value, combine, [&](int lane) {
            return lane + 1 >= part.count() || part.from(tail, lane) != 0;
        });
    }
    template <class Flag>
    T HeadSegmentedSum(T value, Flag is_head) const {
        return HeadSegmentedReduce(value, is_head, cub::Sum());
    }
    template <class Flag>
    T TailSegmentedSum(T value, Flag is_tail) const {
        return TailSegmentedReduce(value, is_tail, cub::Sum());
    }

 private:
    // ends(lane) asks the lane, so that every lane has to ask of each.
    template <class Operator, class Ends>
    static T segmented(const detail::Part<size>& part, T value, Operator combine, Ends ends) {
        bool is_end[size];
        T values[size];
        for (int lane = 0; lane < part.count(); ++lane) {
            is_end[lane] = ends(lane);
            values[lane] = part.from(value, lane);
        }
        for (int lane = part.place(); !is_end[lane];) value = combine(value, values[++lane]);
        return value;
    }
};

}  // namespace cub
