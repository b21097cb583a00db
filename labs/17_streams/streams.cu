// 17 streams: what does not need to wait should not. Copies run beside kernels, the launches of many
// small kernels become one, and a small kernel overtakes a large one. The kernels are given (given/);
// you write the calls of streams, events and graphs.
//
//   whole         a picture is sharpened: one copy in, one kernel, one copy out; nothing to write
//   strips        the same in strips over several streams: copies run beside kernels
//   graph         the same work, captured once and launched as a graph
//   pageable, one_stream, with_default   strips again, each with one thing that spoils it
//
//   one_by_one    rounds of small steps, a launch each; nothing to write
//   captured      all these launches captured into one graph
//   built         the graph of a round, built by hand; its key is changed before each launch
//
//   urgent        a small kernel beside a large one, in a stream of higher priority

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "../../common/array_file.h"
#include "../../common/image.h"
#include "../../common/lab.h"
#include "given/chain.cuh"
#include "given/picture.cuh"

// ---------- Memory -----------------------------------------------------------------------------

// Host memory. The device can copy from it and to it by itself, beside everything else, only if it is
// pinned: then the system leaves it where it is.
template <class T>
class HostArray {
 public:
    explicit HostArray(int64_t count) : count_(count) {
        // TODO 1a (1 line): the same, pinned (cudaMallocHost).
        values_ = static_cast<T*>(std::malloc(count * sizeof(T)));
    }
    ~HostArray() {
        // TODO 1b (1 line): pinned memory has a function of its own for this.
        std::free(values_);
    }
    HostArray(const HostArray&) = delete;
    HostArray& operator=(const HostArray&) = delete;

    T* get() const { return values_; }
    int64_t count() const { return count_; }

 private:
    T* values_ = nullptr;
    int64_t count_;
};

// ---------- Part one: a picture in strips ------------------------------------------------------

// The model: each line waits for the one before.
lab::Launch launch_whole(const Picture& picture) {
    const size_t bytes = size_t(picture.height) * picture.width;
    const lab::Launch shape = sharpen_shape(picture.width, picture.height);
    CHECK(cudaMemcpy(picture.d_input, picture.h_input, bytes, cudaMemcpyHostToDevice));
    sharpen_kernel<<<shape.grid, shape.block>>>(picture.d_input, picture.d_output, picture.height,
                                                picture.width, 0, picture.height);
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(picture.h_output, picture.d_output, bytes, cudaMemcpyDeviceToHost));
    return shape;
}

// A strip's way: in, sharpened, out, all in its stream, picture.stream(strip). None of the calls waits.
void copy_in(const Picture& picture, int strip) {
    const int64_t offset = picture.offset(strip);
    const size_t bytes = picture.bytes(strip);
    const cudaStream_t stream = picture.stream(strip);
    // TODO 2a (1 statement): copy the strip's bytes to the device, in its stream; they lie `offset`
    // behind the start on both sides.
    // TODO 3a (1 line): behind the copy, record the strip's event, picture.copied[strip].
    (void)offset, (void)bytes, (void)stream;  // delete this line
}

void sharpen(const Picture& picture, int strip) {
    const lab::Launch shape = sharpen_shape(picture.width, picture.rows(strip));
    const cudaStream_t stream = picture.stream(strip);
    // TODO 2b (a change): this launch goes to the default stream; let it go to the strip's.
    (void)stream;  // delete this line
    sharpen_kernel<<<shape.grid, shape.block>>>(picture.d_input, picture.d_output, picture.height,
                                                picture.width, picture.first_row(strip),
                                                picture.rows(strip));
    CHECK(cudaGetLastError());  // CHECK_LAUNCH() waits in a debug build, and here nobody may wait
}

void copy_out(const Picture& picture, int strip) {
    const int64_t offset = picture.offset(strip);
    const size_t bytes = picture.bytes(strip);
    const cudaStream_t stream = picture.stream(strip);
    // TODO 2c (1 statement): copy the strip's bytes of the output back to the host.
    // TODO 4 (1 line): when it has come back, note_arrival is to be called, on the host, with
    // &picture.arrivals[strip].
    (void)offset, (void)bytes, (void)stream;  // delete this line
}

// The kernel of a strip reads a row above it and a row below it. They belong to the neighbours, which
// have come to the device in other streams.
void wait_for_neighbours(const Picture& picture, int strip) {
    const cudaStream_t stream = picture.stream(strip);
    // TODO 3b (2 lines): what comes into this stream from here on waits for the events of strip - 1
    // and strip + 1, where there are such strips.
    (void)stream;  // delete this line
}

// All strips, handed out at once. An event can only be waited for when it has been recorded: so the next
// strip is sent in before this one is sharpened.
lab::Launch launch_strips(const Picture& picture) {
    const auto timed = [&](char what, int strip, void (*work)(const Picture&, int)) {
        if (!picture.timeline) return work(picture, strip);
        picture.timeline->around(what, strip, int(strip % picture.streams.size()),
                                 picture.stream(strip), [&] { work(picture, strip); });
    };
    fork_streams(picture);
    for (int strip = 0; strip <= picture.strips; ++strip) {
        if (strip < picture.strips) timed('i', strip, copy_in);
        if (strip == 0) continue;
        wait_for_neighbours(picture, strip - 1);
        timed('k', strip - 1, sharpen);
        timed('o', strip - 1, copy_out);
    }
    join_streams(picture);
    return sharpen_shape(picture.width, picture.rows(0));
}

// ---------- Graphs -----------------------------------------------------------------------------

// What `work` puts into the stream becomes a graph that can be launched. Nothing runs yet.
template <class Work>
cudaGraphExec_t capture(cudaStream_t stream, const Work& work) {
    cudaGraphExec_t executable = nullptr;
    // TODO 5 (6 lines): begin to capture (cudaStreamCaptureModeGlobal), work(), end, which gives a
    // cudaGraph_t; make that executable (cudaGraphInstantiateWithFlags); destroy it, it is needed no more.
    (void)stream, (void)work;  // delete this line
    return executable;
}

// ---------- Part two: many small steps ---------------------------------------------------------

void launch_round(const Chain& chain, uint32_t key) {
    const lab::Launch shape = chain.shape();
    stir_kernel<<<shape.grid, shape.block, 0, chain.stream>>>(chain.d_cells[0], chain.count, key,
                                                              1);
    CHECK(cudaGetLastError());
    for (int step = 0; step < chain.steps; ++step) {
        step_kernel<<<shape.grid, shape.block, 0, chain.stream>>>(
            chain.d_cells[step % 2], chain.d_cells[1 - step % 2], chain.count);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaMemcpyAsync(chain.h_cells, chain.d_cells[0], chain.bytes(), cudaMemcpyDeviceToHost,
                          chain.stream));
}

void launch_rounds(const Chain& chain) {
    for (const uint32_t key : chain.keys) launch_round(chain, key);
}

// Nodes behind `last`; each of these returns its node, the last one from now on. A kernel node gets the
// addresses of the kernel's arguments, and copies what is there.
cudaGraphNode_t add_step(cudaGraph_t graph, cudaGraphNode_t last, const lab::Launch& shape,
                         const uint32_t* from, uint32_t* to, int count) {
    cudaGraphNode_t node = last;
    // TODO 6a (3 lines): the addresses of step_kernel's arguments, an array of void*; a kernel_node()
    // of them; add it to the graph, as a node that waits for `last`. build_round() has a model.
    return node;
}

cudaGraphNode_t add_copy_back(cudaGraph_t graph, cudaGraphNode_t last, const Chain& chain) {
    cudaGraphNode_t node = last;
    // TODO 6b (1 statement): a node that copies the cells to chain.h_cells
    // (cudaGraphAddMemcpyNode1D).
    return node;
}

// The graph of one round, and the node that stirs: its key is another one in each round.
struct Round {
    cudaGraph_t graph = nullptr;
    cudaGraphNode_t stir = nullptr;
    cudaGraphExec_t executable = nullptr;
};

Round build_round(const Chain& chain) {
    Round round;
    uint32_t* cells = chain.d_cells[0];
    int count = chain.count, times = 1;
    uint32_t key = chain.keys[0];
    void* arguments[] = {&cells, &count, &key, &times};
    const cudaKernelNodeParams stir = kernel_node((void*)stir_kernel, chain.shape(), arguments);
    CHECK(cudaGraphCreate(&round.graph, 0));
    CHECK(cudaGraphAddKernelNode(&round.stir, round.graph, nullptr, 0, &stir));  // waits for none
    cudaGraphNode_t last = round.stir;
    for (int step = 0; step < chain.steps; ++step) {
        last = add_step(round.graph, last, chain.shape(), chain.d_cells[step % 2],
                        chain.d_cells[1 - step % 2], chain.count);
    }
    add_copy_back(round.graph, last, chain);
    CHECK(cudaGraphInstantiateWithFlags(&round.executable, round.graph, 0));
    return round;
}

void launch_built(const Chain& chain, const Round& round) {
    uint32_t* cells = chain.d_cells[0];
    int count = chain.count, times = 1;
    for (uint32_t key : chain.keys) {
        void* arguments[] = {&cells, &count, &key, &times};
        const cudaKernelNodeParams stir = kernel_node((void*)stir_kernel, chain.shape(), arguments);
        // TODO 7 (1 statement): give the node round.stir of the executable its new parameters.
        (void)stir;  // delete this line
        CHECK(cudaGraphLaunch(round.executable, chain.stream));
    }
}

// ---------- Part three: who goes first ---------------------------------------------------------

struct TwoStreams {
    cudaStream_t background = nullptr, urgent = nullptr;
};

// Both are to be cudaStreamNonBlocking: the default stream does not wait for them. A larger number is a
// lower priority.
TwoStreams make_streams() {
    TwoStreams streams;
    // TODO 8 (4 lines): ask for the range of priorities (cudaDeviceGetStreamPriorityRange), and make
    // `background` with the lowest and `urgent` with the highest (cudaStreamCreateWithPriority).
    // Replace these two lines.
    CHECK(cudaStreamCreateWithFlags(&streams.background, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&streams.urgent, cudaStreamNonBlocking));
    return streams;
}

// ---------- Nothing to edit below --------------------------------------------------------------

#include "given/run_chain.cuh"
#include "given/run_pictures.cuh"

int main(int argc, char** argv) {
    lab::Arguments arguments(argc, argv,
                             "Sharpens a picture in strips, and does many small steps.");
    Request request(arguments);
    lab::Study study(arguments, variant_names());
    arguments.finish();
    request.finish(arguments, study);
    const lab::Image image = request.read_picture(study);
    if (works_on_picture(study) && image.count() == 0) return lab::nothing_to_launch("pixels");
    lab::require_device();
    study.size(size_words(study, request, image));
    run_pictures(study, request, image);
    run_chain(study, request);
    run_urgent(study, request);
    return study.finish();
}
