// What the libraries of CUDA share: work that joins a stream, and the library of the system behind it.
#pragma once

#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "../../cuda_runtime.h"

namespace cuda_cpu {

// Libraries of the system. Each is loaded when one of its functions is asked for; where it is not installed, the
// program ends with the sentence that names its package (status 77).
enum class Library { blas, lapack, fft_of_float, fft_of_double };
void* library_function(Library library, const std::string& name, const char* asked_by);

// Ends the program with the sentence that a call asks for something that CPU mode does not have (status 77).
[[noreturn]] void refuse_call(const char* function, const std::string& what);

// What a call reads or writes on the device: `count` pieces of `bytes` each, `stride` bytes apart.
struct Piece {
    const char* name;
    const void* start;
    size_t bytes, count, stride;
    bool is_written;
};
// Ends the program with a sentence where a piece is not on the device; what is left is shown to
// `make sanitize` in its turn. The calls that make lists of pieces on the device look at them in their turn.
void expect_on_device(const char* function, const Piece& piece);
void show_use(const Piece& piece);
void expect_on_host(const char* function, const char* name, const void* pointer);
cudaError_t add_library_work(const char* function, cudaStream_t stream,
                             const std::vector<Piece>& pieces, std::function<void()> work);

// Whether a stream is captured while a library makes a handle or gives one up, and whether that ends the capture: none, one
// whose mode does not allow it, or all.
enum class EndsCapture { none, by_mode, all };
bool meets_capture(EndsCapture which);

enum class Use { read, written };

// A call of a library function: its arrays are named one by one, then it joins its stream.
class LibraryCall {
 public:
    LibraryCall(const char* function, cudaStream_t stream) : function_(function), stream_(stream) {}

    // A matrix of columns, `leading` elements apart, which must be at least its rows.
    template <class T>
    void matrix(const char* name, const T* start, long long rows, long long columns,
                long long leading, Use use) {
        const long long least = rows > 1 ? rows : 1;
        if (rows < 0 || columns < 0 || leading < least) is_valid_ = false;
        if (!is_valid_ || rows == 0 || columns == 0) return;
        pieces(name, start, rows, columns, leading, use);
    }
    // Elements that are `step` apart, which may be negative, and for one form of call zero.
    template <class T>
    void vector(const char* name, const T* start, long long count, long long step, Use use) {
        if (count > 0) pieces(name, start, 1, count, step < 0 ? -step : step, use);
    }
    void expect(bool condition) { is_valid_ = is_valid_ && condition; }
    bool is_valid() const { return is_valid_; }
    const char* function() const { return function_; }
    cudaStream_t stream() const { return stream_; }

    cudaError_t run(std::function<void()> work) const {
        return add_library_work(function_, stream_, pieces_, std::move(work));
    }

 private:
    template <class T>
    void pieces(const char* name, const T* start, long long length, long long count,
                long long distance, Use use) {
        const bool together = distance == length || count == 1;
        const auto bytes = static_cast<size_t>(together ? length * count : length) * sizeof(T);
        pieces_.push_back({name, start, bytes, together ? 1 : static_cast<size_t>(count),
                           static_cast<size_t>(distance) * sizeof(T), use == Use::written});
    }
    const char* function_;
    cudaStream_t stream_;
    std::vector<Piece> pieces_;
    bool is_valid_ = true;
};

// A number that a call gets by its address: of the host, read at once, or of the device, read in its turn.
template <class T>
struct Scalar {
    T value;
    const T* on_device;
};

// A call of a library whose functions take a handle, which has a stream. The first two answers of each library are
// success and a missing handle.
template <class Handle, class Status, Status invalid, Status failed>
class HandleCall : public LibraryCall {
 public:
    HandleCall(const char* name, Handle handle)
        : LibraryCall(name, handle != nullptr ? handle->stream : nullptr), handle_(handle) {}

    Status status() const {
        if (handle_ == nullptr) return static_cast<Status>(1);
        return is_valid() ? Status{} : invalid;
    }
    Status join(std::function<void()> work) const {
        if (status() != Status{}) return status();
        return run(std::move(work)) == cudaSuccess ? Status{} : failed;
    }
    Status join_and_wait(std::function<void()> work) const {
        const Status joined = join(std::move(work));
        cudaStreamCaptureStatus captured = cudaStreamCaptureStatusNone;
        cudaStreamIsCapturing(stream(), &captured);
        if (joined != Status{} || captured != cudaStreamCaptureStatusNone) return joined;
        return cudaStreamSynchronize(stream()) == cudaSuccess ? Status{} : failed;
    }
    // Where the library has a pointer mode, whose values are 0 and 1 for the host and the device.
    bool on_host() const {
        return handle_ == nullptr || static_cast<int>(handle_->pointer_mode) == 0;
    }
    template <class T>
    Scalar<T> scalar(const char* name, const T* number) {
        expect(number != nullptr);
        if (!is_valid() || handle_ == nullptr) return {};
        if (on_host()) {
            expect_on_host(function(), name, number);
            return {*number, nullptr};
        }
        vector(name, number, 1, 1, Use::read);
        return {T{}, number};
    }
    // Where a call stores one number: for the host, which waits for it, or on the device.
    template <class T>
    void result(const char* name, T* number) {
        expect(number != nullptr);
        if (!is_valid()) return;
        if (on_host()) {
            expect_on_host(function(), name, number);
        } else {
            vector(name, number, 1, 1, Use::written);
        }
    }
    Status join_and_wait_for_result(std::function<void()> work) const {
        return on_host() ? join_and_wait(std::move(work)) : join(std::move(work));
    }

 protected:
    Handle handle_;
};
// The functions for a library's handles, to a type that has a stream; what Create answers while a stream is captured, and
// what Destroy does to the capture, as measured on an H200.
#define CUDA_CPU_HANDLES(library, Handle, Context, Status, in_capture, destroy_ends)       \
    inline Status library##Create(Handle* handle) {                                        \
        if (handle == nullptr) return static_cast<Status>(1);                              \
        *handle = nullptr;                                                                 \
        if (cuda_cpu::meets_capture(cuda_cpu::EndsCapture::by_mode)) return in_capture;    \
        int device;                                                                        \
        if (cudaGetDevice(&device) != cudaSuccess) return static_cast<Status>(1);          \
        *handle = new Context;                                                             \
        return Status{};                                                                   \
    }                                                                                      \
    inline Status library##Destroy(Handle handle) {                                        \
        if (handle == nullptr) return static_cast<Status>(1);                              \
        delete handle;                                                                     \
        if (cuda_cpu::meets_capture(cuda_cpu::EndsCapture::destroy_ends)) return Status{}; \
        return cudaDeviceSynchronize() == cudaSuccess ? Status{} : static_cast<Status>(1); \
    }                                                                                      \
    CUDA_CPU_SETTING(library, Handle, Status, Stream, cudaStream_t, stream)
// A member of a handle, to set and to get.
#define CUDA_CPU_SETTING(library, Handle, Status, name, Type, member) \
    inline Status library##Set##name(Handle handle, Type value) {     \
        if (handle == nullptr) return static_cast<Status>(1);         \
        handle->member = value;                                       \
        return Status{};                                              \
    }                                                                 \
    inline Status library##Get##name(Handle handle, Type* value) {    \
        if (handle == nullptr) return static_cast<Status>(1);         \
        *value = handle->member;                                      \
        return Status{};                                              \
    }

// The name under which a function is called.
struct Named {
    const char* name;
};

// Fortran takes every argument by its address, and the lengths of letters behind all others.
template <class T>
const void* address_for_fortran(const T& argument) {
    return &argument;
}
template <class T>
const void* address_for_fortran(T* const& array) {
    return array;
}
template <class T>
const void* address_for_fortran(const Scalar<T>& scalar) {
    return scalar.on_device != nullptr ? scalar.on_device : &scalar.value;
}
template <class T>
using ForFortran = const void*;
template <class Result = void, class... Arguments>
Result call_fortran(void* function, const Arguments&... arguments) {
    using Function = Result (*)(ForFortran<Arguments>..., size_t, size_t, size_t, size_t);
    return reinterpret_cast<Function>(function)(address_for_fortran(arguments)..., 1, 1, 1, 1);
}

// The letter by which BLAS and LAPACK name a type, and its real type.
template <class T>
struct TypeLetter;
template <>
struct TypeLetter<float> {
    static constexpr char letter = 's';
    using Real = float;
};
template <>
struct TypeLetter<double> {
    static constexpr char letter = 'd';
    using Real = double;
};
template <>
struct TypeLetter<float2> {
    static constexpr char letter = 'c';
    using Real = float;
};
template <>
struct TypeLetter<double2> {
    static constexpr char letter = 'z';
    using Real = double;
};
template <class T>
using RealOf = typename TypeLetter<T>::Real;
template <class T>
constexpr bool is_complex = !std::is_same_v<T, RealOf<T>>;

// gemm for float is sgemm_.
template <class T>
void* fortran_function(Library library, const std::string& name, const char* asked_by) {
    return library_function(library, TypeLetter<T>::letter + name + "_", asked_by);
}

}  // namespace cuda_cpu
