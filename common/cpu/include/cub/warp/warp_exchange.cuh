// CUB: elements from lane to lane, in a warp.
#pragma once

#include "../warp_call.cuh"

namespace cub {

// Each lane has `items`; striped ones are those of every `size`-th place.
template <class T, int items, int size = 32, int = 0>
class WarpExchange {
 public:
    using TempStorage = detail::Room<T, size * items>;
    explicit WarpExchange(TempStorage& storage) : values_(storage.elements()) {}
    template <class Output>
    void BlockedToStriped(const T (&in)[items], Output (&out)[items]) const {
        exchange(in, out, false);
    }
    template <class Output>
    void StripedToBlocked(const T (&in)[items], Output (&out)[items]) const {
        exchange(in, out, true);
    }
    template <class Rank>
    void ScatterToStriped(T (&values)[items], Rank (&ranks)[items]) const {
        ScatterToStriped(values, values, ranks);
    }
    template <class Output, class Rank>
    void ScatterToStriped(const T (&in)[items], Output (&out)[items], Rank (&ranks)[items]) const {
        const detail::Part<size> part;
        for (int i = 0; i < items; ++i) values_[ranks[i]] = in[i];
        part.wait();
        for (int i = 0; i < items; ++i) out[i] = values_[part.place() + i * size];
        part.wait();
    }

 private:
    template <class Output>
    void exchange(const T (&in)[items], Output (&out)[items], bool from_striped) const {
        const detail::Part<size> part;
        const auto place = [&](int i, bool striped) {
            return striped ? part.place() + i * size : part.place() * items + i;
        };
        for (int i = 0; i < items; ++i) values_[place(i, from_striped)] = in[i];
        part.wait();
        for (int i = 0; i < items; ++i) out[i] = values_[place(i, !from_striped)];
        part.wait();
    }
    T* values_;
};

}  // namespace cub
