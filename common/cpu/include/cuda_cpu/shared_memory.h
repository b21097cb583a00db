// Shared memory: what the translator makes of its declarations.
#pragma once

#include "launch.h"

namespace cuda_cpu {

// Shared memory. Static arrays are thread-local variables of the kernel, one copy for each core;
// the first thread of a block that passes the declaration fills them with a NaN pattern.
constexpr size_t dynamic_shared_bytes = 227 * 1024;
extern __thread char* dynamic_shared_start;
extern __thread unsigned long long block_serial;
inline void* dynamic_shared() { return dynamic_shared_start; }
void poison(void* start, size_t bytes);

template <class... Arrays>
inline void enter_shared(unsigned long long& seen, Arrays&... arrays) {
    static_assert((sizeof(Arrays) + ...) <= 48 * 1024,
                  "a block has at most 48 KB of static shared memory");
    if (__builtin_expect(seen == block_serial, true)) return;
    seen = block_serial;
    (poison(const_cast<void*>(static_cast<const volatile void*>(&arrays)), sizeof(arrays)), ...);
}

#if defined(CUDA_CPU_BOUNDS) || defined(CUDA_CPU_RACES) || defined(CUDA_CPU_ACCESSES)
// For `make sanitize` and `make explain` each variable of shared memory has a place of its own, with a gap around it,
// and its name (translate.py --observe).
struct SharedVariable {
    const char* name;
    char* start = nullptr;
    unsigned long long block = 0;  // the last that has used it
};
char* place_shared(SharedVariable& variable, size_t bytes);
template <class T>
T& shared_variable(SharedVariable& variable) {
    static_assert(sizeof(T) <= 48 * 1024, "a block has at most 48 KB of static shared memory");
    if (variable.block != block_serial) place_shared(variable, sizeof(T));
    return *reinterpret_cast<T*>(variable.start);
}
// One outside of functions has its place from the start, and is poisoned for each block.
void poison_for_each_block(SharedVariable& variable, size_t bytes);
template <class T>
T& shared_by_kernels(SharedVariable& variable) {
    place_shared(variable, sizeof(T));
    poison_for_each_block(variable, sizeof(T));
    return *reinterpret_cast<T*>(variable.start);
}
void name_dynamic_shared(const char* name);
inline void* dynamic_shared(const char* name) {
    name_dynamic_shared(name);
    return dynamic_shared_start;
}
#endif

}  // namespace cuda_cpu
