// What lu_factors.cuh decides by, and its second stream.
#pragma once

#include "panel.cuh"

// What of the device decides which kernels run, asked for once.
struct Device {
    int multiprocessors, capability, shared_bytes;

    static Device current() {
        return {lab::device_attribute(cudaDevAttrMultiProcessorCount),
                10 * lab::device_attribute(cudaDevAttrComputeCapabilityMajor) +
                    lab::device_attribute(cudaDevAttrComputeCapabilityMinor),
                lab::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)};
    }
};

// One block has room for 512 rows of 32 columns, or for 4096 rows of 4.
constexpr int rows_of_block(int columns, int threads) {
    return threads / 32 * panel_rows_of_warp(columns);
}
constexpr int most_alone = 256;  // rows for which one block is faster than several

// Who factors a panel, and who multiplies.
enum class PanelBy { one_block, team };
enum class UpdateBy { registers, tensor_cores };

// How a panel is shared out.
struct PanelShape {
    int columns, blocks, threads;
};

// Columns are taken together on three levels: a panel is factored by one launch, a block is finished
// inside itself after each panel, a span after each block; the rest of the matrix waits for a whole span.
// Wider ones mean fewer walks through the matrix, and more work on high and narrow parts of it.
struct Levels {
    int block, span;
    bool look_ahead;  // the next span is factored while the rest is updated
};

// A second stream whose kernels come first, and what orders it and the first one.
class UrgentStream {
 public:
    UrgentStream() {
        int lowest = 0, highest = 0;
        CHECK(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
        CHECK(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, highest));
        CHECK(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming));
    }
    ~UrgentStream() {
        cudaStreamDestroy(stream_);
        cudaEventDestroy(event_);
    }
    UrgentStream(const UrgentStream&) = delete;
    UrgentStream& operator=(const UrgentStream&) = delete;

    cudaStream_t get() const { return stream_; }

    // What comes into `later` from now on begins when all that is in `earlier` by now has ended.
    void make_wait(cudaStream_t later, cudaStream_t earlier) const {
        if (later == earlier) return;
        CHECK(cudaEventRecord(event_, earlier));
        CHECK(cudaStreamWaitEvent(later, event_, 0));
    }

 private:
    cudaStream_t stream_ = nullptr;
    cudaEvent_t event_ = nullptr;
};

inline int round_up(int64_t value, int64_t step) { return int(lab::divide_up(value, step) * step); }
