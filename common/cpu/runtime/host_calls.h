// Calls of the system that touch memory for the host. A page of managed memory that is at the device is closed, and
// there the system says "bad address" where a load or a store would have brought it over. So these bring it first.
#pragma once

#ifndef CUDA_CPU_OBSERVED
#include <dlfcn.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

#include "paging.h"

namespace cuda_cpu {
namespace {

template <class Function>
Function* next_of(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}
void touch_all(const iovec* parts, int count, bool writes) {
    for (int i = 0; i < count; ++i)
        Paging::instance().touch(parts[i].iov_base, parts[i].iov_len, writes);
}

}  // namespace
}  // namespace cuda_cpu

extern "C" {

ssize_t read(int file, void* buffer, size_t bytes) {
    static const auto next = cuda_cpu::next_of<ssize_t(int, void*, size_t)>("read");
    cuda_cpu::Paging::instance().touch(buffer, bytes, true);
    return next(file, buffer, bytes);
}
ssize_t write(int file, const void* buffer, size_t bytes) {
    static const auto next = cuda_cpu::next_of<ssize_t(int, const void*, size_t)>("write");
    cuda_cpu::Paging::instance().touch(buffer, bytes, false);
    return next(file, buffer, bytes);
}
ssize_t readv(int file, const iovec* parts, int count) {
    static const auto next = cuda_cpu::next_of<ssize_t(int, const iovec*, int)>("readv");
    cuda_cpu::touch_all(parts, count, true);
    return next(file, parts, count);
}
ssize_t writev(int file, const iovec* parts, int count) {
    static const auto next = cuda_cpu::next_of<ssize_t(int, const iovec*, int)>("writev");
    cuda_cpu::touch_all(parts, count, false);
    return next(file, parts, count);
}
size_t fread(void* buffer, size_t size, size_t count, FILE* file) {
    static const auto next = cuda_cpu::next_of<size_t(void*, size_t, size_t, FILE*)>("fread");
    cuda_cpu::Paging::instance().touch(buffer, size * count, true);
    return next(buffer, size, count, file);
}
size_t fwrite(const void* buffer, size_t size, size_t count, FILE* file) {
    static const auto next =
        cuda_cpu::next_of<size_t(const void*, size_t, size_t, FILE*)>("fwrite");
    cuda_cpu::Paging::instance().touch(buffer, size * count, false);
    return next(buffer, size, count, file);
}

}  // extern "C"
#endif
