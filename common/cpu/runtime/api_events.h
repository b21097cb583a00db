// The API of events.
#pragma once

#include <chrono>
#include <memory>

#include "api_call.h"
#include "queue.h"

cudaError_t cudaEventCreate(cudaEvent_t* event) {
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

// Launches of a kernel run in order, so events mean nothing there.
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
    if (in_kernel()) {
        *event = nullptr;
        return cudaSuccess;
    }
    const Call call;
    if (!call) return call.state;
    *event = new CUevent_st{(flags & cudaEventDisableTiming) == 0, nullptr, current_device};
    Queue::instance().events.insert(*event);
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    if (in_kernel()) return cudaSuccess;
    const Call call;
    if (!call) return call.state;
    if (Queue::instance().events.erase(event) == 0) return failed(cudaErrorInvalidResourceHandle);
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    if (in_kernel()) return cudaSuccess;
    const Call call;
    if (!call) return call.state;
    if (!is_event(event)) return failed(cudaErrorInvalidResourceHandle);
    if (const cudaError_t error = state_of(stream); error != cudaSuccess) return error;
    if (const int device = Queue::device_of(stream); device != event->device)
        return failed(cudaErrorInvalidResourceHandle,
                      format("the event was made on device %d, the stream is of device %d",
                             event->device, device));
    const auto capture = Queue::instance().captures.find(stream);
    event->capture = capture != Queue::instance().captures.end() ? capture->second : nullptr;
    if (event->capture != nullptr) {
        event->captured_behind = event->capture->last[stream];
        return cudaSuccess;
    }
    const auto record = std::make_shared<EventRecord>();
    event->record = record;
    record->number = Queue::instance().add(stream, [record] {
        record->time = std::chrono::steady_clock::now();
        record->done = true;
    });
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    const Call call;
    if (!call) return call.state;
    if (!is_event(event)) return failed(cudaErrorInvalidResourceHandle);
    if (event->capture != nullptr && Queue::instance().break_captures())
        return failed(cudaErrorCapturedEvent);
    if (const cudaError_t error = refuse_in_capture(); error != cudaSuccess) return error;
    if (event->record != nullptr) Queue::instance().wait_for(event->record->number);
    return device_state();
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
    const Call call;
    if (!call) return call.state;
    if (!is_event(event)) return failed(cudaErrorInvalidResourceHandle);
    if (event->capture != nullptr && Queue::instance().break_captures())
        return failed(cudaErrorCapturedEvent);
    if (const cudaError_t error = refuse_in_capture(); error != cudaSuccess) return error;
    if (event->record == nullptr) return device_state();
    if (!event->record->done && !Queue::instance().asked(event->record->number))
        return cudaErrorNotReady;
    observer::host_waits(event->record->number);
    return device_state();
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop) {
    const Call call;
    if (!call) return call.state;
    for (const cudaEvent_t event : {start, stop}) {
        if (!is_event(event) || !event->timing || event->record == nullptr) {
            return failed(cudaErrorInvalidResourceHandle);
        }
    }
    if (start->device != stop->device)
        return failed(cudaErrorInvalidResourceHandle,
                      format("one event is of device %d, the other of device %d", start->device,
                             stop->device));
    if (!start->record->done || !stop->record->done) return cudaErrorNotReady;
    const std::chrono::duration<float, std::milli> elapsed =
        stop->record->time - start->record->time;
    *milliseconds = elapsed.count();
    return cudaSuccess;
}
