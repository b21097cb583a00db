// What libcu++ waits with on a host gives way in a kernel: from here to polling_ends.h each atomic operation counts as one
// that a thread may spin on, and who would sleep lets the other threads go on.
#include <sched.h>
#include <time.h>

#include "device.h"

#pragma push_macro("__atomic_load")
#pragma push_macro("__atomic_exchange")
#pragma push_macro("__atomic_compare_exchange")
#pragma push_macro("sched_yield")
#pragma push_macro("nanosleep")
#define __atomic_load(...) (::cuda_cpu::spin(), __atomic_load(__VA_ARGS__))
#define __atomic_exchange(...) (::cuda_cpu::spin(), __atomic_exchange(__VA_ARGS__))
#define __atomic_compare_exchange(...) (::cuda_cpu::spin(), __atomic_compare_exchange(__VA_ARGS__))
#define sched_yield() (::cuda_cpu::yield(), ::cuda_cpu::in_kernel() ? 0 : sched_yield())
#define nanosleep(...) (::cuda_cpu::yield(), ::cuda_cpu::in_kernel() ? 0 : nanosleep(__VA_ARGS__))
