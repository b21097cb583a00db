// Where Thrust gets the memory of a device_vector in CPU mode: from cudaMalloc, so that kernels may use it. This file
// stands in for Thrust's own of the same name; malloc_and_free.h says how its algorithms reach that memory.
#pragma once
#include <thrust/detail/config.h>
#include <thrust/mr/fancy_pointer_resource.h>
#include <thrust/mr/memory_resource.h>
#include <thrust/system/cpp/pointer.h>
#include <thrust/system/detail/sequential/malloc_and_free.h>

#include <new>

THRUST_NAMESPACE_BEGIN
namespace system {
namespace cpp {
namespace detail {

class device_memory : public ::thrust::mr::memory_resource<> {
 public:
    void* do_allocate(std::size_t bytes, std::size_t) override {
        void* memory = nullptr;
        if (::cudaMalloc(&memory, bytes) != ::cudaSuccess) {
            ::cudaGetLastError();
            throw std::bad_alloc();
        }
        return memory;
    }
    void do_deallocate(void* memory, std::size_t, std::size_t) override { ::cudaFree(memory); }
};
using native_resource =
    ::thrust::mr::fancy_pointer_resource<device_memory, ::thrust::cpp::pointer<void>>;
using universal_native_resource =
    ::thrust::mr::fancy_pointer_resource<device_memory, ::thrust::cpp::universal_pointer<void>>;

}  // namespace detail
using memory_resource = detail::native_resource;
using universal_memory_resource = detail::universal_native_resource;
using universal_host_pinned_memory_resource = universal_memory_resource;
}  // namespace cpp
}  // namespace system
THRUST_NAMESPACE_END
