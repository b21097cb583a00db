// assert() for host and device code: in a kernel it ends the kernel with cudaErrorAssert, as on a
// GPU. Like the standard header, it may be included again with another NDEBUG.
#undef assert
#ifdef NDEBUG
#define assert(condition) (static_cast<void>(0))
#else
#define assert(condition)         \
    (static_cast<bool>(condition) \
         ? static_cast<void>(0)   \
         : ::cuda_cpu::assertion_failed(#condition, __FILE__, __LINE__, __func__))
#endif
#ifndef CUDA_CPU_ASSERT_H
#define CUDA_CPU_ASSERT_H
namespace cuda_cpu {
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line,
                                   const char* function);
}
#endif
