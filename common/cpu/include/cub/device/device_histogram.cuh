// CUB: histograms, for the device.
#pragma once

#include "../device_call.cuh"

namespace cub {
namespace detail {

// The bin of a sample, or -1: bins of one width between two levels, of which the upper one is outside; or between bounds.
template <class Level>
struct EvenBins {
    int levels;
    Level lower, upper;
    template <class Sample>
    int operator()(const Sample& sample) const {
        const auto value = static_cast<Level>(sample);
        if (value < lower || !(value < upper)) return -1;
        if constexpr (std::is_integral_v<Level>) {
            return static_cast<int>(static_cast<long long>(value - lower) * (levels - 1) /
                                    static_cast<long long>(upper - lower));
        } else {
            return static_cast<int>((value - lower) * ((levels - 1) / (upper - lower)));
        }
    }
};
template <class Level>
struct RangeBins {
    int levels;
    const Level* bounds;
    template <class Sample>
    int operator()(const Sample& sample) const {
        const Level* const above =
            std::upper_bound(bounds, bounds + levels, static_cast<Level>(sample));
        return above == bounds + levels ? -1 : static_cast<int>(above - bounds) - 1;
    }
};
// Counts the first `active` of `channels` samples of each pixel, in rows that are `stride` samples apart.
template <int channels, int active, class Input, class Counter, class Bins>
cudaError_t count_pixels(const char* name, Input in, Counter* const (&histograms)[active],
                         const Bins (&bins)[active], long long width, long long rows,
                         long long stride, cudaStream_t stream) {
    DeviceCall call(name, stream);
    if (rows > 0) call.reads("the samples", in, (rows - 1) * stride + width * channels);
    struct Channel {
        Counter* histogram;
        Bins bins;
    };
    std::vector<Channel> all;
    for (int channel = 0; channel < active; ++channel) {
        if (bins[channel].levels < 2) return cudaErrorInvalidValue;
        call.writes("the histogram", histograms[channel], bins[channel].levels - 1);
        all.push_back({histograms[channel], bins[channel]});
    }
    return call.run([=] {
        for (const Channel& channel : all)
            std::fill(channel.histogram, channel.histogram + channel.bins.levels - 1, Counter{});
        for (long long row = 0; row < rows; ++row) {
            for (long long pixel = 0; pixel < width; ++pixel) {
                for (size_t channel = 0; channel < all.size(); ++channel) {
                    const int bin = all[channel].bins(
                        in[row * stride + pixel * channels + static_cast<long long>(channel)]);
                    if (bin >= 0) ++all[channel].histogram[bin];
                }
            }
        }
    });
}

}  // namespace detail

struct DeviceHistogram {
    template <class Input, class Counter, class Level>
    static cudaError_t HistogramEven(CUDA_CPU_WORK, Input in, Counter* bins, int levels,
                                     Level lower, Level upper, long long count,
                                     cudaStream_t stream = nullptr) {
        return HistogramEven(work, bytes, in, bins, levels, lower, upper, count, 1ll,
                             static_cast<size_t>(count) * sizeof(detail::ValueOf<Input>), stream);
    }
    // Of rows that are `stride` bytes apart.
    template <class Input, class Counter, class Level>
    static cudaError_t HistogramEven(CUDA_CPU_WORK, Input in, Counter* bins, int levels,
                                     Level lower, Level upper, long long width, long long rows,
                                     size_t stride, cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        return detail::count_pixels<1, 1>("cub::DeviceHistogram::HistogramEven", in, {bins},
                                          {detail::EvenBins<Level>{levels, lower, upper}}, width,
                                          rows, in_samples<Input>(stride), stream);
    }
    template <class Input, class Counter, class Level>
    static cudaError_t HistogramRange(CUDA_CPU_WORK, Input in, Counter* bins, int levels,
                                      const Level* bounds, long long count,
                                      cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        return detail::count_pixels<1, 1>("cub::DeviceHistogram::HistogramRange", in, {bins},
                                          {detail::RangeBins<Level>{levels, bounds}}, count, 1ll,
                                          count, stream);
    }
    // A histogram for each of the first channels of pixels.
    template <int channels, int active, class Input, class Counter, class Level>
    static cudaError_t MultiHistogramEven(CUDA_CPU_WORK, Input in, Counter* (&bins)[active],
                                          const int (&levels)[active], const Level (&lower)[active],
                                          const Level (&upper)[active], long long pixels,
                                          cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        detail::EvenBins<Level> own[active];
        for (int i = 0; i < active; ++i) own[i] = {levels[i], lower[i], upper[i]};
        return detail::count_pixels<channels, active>("cub::DeviceHistogram::MultiHistogramEven",
                                                      in, bins, own, pixels, 1ll, pixels * channels,
                                                      stream);
    }
    template <int channels, int active, class Input, class Counter, class Level>
    static cudaError_t MultiHistogramRange(CUDA_CPU_WORK, Input in, Counter* (&bins)[active],
                                           const int (&levels)[active],
                                           const Level* const (&bounds)[active], long long pixels,
                                           cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        detail::RangeBins<Level> own[active];
        for (int i = 0; i < active; ++i) own[i] = {levels[i], bounds[i]};
        return detail::count_pixels<channels, active>("cub::DeviceHistogram::MultiHistogramRange",
                                                      in, bins, own, pixels, 1ll, pixels * channels,
                                                      stream);
    }

 private:
    template <class Input>
    static long long in_samples(size_t stride) {
        return static_cast<long long>(stride / sizeof(detail::ValueOf<Input>));
    }
};

}  // namespace cub
