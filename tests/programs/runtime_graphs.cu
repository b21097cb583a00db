// What orders work in several streams and in graphs: several events, the nodes' dependencies, capture.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "runtime_expect.h"
#include "runtime_log.h"

// A stream that waits for two others waits for both.
void check_two_waits() {
    Log log;
    cudaStream_t streams[3];
    cudaEvent_t events[2];
    for (cudaStream_t& stream : streams) SUCCEEDS(cudaStreamCreate(&stream));
    for (int i = 0; i < 2; ++i) {
        SUCCEEDS(cudaEventCreate(&events[i]));
        append_kernel<<<1, 1, 0, streams[i]>>>(log.entries, log.length, 'a' + i);
        SUCCEEDS(cudaEventRecord(events[i], streams[i]));
        if (i == 0) SUCCEEDS(cudaStreamWaitEvent(streams[1], events[0], 0));
    }
    for (const cudaEvent_t event : {events[1], events[0]})
        SUCCEEDS(cudaStreamWaitEvent(streams[2], event, 0));
    append_kernel<<<1, 1, 0, streams[2]>>>(log.entries, log.length, 'c');
    SUCCEEDS(cudaStreamSynchronize(streams[2]));
    EXPECT(log.text() == "abc");
    for (const cudaStream_t stream : streams) SUCCEEDS(cudaStreamDestroy(stream));
    for (const cudaEvent_t event : events) SUCCEEDS(cudaEventDestroy(event));
}

// A wait in the default stream is something that it does: it waits for all others, and they for it.
void check_wait_in_default_stream() {
    Log log;
    cudaStream_t first, second;
    cudaEvent_t event;
    for (cudaStream_t* one : {&first, &second}) SUCCEEDS(cudaStreamCreate(one));
    SUCCEEDS(cudaEventCreate(&event));
    append_kernel<<<1, 1, 0, first>>>(log.entries, log.length, 'a');
    SUCCEEDS(cudaEventRecord(event, first));
    append_kernel<<<1, 1, 0, first>>>(log.entries, log.length, 'b');
    SUCCEEDS(cudaStreamWaitEvent(0, event, 0));
    append_kernel<<<1, 1, 0, second>>>(log.entries, log.length, 'c');
    SUCCEEDS(cudaDeviceSynchronize());
    EXPECT(log.text() == "abc");
    for (const cudaStream_t one : {first, second}) SUCCEEDS(cudaStreamDestroy(one));
    SUCCEEDS(cudaEventDestroy(event));
}

// A graph orders its nodes by its dependencies and by nothing else: what two nodes wait for alike runs in any order.
void check_graph_order() {
    Log log;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaGraphNode_t nodes[4];
    cudaStream_t stream;
    SUCCEEDS(cudaStreamCreate(&stream));
    SUCCEEDS(cudaGraphCreate(&graph, 0));
    for (int i = 0; i < 4; ++i) {
        int what = 'a' + i;
        void* arguments[] = {&log.entries, &log.length, &what};
        cudaKernelNodeParams launch{};
        launch.func = (void*)append_kernel;
        launch.gridDim = launch.blockDim = dim3(1);
        launch.kernelParams = arguments;
        const cudaGraphNode_t* const after = i == 3 ? nodes + 1 : nodes;
        SUCCEEDS(
            cudaGraphAddKernelNode(&nodes[i], graph, after, std::min(i, i == 3 ? 2 : 1), &launch));
    }
    SUCCEEDS(cudaGraphInstantiateWithFlags(&executable, graph, 0));
    SUCCEEDS(cudaGraphDestroy(graph));
    for (int i = 0; i < 2; ++i) SUCCEEDS(cudaGraphLaunch(executable, stream));
    append_kernel<<<1, 1, 0, stream>>>(log.entries, log.length, 'e');
    SUCCEEDS(cudaStreamSynchronize(stream));
    std::string text = log.text();
#ifdef CUDA_ON_CPU
    const char* const order = std::getenv("CUDA_CPU_ORDER");
    if (order != nullptr && std::strcmp(order, "reversed") == 0) EXPECT(text == "acbdacbde");
    FAILS(cudaErrorInvalidValue, cudaGraphLaunch(nullptr, stream));
#endif
    for (const size_t at : {1, 5})
        if (text[at] == 'c') std::swap(text[at], text[at + 1]);
    EXPECT(text == "abcdabcde");
    SUCCEEDS(cudaGraphExecDestroy(executable));
    SUCCEEDS(cudaStreamDestroy(stream));
}

// What is captured from two streams, and what must not be.
void check_capture() {
    Log log;
    cudaStream_t stream, other;
    cudaEvent_t forked, joined, outside;
    for (cudaStream_t* one : {&stream, &other}) SUCCEEDS(cudaStreamCreate(one));
    for (cudaEvent_t* one : {&forked, &joined, &outside}) SUCCEEDS(cudaEventCreate(one));
    SUCCEEDS(cudaEventRecord(outside, other));
    for (const bool joins : {true, false}) {
        SUCCEEDS(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
        FAILS(cudaErrorIllegalState, cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
        SUCCEEDS(cudaEventRecord(forked, stream));
        SUCCEEDS(cudaStreamWaitEvent(other, forked, 0));
        append_kernel<<<1, 1, 0, stream>>>(log.entries, log.length, 'a');
        append_kernel<<<1, 1, 0, other>>>(log.entries, log.length, 'b');
        SUCCEEDS(cudaEventRecord(joined, other));
        if (joins) SUCCEEDS(cudaStreamWaitEvent(stream, joined, 0));
        if (joins) append_kernel<<<1, 1, 0, stream>>>(log.entries, log.length, 'c');
        cudaGraph_t graph = nullptr;
        if (!joins) {
            FAILS(cudaErrorStreamCaptureUnjoined, cudaStreamEndCapture(stream, &graph));
            continue;
        }
        SUCCEEDS(cudaStreamEndCapture(stream, &graph));
        cudaGraphExec_t executable;
        SUCCEEDS(cudaGraphInstantiateWithFlags(&executable, graph, 0));
        SUCCEEDS(cudaGraphLaunch(executable, stream));
        SUCCEEDS(cudaStreamSynchronize(stream));
        EXPECT(log.text() == "abc" || log.text() == "bac");
        SUCCEEDS(cudaGraphExecDestroy(executable));
        SUCCEEDS(cudaGraphDestroy(graph));
    }
    // What cannot be captured ends the capture.
    int* const number = zeros<int>(1);
    bool called = false;
    const auto refused = [&](cudaError_t error, const auto& call) {
        cudaGraph_t graph = nullptr;
        SUCCEEDS(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
        SUCCEEDS(cudaEventRecord(joined, stream));
        EXPECT(call() == error);
        FAILS(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(stream, &graph));
        EXPECT(graph == nullptr);
        cudaGetLastError();
    };
    refused(cudaErrorStreamCaptureIsolation,
            [&] { return cudaStreamWaitEvent(stream, outside, 0); });
    refused(cudaErrorStreamCaptureUnsupported, [&] { return cudaStreamSynchronize(stream); });
    refused(cudaErrorStreamCaptureUnsupported, [] { return cudaDeviceSynchronize(); });
    refused(cudaErrorCapturedEvent, [&] { return cudaEventSynchronize(joined); });
    refused(cudaErrorStreamCaptureUnsupported, [&] { return cudaStreamQuery(stream); });
    refused(cudaErrorStreamCaptureImplicit, [&] { return cudaMemsetAsync(number, 0, 4); });
    refused(cudaErrorStreamCaptureImplicit, [&] { return cudaStreamWaitEvent(0, joined, 0); });
    refused(cudaErrorStreamCaptureImplicit, [&] { return cudaStreamWaitEvent(0, outside, 0); });
    refused(cudaErrorStreamCaptureImplicit, [&] { return cudaStreamSynchronize(0); });
    refused(cudaErrorStreamCaptureImplicit, [&] { return cudaStreamQuery(0); });
    refused(cudaErrorStreamCaptureImplicit, [&] {
        return cudaLaunchHostFunc(
            0, [](void* data) { *static_cast<bool*>(data) = true; }, &called);
    });
    EXPECT(!called);
    refused(cudaErrorStreamCaptureImplicit, [&] {
        append_kernel<<<1, 1>>>(log.entries, log.length, 'd');
        return cudaGetLastError();
    });
    // Memory and the like, where the mode does not allow it: of any thread, or of the one that captures.
    void* memory = nullptr;
    const auto outcome = [&](cudaStreamCaptureMode mode, const auto& call) {
        cudaGraph_t graph = nullptr;
        SUCCEEDS(cudaStreamBeginCapture(stream, mode));
        const cudaError_t error = call();
        EXPECT(cudaStreamEndCapture(stream, &graph) ==
               (error == cudaSuccess ? cudaSuccess : cudaErrorStreamCaptureInvalidated));
        if (graph != nullptr) SUCCEEDS(cudaGraphDestroy(graph));
        cudaGetLastError();
        return error;
    };
    const auto allocate = [&] { return cudaMalloc(&memory, 4); };
    const auto allocate_elsewhere = [&] {
        cudaError_t error = cudaSuccess;
        std::thread([&] { error = cudaMalloc(&memory, 4); }).join();
        return error;
    };
    constexpr cudaStreamCaptureMode global = cudaStreamCaptureModeGlobal,
                                    own = cudaStreamCaptureModeThreadLocal,
                                    relaxed = cudaStreamCaptureModeRelaxed;
    constexpr cudaError_t unsupported = cudaErrorStreamCaptureUnsupported;
    EXPECT(outcome(global, allocate) == unsupported && outcome(own, allocate) == unsupported);
    EXPECT(outcome(global, allocate_elsewhere) == unsupported);
    EXPECT(outcome(own, allocate_elsewhere) == cudaSuccess && cudaFree(memory) == cudaSuccess);
    EXPECT(outcome(relaxed, allocate) == cudaSuccess);
    EXPECT(outcome(global, [&] { return cudaFree(memory); }) == unsupported);
    EXPECT(outcome(relaxed, [&] { return cudaFree(memory); }) == cudaSuccess);
    EXPECT(outcome(global, [&] { return cudaEventQuery(outside); }) == unsupported);
    EXPECT(outcome(global, [&] { return cudaStreamSynchronize(other); }) == unsupported);
    cudaStreamCaptureMode mode = relaxed;
    SUCCEEDS(cudaThreadExchangeStreamCaptureMode(&mode));
    EXPECT(mode == global && outcome(global, allocate) == cudaSuccess);
    SUCCEEDS(cudaThreadExchangeStreamCaptureMode(&mode));
    SUCCEEDS(cudaFree(memory));
    SUCCEEDS(cudaFree(number));
    for (const cudaStream_t one : {stream, other}) SUCCEEDS(cudaStreamDestroy(one));
    for (const cudaEvent_t one : {forked, joined, outside}) SUCCEEDS(cudaEventDestroy(one));
}

// What is no graph, and a node that is to wait for none.
void check_no_graph() {
    cudaGraph_t graph;
    cudaGraphExec_t executable = nullptr;
    cudaGraphNode_t node = nullptr;
    FAILS(cudaErrorInvalidValue, cudaGraphInstantiateWithFlags(&executable, nullptr, 0));
    EXPECT(executable == nullptr);
    FAILS(cudaErrorInvalidValue, cudaGraphDestroy(nullptr));
    FAILS(cudaErrorInvalidValue, cudaGraphClone(&graph, nullptr));
    FAILS(cudaErrorInvalidValue, cudaGraphAddEmptyNode(&node, nullptr, nullptr, 0));
    SUCCEEDS(cudaGraphCreate(&graph, 0));
    FAILS(cudaErrorInvalidValue, cudaGraphAddEmptyNode(&node, graph, &node, 1));
    SUCCEEDS(cudaGraphDestroy(graph));
}

int main() {
    check_no_graph();
    check_two_waits();
    check_wait_in_default_stream();
    check_graph_order();
    check_capture();
    std::printf("ok\n");
}
