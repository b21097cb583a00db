// cuda::pipeline. What a thread copies in a stage arrives when it is waited for, no sooner: until then the place holds what it
// held, as it may on a card.
#pragma once

#include <vector>

#include "barrier.h"

namespace cuda {

enum class pipeline_role { producer, consumer };

// Of a block: how often each stage was committed and released.
template <thread_scope scope, unsigned char stages>
struct pipeline_shared_state {
    unsigned int producers, consumers, committed[stages], released[stages];
};

template <thread_scope scope>
class pipeline {
    struct Copy {
        unsigned int stage;
        void* target;
        const void* source;
        size_t bytes;
    };
    // The counters of a block's state; null for a pipeline of one thread.
    unsigned int *producers_ = nullptr, *consumers_ = nullptr, *committed_ = nullptr,
                 *released_ = nullptr;
    unsigned int stages_ = 0, head_ = 0,
                 tail_ = 0;  // the stages that this thread has begun, and those it has taken
    ::std::vector<Copy> copies_;

    static unsigned int load(const unsigned int* counter) {
        return __atomic_load_n(counter, __ATOMIC_ACQUIRE);
    }
    void finish(unsigned int end) {  // the copies of the stages before `end`
        size_t done = 0;
        for (; done < copies_.size() && copies_[done].stage < end; ++done)
            cuda_cpu::copy_bytes(copies_[done].target, copies_[done].source, copies_[done].bytes);
        copies_.erase(copies_.begin(), copies_.begin() + static_cast<::std::ptrdiff_t>(done));
    }

 public:
    pipeline() = default;
    pipeline(pipeline&&) = default;
    pipeline& operator=(pipeline&&) = default;
    template <unsigned char stages>
    void share(pipeline_shared_state<scope, stages>* state) {
        producers_ = &state->producers, consumers_ = &state->consumers;
        committed_ = state->committed, released_ = state->released;
        stages_ = stages;
    }
    void begin_copy(void* target, const void* source, size_t bytes) {
        copies_.push_back({head_, target, source, bytes});
    }

    void producer_acquire() {
        if (stages_ == 0) return;
        const unsigned int* const counter = &released_[head_ % stages_];
        const unsigned int wanted = head_ / stages_ * *consumers_;
        cuda_cpu::wait_until([=] { return load(counter) >= wanted; });
    }
    void producer_commit() {
        if (stages_ != 0) {
            finish(head_ + 1);
            __threadfence();
            __atomic_add_fetch(&committed_[head_ % stages_], 1, __ATOMIC_ACQ_REL);
        }
        ++head_;
    }
    void consumer_wait() {
        if (stages_ == 0) return finish(++tail_);
        const unsigned int* const counter = &committed_[tail_ % stages_];
        const unsigned int wanted = (tail_ / stages_ + 1) * *producers_;
        cuda_cpu::wait_until([=] { return load(counter) >= wanted; });
        __threadfence();
    }
    void consumer_release() {
        if (stages_ == 0) return;
        __threadfence();
        __atomic_add_fetch(&released_[tail_++ % stages_], 1, __ATOMIC_ACQ_REL);
    }
    // All stages but the newest `count`.
    void wait_prior(unsigned int count) {
        finish(head_ > count ? head_ - count : 0);
        tail_ = head_ > count ? head_ - count : tail_;
    }
    bool quit() { return true; }
};

inline pipeline<thread_scope_thread> make_pipeline() { return {}; }

namespace detail {
template <class Group, thread_scope scope, unsigned char stages>
pipeline<scope> shared_pipeline(const Group& group, pipeline_shared_state<scope, stages>* state,
                                bool produces, bool consumes) {
    if (group.thread_rank() == 0) *state = {};
    group.sync();
    if (produces) atomicAdd(&state->producers, 1u);
    if (consumes) atomicAdd(&state->consumers, 1u);
    group.sync();
    pipeline<scope> made;
    made.share(state);
    return made;
}
}  // namespace detail
template <class Group, thread_scope scope, unsigned char stages>
pipeline<scope> make_pipeline(const Group& group, pipeline_shared_state<scope, stages>* state) {
    return detail::shared_pipeline(group, state, true, true);
}
template <class Group, thread_scope scope, unsigned char stages>
pipeline<scope> make_pipeline(const Group& group, pipeline_shared_state<scope, stages>* state,
                              pipeline_role role) {
    return detail::shared_pipeline(group, state, role == pipeline_role::producer,
                                   role == pipeline_role::consumer);
}
// The first threads of the group are the producers.
template <class Group, thread_scope scope, unsigned char stages>
pipeline<scope> make_pipeline(const Group& group, pipeline_shared_state<scope, stages>* state,
                              size_t producers) {
    const bool produces = group.thread_rank() < producers;
    return detail::shared_pipeline(group, state, produces, !produces);
}
template <unsigned char newest, thread_scope scope>
void pipeline_consumer_wait_prior(pipeline<scope>& pipe) {
    pipe.wait_prior(newest);
}

template <class T, class Size, thread_scope scope>
void memcpy_async(T* target, const T* source, Size bytes, pipeline<scope>& pipe) {
    pipe.begin_copy(target, source, bytes);
}
template <class Group, class T, class Size, thread_scope scope>
void memcpy_async(const Group& group, T* target, const T* source, Size bytes,
                  pipeline<scope>& pipe) {
    if (group.thread_rank() == 0) pipe.begin_copy(target, source, bytes);
}

}  // namespace cuda
