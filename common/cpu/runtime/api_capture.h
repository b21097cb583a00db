// The API of capture: what streams are given becomes the nodes of a graph.
#pragma once

#include <iterator>
#include <memory>
#include <set>
#include <vector>

#include "api_graphs.h"

// What the stream gets from now on becomes a graph, and what streams get that wait for its events.
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
    if (const Call call; !call) return call.state;
    if (stream == nullptr || !is_stream(stream))
        return failed(cudaErrorStreamCaptureUnsupported,
                      "the default stream cannot be captured: make one with cudaStreamCreate");
    if (Queue::instance().captures.count(stream) != 0)
        return failed(cudaErrorIllegalState, "the stream is captured already");
    Queue::instance().captures[stream] = std::make_shared<CapturedStreams>(
        CapturedStreams{stream, mode, std::this_thread::get_id(), {}, {}});
    return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
    const Call call;
    if (!call) return call.state;
    auto& captures = Queue::instance().captures;
    const auto found = captures.find(stream);
    if (found == captures.end()) return failed(cudaErrorInvalidValue, "the stream is not captured");
    const Capture capture = found->second;
    if (capture->first != stream)
        return failed(cudaErrorStreamCaptureUnmatched, "the capture was begun in another stream");
    for (auto one = captures.begin(); one != captures.end();)
        one = one->second == capture ? captures.erase(one) : std::next(one);
    for (const cudaEvent_t event : Queue::instance().events)
        if (event->capture == capture) event->capture = nullptr;
    *graph = nullptr;
    if (capture->is_invalid) return failed(cudaErrorStreamCaptureInvalidated);
    std::set<size_t> joined(capture->last[stream].begin(), capture->last[stream].end());
    for (const Captured& node : capture->nodes) joined.insert(node.after.begin(), node.after.end());
    if (joined.size() < capture->nodes.size())
        return failed(cudaErrorStreamCaptureUnjoined,
                      "work of another stream is captured that the first stream does not wait for: "
                      "record an event behind it, and let the first stream wait for that");
    *graph = new CUgraph_st;
    for (const Captured& node : capture->nodes) {
        std::vector<cudaGraphNode_t> after;
        for (const size_t other : node.after) after.push_back((*graph)->nodes[other].get());
        add_node(nullptr, *graph, after.data(), after.size(),
                 static_cast<cudaGraphNodeType>(node.type),
                 [run = node.run, type = node.type](cudaStream_t target) {
                     Queue::instance().add(target, run, type);
                     return cudaSuccess;
                 });
    }
    return cudaSuccess;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
    std::swap(Queue::capture_mode, *mode);
    return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
    const bool captured = Queue::instance().captures.count(stream) != 0;
    *status = captured ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return cudaSuccess;
}
