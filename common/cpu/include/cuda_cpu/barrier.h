// cuda::barrier in the shared memory of a block. A copy that it is given is made at once.
#pragma once

#include "async_shape.h"

namespace cuda {

template <thread_scope scope>
class barrier {
 public:
    using arrival_token = unsigned int;  // the phase in which a thread has arrived
    barrier() = default;                 // in shared memory: init() sets it
    explicit barrier(int expected) { set(expected); }
    barrier(const barrier&) = delete;
    static constexpr int max() { return (1 << 20) - 1; }

    arrival_token arrive(int count = 1) {
        __threadfence();
        const unsigned int phase = __atomic_load_n(&phase_, __ATOMIC_ACQUIRE);
        if (__atomic_sub_fetch(&missing_, count, __ATOMIC_ACQ_REL) == 0) {
            __atomic_store_n(&missing_, __atomic_load_n(&expected_, __ATOMIC_RELAXED),
                             __ATOMIC_RELAXED);
            __atomic_store_n(&phase_, phase + 1, __ATOMIC_RELEASE);
        }
        return phase;
    }
    void wait(arrival_token&& phase) const {
        cuda_cpu::wait_until([&] { return __atomic_load_n(&phase_, __ATOMIC_ACQUIRE) != phase; });
        __threadfence();
    }
    void wait_parity(bool parity) const { wait(parity ? 1u : 0u); }
    void arrive_and_wait() { wait(arrive()); }
    void arrive_and_drop() {
        __atomic_sub_fetch(&expected_, 1, __ATOMIC_RELAXED);
        arrive();
    }
    friend void init(barrier* made, int expected) { made->set(expected); }

 private:
    void set(int expected) {
        expected_ = missing_ = expected;
        phase_ = 0;
    }
    int expected_, missing_;
    unsigned int phase_;
};

template <class T, class Size, thread_scope scope>
void memcpy_async(T* target, const T* source, Size bytes, barrier<scope>&) {
    cuda_cpu::copy_bytes(target, source, bytes);
}
// A group makes a copy together: its first thread does.
template <class Group, class T, class Size, thread_scope scope>
void memcpy_async(const Group& group, T* target, const T* source, Size bytes, barrier<scope>&) {
    if (group.thread_rank() == 0) cuda_cpu::copy_bytes(target, source, bytes);
}

}  // namespace cuda
