// What every call of the API begins and ends with: the lock, the state of the device, the last error.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <string>

#include "devices.h"
#include "faults.h"
#include "leaks.h"
#include "queue.h"
#include "report.h"
#include "scheduler.h"

namespace cuda_cpu {

namespace {

std::atomic<bool> used{false};  // some call has been made
bool lost_in_fork = false;

[[noreturn]] void refuse_in_kernel(const char* function) {
    const char* const advice =
        std::strstr(function, "Synchronize") == nullptr
            ? "."
            : ": a kernel never waits for the grids that it launches. Launch the work that must "
              "come after them into cudaStreamTailLaunch. (A program of before CUDA 12: compile it "
              "with -DCUDA_FORCE_CDP1_IF_SUPPORTED, as nvcc 12 takes it.)";
    stop(learners_place() + format("kernel %s calls %s, which device code cannot call%s",
                                   current_kernel(), function, advice));
}

thread_local std::string last_detail;  // what was wrong with the last failed call
thread_local cudaError_t detailed_error = cudaSuccess;
thread_local const char* last_function = "";  // the last call, not what it calls itself
thread_local int open_calls = 0;
thread_local unsigned int untold_failures = 0;
std::atomic<cudaError_t> lost_device{cudaSuccess};  // set by a kernel that was aborted
thread_local bool in_host_function = false;         // the host functions of a stream run

// The last error of this thread of the host, or of the block that runs.
cudaError_t& last_error() {
    static thread_local cudaError_t of_host = cudaSuccess, of_block = cudaSuccess;
    static thread_local unsigned long long block = 0;
    if (!in_kernel()) return of_host;
    if (block != block_serial) block = block_serial, of_block = cudaSuccess;
    return of_block;
}

cudaError_t failed(cudaError_t error, const std::string& detail = "") {
    last_error() = detailed_error = error;
    last_detail = detail;
    Leaks::instance().gave_up = true;
    ++untold_failures;
    return error;
}

// A mistake that CUDA answers with an error, which the program may ignore. `make sanitize` names it.
cudaError_t refused(const char* kind, const std::string& detail) {
    if (findings_are_wanted()) note(kind, learners_place() + detail + ".");
    failed(cudaErrorInvalidValue, detail);
    if (findings_are_wanted()) --untold_failures;
    return cudaErrorInvalidValue;
}

// What every call answers first: the device may be lost, or there may be none.
cudaError_t device_state() {
    used = true;
    if (lost_in_fork) return failed(cudaErrorInitializationError);
    if (lost_device != cudaSuccess) return failed(lost_device);
    if (devices().empty()) return failed(cudaErrorNoDevice);
    if (in_host_function) return failed(cudaErrorNotPermitted);
    return cudaSuccess;
}

// Holds the queue's lock for the length of a call of the host.
struct Call {
    explicit Call(const char* function = __builtin_FUNCTION()) {
        if (in_kernel()) refuse_in_kernel(function);
        const bool is_outermost = open_calls++ == 0;
        if (is_outermost) last_function = function;
        Leaks::instance().gave_up = false;
        lock = std::unique_lock(Queue::instance().mutex());
        if (is_outermost) CallLog::instance().begins(function);
        state = device_state();
    }
    ~Call() { --open_calls; }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    explicit operator bool() const { return state == cudaSuccess; }

    std::unique_lock<std::recursive_mutex> lock;
    cudaError_t state;
};

bool is_stream(cudaStream_t stream) {
    return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread ||
           Queue::instance().streams.count(stream) != 0;
}
// Why no work can go into a stream, or success.
cudaError_t state_of(cudaStream_t stream) {
    if (!is_stream(stream)) return failed(cudaErrorInvalidResourceHandle);
    if (!Queue::instance().breaks_capture(stream)) return cudaSuccess;
    return failed(cudaErrorStreamCaptureImplicit,
                  "the default stream would have to wait for a stream that is captured");
}
// Memory, graphs and waiting while a stream is captured: an error, but where the capture's mode allows it.
cudaError_t refuse_in_capture() {
    if (!Queue::instance().breaks_capture_by_mode()) return cudaSuccess;
    return failed(cudaErrorStreamCaptureUnsupported,
                  "a stream is captured, in a mode that does not allow this call: make it before "
                  "cudaStreamBeginCapture");
}
bool is_event(cudaEvent_t event) { return Queue::instance().events.count(event) != 0; }

bool is_device(int device) { return device >= 0 && device < static_cast<int>(devices().size()); }

std::atomic<int> largest_dynamic_shared{shared_per_block};  // raised by cudaFuncSetAttribute

// How much dynamic shared memory a block may have.
size_t shared_limit(const DeviceFacts& facts) {
    return static_cast<size_t>(
        std::min(largest_dynamic_shared.load(), facts.shared_per_block_optin));
}

}  // namespace

}  // namespace cuda_cpu

// The API itself stands outside, and uses what is inside.
using namespace cuda_cpu;
