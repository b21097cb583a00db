// Work of libraries (cuBLAS and its kin) on the device, and the libraries of the system that do it.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "../include/cuda_cpu/libraries/library.h"
#include "api_call.h"
#include "memory.h"
#include "observer.h"

namespace cuda_cpu {

namespace {

struct SystemLibrary {
    const char* name;
    const char* package;             // Debian's
    std::vector<const char*> files;  // the best first
};
const SystemLibrary& system_library(Library library) {
    static const SystemLibrary libraries[] = {
        {"BLAS",
         "libopenblas0 or libblas3",
         {"libopenblas.so.0", "libblas.so.3", "blas/libblas.so.3"}},
        {"LAPACK",
         "libopenblas0 or liblapack3",
         {"libopenblas.so.0", "liblapack.so.3", "lapack/liblapack.so.3"}},
        {"FFTW", "libfftw3-single3", {"libfftw3f.so.3"}},
        {"FFTW", "libfftw3-double3", {"libfftw3.so.3"}},
    };
    return libraries[static_cast<int>(library)];
}

// From where the system looks, and where the set-up has unpacked what it could not install.
void* opened(const SystemLibrary& library) {
    for (const char* const file : library.files) {
        if (void* const handle = dlopen(file, RTLD_NOW | RTLD_LOCAL)) return handle;
    }
    const char* const folders = std::getenv("LIBRARY_PATH");
    std::istringstream words(folders != nullptr ? folders : "");
    for (std::string folder; std::getline(words, folder, ':');) {
        for (const char* const file : library.files) {
            if (void* const handle = dlopen((folder + "/" + file).c_str(), RTLD_NOW)) return handle;
        }
    }
    return nullptr;
}

std::string argument_of(const char* function, const char* name, const void* pointer) {
    return learners_place() + format("%s: %s, %p, is ", function, name, pointer);
}

}  // namespace

void* library_function(Library library, const std::string& name, const char* asked_by) {
    static void* handles[4] = {};
    const SystemLibrary& wanted = system_library(library);
    void*& handle = handles[static_cast<int>(library)];
    if (handle == nullptr) handle = opened(wanted);
    void* const function = handle != nullptr ? dlsym(handle, name.c_str()) : nullptr;
    if (function != nullptr) return function;
    std::fflush(stdout);
    std::fprintf(stderr,
                 "%sin CPU mode %s is %s of %s, which is not on this machine: install %s (make "
                 "setup WITH=numerics)\n",
                 learners_place().c_str(), asked_by, name.c_str(), wanted.name, wanted.package);
    _exit(77);
}

void refuse_call(const char* function, const std::string& what) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s%s: %s: not in CPU mode; this program needs a card (BACKEND=gpu)\n",
                 learners_place().c_str(), function, what.c_str());
    _exit(77);
}

bool meets_capture(EndsCapture which) {
    const std::lock_guard lock(Queue::instance().mutex());
    Queue& queue = Queue::instance();
    if (which == EndsCapture::all) return queue.break_captures();
    if (which == EndsCapture::by_mode) return queue.breaks_capture_by_mode();
    return !queue.captures.empty();
}

void expect_on_device(const char* function, const Piece& piece) {
    const Allocation* const allocation = Memory::instance().find(piece.start);
    if (piece.start == nullptr) {
        stop(format("%s%s: %s is a null pointer.", learners_place().c_str(), function, piece.name),
             "host-pointer");
    }
    if (allocation == nullptr) {
        stop(argument_of(function, piece.name, piece.start) +
                 "memory of the host. A library of CUDA only uses device memory: allocate it with "
                 "cudaMalloc and copy the data there.",
             "host-pointer");
    }
    if (allocation->freed) {
        stop(argument_of(function, piece.name, piece.start) + "memory that was given to cudaFree.",
             "freed");
    }
    const auto left = static_cast<size_t>(allocation->start + allocation->bytes -
                                          static_cast<const char*>(piece.start));
    const size_t wanted = (piece.count - 1) * piece.stride + piece.bytes;
    if (wanted > left) {
        stop(argument_of(function, piece.name, piece.start) +
                 format("too small: %s are used, and there are %s.", in_bytes(wanted).c_str(),
                        in_bytes(left).c_str()),
             "bounds");
    }
}

void expect_on_host(const char* function, const char* name, const void* pointer) {
    if (!Memory::instance().on_device(pointer) || Memory::instance().is_shared_with_host(pointer))
        return;
    stop(argument_of(function, name, pointer) +
             "device memory, but a pointer to the host is expected. cuBLAS and cuSPARSE take such "
             "pointers to the device in their pointer mode DEVICE "
             "(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE)).",
         "device-pointer");
}

void show_use(const Piece& piece) {
    const char* start = static_cast<const char*>(piece.start);
    for (size_t i = 0; i < piece.count; ++i, start += piece.stride) {
        if (piece.is_written) {
            observer::filled(start, piece.bytes);
        } else {
            observer::read(start, piece.bytes);
        }
    }
}

cudaError_t add_library_work(const char* function, cudaStream_t stream,
                             const std::vector<Piece>& pieces, std::function<void()> work) {
    const Call call(function);
    if (!call) return call.state;
    if (const cudaError_t error = state_of(stream); error != cudaSuccess) return error;
    for (const Piece& piece : pieces) expect_on_device(function, piece);
    Queue::instance().add(stream, [pieces, work = std::move(work)] {
        if (lost_device != cudaSuccess) return;
        Memory::instance().set_open(all_devices);
        Paging::instance().serve(Paging::device);
        for (const Piece& piece : pieces) show_use(piece);
        work();
    });
    return device_state();
}

}  // namespace cuda_cpu
