// What cuda::barrier and cuda::pipeline share. libcu++ has more under cuda::, which stands beside it where that is installed.
#pragma once

#if __has_include(<cuda/atomic>)
#include <cuda/atomic>
#endif

#include "device.h"

namespace cuda {

#if !__has_include(<cuda/atomic>)
enum thread_scope {
    thread_scope_system,
    thread_scope_device,
    thread_scope_block,
    thread_scope_thread
};
#endif

}  // namespace cuda

namespace cuda_cpu {

// Lets the other threads of the block go on until something has happened.
template <class Happened>
void wait_until(Happened happened) {
    while (!happened()) yield();
}
inline void copy_bytes(void* target, const void* source, size_t bytes) {
    std::memcpy(target, source, bytes);
}

}  // namespace cuda_cpu
