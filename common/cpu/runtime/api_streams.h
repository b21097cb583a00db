// The API of streams, and of host functions that run in one.
#pragma once

#include <algorithm>

#include "api_call.h"
#include "behind_the_host.h"
#include "memory.h"
#include "queue.h"

namespace {

// Whether nobody may wait for the stream, or ask whether it is done.
cudaError_t refuse_captured(cudaStream_t stream) {
    if (Queue::instance().captures.count(stream) == 0 || !Queue::instance().break_captures())
        return cudaSuccess;
    return failed(cudaErrorStreamCaptureUnsupported,
                  "a stream that is captured has no work to wait for");
}

// Runs a function of the host in its turn; it may make no CUDA calls.
template <class Function>
cudaError_t add_host_function(cudaStream_t stream, Function function) {
    if (const cudaError_t error = state_of(stream); error != cudaSuccess) return error;
    const uint64_t number = Queue::instance().add(
        stream,
        [function] {
            Memory::instance().set_open(0);
            Paging::instance().serve(Paging::host);
            in_host_function = true;
            function();
            in_host_function = false;
        },
        3);
    if (number != 0) run_behind_the_host(number);
    return cudaSuccess;
}

}  // namespace

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

// In a kernel all streams are one: its launches run in the order in which they were made.
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
    if (in_kernel()) {
        *stream = cudaStreamFireAndForget;
        return cudaSuccess;
    }
    const Call call;
    if (!call) return call.state;
    if (flags > cudaStreamNonBlocking) return failed(cudaErrorInvalidValue);
    *stream = new CUstream_st{flags, 0, current_device};
    Queue::instance().streams.insert(*stream);
    return cudaSuccess;
}

namespace {
constexpr int lowest_priority = 0, highest_priority = -5;
}

// Priorities are kept, but the queue keeps the order of the calls.
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority) {
    const cudaError_t error = cudaStreamCreateWithFlags(stream, flags);
    if (error == cudaSuccess && !in_kernel()) {
        (*stream)->priority = std::clamp(priority, highest_priority, lowest_priority);
    }
    return error;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* lowest, int* highest) {
    if (const Call call; !call) return call.state;
    if (lowest != nullptr) *lowest = lowest_priority;
    if (highest != nullptr) *highest = highest_priority;
    return cudaSuccess;
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
    const Call call;
    if (!call) return call.state;
    if (!is_stream(stream)) return failed(cudaErrorInvalidResourceHandle);
    *priority = Queue::instance().streams.count(stream) != 0 ? stream->priority : lowest_priority;
    return cudaSuccess;
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags) {
    const Call call;
    if (!call) return call.state;
    if (!is_stream(stream)) return failed(cudaErrorInvalidResourceHandle);
    *flags = Queue::instance().streams.count(stream) != 0 ? stream->flags : cudaStreamDefault;
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    if (in_kernel()) return cudaSuccess;
    const Call call;
    if (!call) return call.state;
    if (Queue::instance().streams.erase(stream) == 0) return failed(cudaErrorInvalidResourceHandle);
    observer::stream_ends(stream);
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    const Call call;
    if (!call) return call.state;
    if (const cudaError_t error = state_of(stream); error != cudaSuccess) return error;
    if (const cudaError_t error = refuse_captured(stream); error != cudaSuccess) return error;
    if (const cudaError_t error = refuse_in_capture(); error != cudaSuccess) return error;
    Queue::instance().wait_for(stream);
    return device_state();
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
    const Call call;
    if (!call) return call.state;
    if (const cudaError_t error = state_of(stream); error != cudaSuccess) return error;
    if (const cudaError_t error = refuse_captured(stream); error != cudaSuccess) return error;
    if (const cudaError_t error = refuse_in_capture(); error != cudaSuccess) return error;
    return Queue::instance().asked(stream) ? device_state() : cudaErrorNotReady;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int) {
    if (in_kernel()) return cudaSuccess;
    const Call call;
    if (!call) return call.state;
    if (!is_event(event)) return failed(cudaErrorInvalidResourceHandle);
    if (const cudaError_t error = state_of(stream); error != cudaSuccess) return error;
    auto& captures = Queue::instance().captures;
    const auto found = captures.find(stream);
    if (event->capture != nullptr) {
        if (found != captures.end() && found->second != event->capture)
            return failed(cudaErrorStreamCaptureMerge, "the event is of another capture");
        captures[stream] = event->capture;
        auto& last = event->capture->last[stream];
        last.insert(last.end(), event->captured_behind.begin(), event->captured_behind.end());
        return cudaSuccess;
    }
    if (found != captures.end() && event->record != nullptr && Queue::instance().break_captures())
        return failed(cudaErrorStreamCaptureIsolation,
                      "a stream that is captured waits for an event that was recorded outside of "
                      "the capture");
    if (event->record != nullptr) Queue::instance().wait(stream, event->record->number);
    return cudaSuccess;
}

// Only managed memory can be attached to a stream, which changes nothing here.
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, size_t, unsigned int) {
    const Call call;
    if (!call) return call.state;
    if (!is_stream(stream)) return failed(cudaErrorInvalidResourceHandle);
    const Allocation* const allocation = Memory::instance().find(pointer);
    if (allocation == nullptr || allocation->kind != MemoryKind::managed)
        return failed(cudaErrorInvalidValue, "only managed memory can be attached to a stream");
    return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
    const Call call;
    if (!call) return call.state;
    if (function == nullptr) return failed(cudaErrorInvalidValue);
    return add_host_function(stream, [=] { function(data); });
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned int) {
    const Call call;
    if (!call) return call.state;
    if (callback == nullptr) return failed(cudaErrorInvalidValue);
    return add_host_function(stream, [=] { callback(stream, lost_device, data); });
}
