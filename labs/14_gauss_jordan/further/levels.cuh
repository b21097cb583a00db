// What lu_factors.cuh decides by, its streams, and its graph.
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

// Two streams beside the default one, of which the kernels of the first come first; and what orders streams.
class Streams {
 public:
    Streams() {
        int lowest = 0, highest = 0;
        CHECK(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
        CHECK(cudaStreamCreateWithPriority(&urgent_, cudaStreamNonBlocking, highest));
        CHECK(cudaStreamCreateWithPriority(&other_, cudaStreamNonBlocking, lowest));
        CHECK(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming));
    }
    ~Streams() {
        cudaStreamDestroy(urgent_);
        cudaStreamDestroy(other_);
        cudaEventDestroy(event_);
    }
    Streams(const Streams&) = delete;
    Streams& operator=(const Streams&) = delete;

    cudaStream_t urgent() const { return urgent_; }
    cudaStream_t other() const { return other_; }

    // What comes into `later` from now on begins when all that is in `earlier` by now has ended.
    void make_wait(cudaStream_t later, cudaStream_t earlier) const {
        if (later == earlier) return;
        CHECK(cudaEventRecord(event_, earlier));
        CHECK(cudaStreamWaitEvent(later, event_, 0));
    }

 private:
    cudaStream_t urgent_ = nullptr, other_ = nullptr;
    cudaEvent_t event_ = nullptr;
};

// Launches that are always the same, captured once and launched again as a graph (lab 17).
class Graph {
 public:
    Graph() = default;
    ~Graph() {
        if (graph_) cudaGraphExecDestroy(graph_);
    }
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;

    // `work` puts the launches into `stream`, and into others that wait for it and for which it waits at the end.
    template <class Work>
    void launch(cudaStream_t stream, Work&& work) {
        if (!graph_) {
            cudaGraph_t captured = nullptr;
            CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
            work();
            CHECK(cudaStreamEndCapture(stream, &captured));
            CHECK(cudaGraphInstantiateWithFlags(&graph_, captured, 0));
            CHECK(cudaGraphDestroy(captured));
        }
        CHECK(cudaGraphLaunch(graph_, stream));
    }

 private:
    cudaGraphExec_t graph_ = nullptr;
};

inline int round_up(int64_t value, int64_t step) { return int(lab::divide_up(value, step) * step); }
