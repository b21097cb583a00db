// cuFFT on FFTW: neither divides by the number of elements. A plan is a shape and a layout; FFTW plans when it runs.
#pragma once

#define _CUFFT_H_  // NVIDIA's helper_cuda.h asks for it

#include <array>
#include <map>

#include "cuComplex.h"
#include "cuda_cpu/libraries/library.h"
#include "library_types.h"

enum cufftResult_t {
    CUFFT_SUCCESS = 0,
    CUFFT_INVALID_PLAN = 1,
    CUFFT_ALLOC_FAILED = 2,
    CUFFT_INVALID_TYPE = 3,
    CUFFT_INVALID_VALUE = 4,
    CUFFT_INTERNAL_ERROR = 5,
    CUFFT_EXEC_FAILED = 6,
    CUFFT_SETUP_FAILED = 7,
    CUFFT_INVALID_SIZE = 8,
    CUFFT_UNALIGNED_DATA = 9,
    CUFFT_INVALID_DEVICE = 11,
    CUFFT_NO_WORKSPACE = 13,
    CUFFT_NOT_IMPLEMENTED = 14,
    CUFFT_NOT_SUPPORTED = 16,
    CUFFT_MISSING_DEPENDENCY = 17,
    CUFFT_NVRTC_FAILURE = 18,
    CUFFT_NVJITLINK_FAILURE = 19,
    CUFFT_NVSHMEM_FAILURE = 20
};
using cufftResult = cufftResult_t;
enum cufftType_t {
    CUFFT_R2C = 0x2a,
    CUFFT_C2R = 0x2c,
    CUFFT_C2C = 0x29,
    CUFFT_D2Z = 0x6a,
    CUFFT_Z2D = 0x6c,
    CUFFT_Z2Z = 0x69
};
using cufftType = cufftType_t;
enum cufftCompatibility { CUFFT_COMPATIBILITY_FFTW_PADDING = 1 };
#define CUFFT_COMPATIBILITY_DEFAULT CUFFT_COMPATIBILITY_FFTW_PADDING
#define CUFFT_FORWARD (-1)
#define CUFFT_INVERSE 1
#define CUFFT_PLAN_NULL (-1)
#define CUFFT_VERSION 12000
using cufftReal = float;
using cufftDoubleReal = double;
using cufftComplex = cuComplex;
using cufftDoubleComplex = cuDoubleComplex;
using cufftHandle = int;

namespace cuda_cpu {

// Where the elements of one side lie: those of the last dimension `step` apart, transforms `distance` apart.
struct FftLayout {
    std::array<int, 3> embedding{};
    int step = 1, distance = 0;
};
struct FftPlan {
    int rank = 0, batch = 0;  // rank 0: nothing is planned yet
    std::array<int, 3> sizes{};
    cufftType type{};
    bool is_basic = true;  // the elements follow each other; else as the layouts say
    FftLayout input, output;
    cudaStream_t stream = nullptr;

    bool reads_real() const { return type == CUFFT_R2C || type == CUFFT_D2Z; }
    bool writes_real() const { return type == CUFFT_C2R || type == CUFFT_Z2D; }
    // Of a real transform the complex side has half of the last dimension; in place the real side has room for it.
    FftLayout layout(bool is_input, bool in_place) const {
        if (!is_basic) return is_input ? input : output;
        FftLayout basic;
        basic.embedding = sizes;
        int& last = basic.embedding[static_cast<size_t>(rank) - 1];
        if (reads_real() || writes_real()) {
            const bool is_real = is_input == reads_real();
            if (!is_real) {
                last = last / 2 + 1;
            } else if (in_place) {
                last = 2 * (last / 2 + 1);
            }
        }
        basic.distance = 1;
        for (int i = 0; i < rank; ++i) basic.distance *= basic.embedding[static_cast<size_t>(i)];
        return basic;
    }
    // From the first element to the last.
    long long extent(const FftLayout& layout, bool is_complex_side) const {
        long long at = 0;
        for (int i = 0; i < rank; ++i) {
            int size = sizes[static_cast<size_t>(i)];
            if (i == rank - 1 && is_complex_side && (reads_real() || writes_real()))
                size = size / 2 + 1;
            at = (i == 0 ? 0 : at * layout.embedding[static_cast<size_t>(i)]) + size - 1;
        }
        return at * layout.step + (batch - 1ll) * layout.distance + 1;
    }
};
struct FftPlans {
    std::map<int, FftPlan> plans;
    int last = 0;
    static FftPlans& instance() {
        static FftPlans plans;
        return plans;
    }
    FftPlan* find(cufftHandle handle) {
        const auto found = plans.find(handle);
        return found == plans.end() ? nullptr : &found->second;
    }
};

// The names and types of FFTW: fftwf_ for float.
inline void* fftw_function(bool in_double, const char* name, const char* asked_by) {
    return library_function(in_double ? Library::fft_of_double : Library::fft_of_float,
                            std::string(in_double ? "fftw_" : "fftwf_") + name, asked_by);
}
constexpr unsigned int fftw_unaligned = 1u << 1, fftw_preserves_input = 1u << 4,
                       fftw_estimate = 1u << 6;

template <class From, class To>
cufftResult transform(const char* function, cufftHandle handle, cufftType type, From* from, To* to,
                      int direction) {
    const FftPlan* const found = FftPlans::instance().find(handle);
    if (found == nullptr || found->rank == 0) return CUFFT_INVALID_PLAN;
    if (found->type != type) return CUFFT_INVALID_TYPE;
    if (direction != CUFFT_FORWARD && direction != CUFFT_INVERSE) return CUFFT_INVALID_VALUE;
    if (from == nullptr || to == nullptr) return CUFFT_INVALID_VALUE;
    const FftPlan plan = *found;
    const bool in_place = static_cast<void*>(from) == static_cast<void*>(to);
    constexpr bool in_double = sizeof(From) == 16 || sizeof(To) == 16;
    const FftLayout input = plan.layout(true, in_place), output = plan.layout(false, in_place);

    LibraryCall call(function, plan.stream);
    call.vector("the input", from, plan.extent(input, !plan.reads_real()), 1, Use::read);
    call.vector("the output", to, plan.extent(output, !plan.writes_real()), 1, Use::written);
    const char* const name = plan.reads_real()    ? "plan_many_dft_r2c"
                             : plan.writes_real() ? "plan_many_dft_c2r"
                                                  : "plan_many_dft";
    void* const make = fftw_function(in_double, name, function);
    const auto execute =
        reinterpret_cast<void (*)(void*)>(fftw_function(in_double, "execute", function));
    const auto destroy =
        reinterpret_cast<void (*)(void*)>(fftw_function(in_double, "destroy_plan", function));
    const cudaError_t error = call.run([=] {
        const bool preserves = plan.writes_real() && plan.rank == 1 && !in_place;
        const unsigned int flags =
            fftw_estimate | fftw_unaligned | (preserves ? fftw_preserves_input : 0);
        void* made;
        if (plan.reads_real() || plan.writes_real()) {
            using Make = void* (*)(int, const int*, int, void*, const int*, int, int, void*,
                                   const int*, int, int, unsigned int);
            made = reinterpret_cast<Make>(make)(
                plan.rank, plan.sizes.data(), plan.batch, from, input.embedding.data(), input.step,
                input.distance, to, output.embedding.data(), output.step, output.distance, flags);
        } else {
            using Make = void* (*)(int, const int*, int, void*, const int*, int, int, void*,
                                   const int*, int, int, int, unsigned int);
            made = reinterpret_cast<Make>(make)(plan.rank, plan.sizes.data(), plan.batch, from,
                                                input.embedding.data(), input.step, input.distance,
                                                to, output.embedding.data(), output.step,
                                                output.distance, direction, flags);
        }
        execute(made);
        destroy(made);
    });
    return error == cudaSuccess ? CUFFT_SUCCESS : CUFFT_EXEC_FAILED;
}

}  // namespace cuda_cpu

// ---------------------------------------------------------------- plans
inline cufftResult cufftCreate(cufftHandle* handle) {
    auto& plans = cuda_cpu::FftPlans::instance();
    *handle = ++plans.last;
    plans.plans[*handle] = {};
    return CUFFT_SUCCESS;
}
inline cufftResult cufftDestroy(cufftHandle handle) {
    cuda_cpu::meets_capture(cuda_cpu::EndsCapture::by_mode);
    return cuda_cpu::FftPlans::instance().plans.erase(handle) == 1 ? CUFFT_SUCCESS
                                                                   : CUFFT_INVALID_PLAN;
}
inline cufftResult cufftSetStream(cufftHandle handle, cudaStream_t stream) {
    cuda_cpu::FftPlan* const plan = cuda_cpu::FftPlans::instance().find(handle);
    if (plan == nullptr) return CUFFT_INVALID_PLAN;
    plan->stream = stream;
    return CUFFT_SUCCESS;
}
// `sizes` from the outermost dimension; with no embedding the elements follow each other. Where the bytes of the work
// area go to must be said, as on a card.
inline cufftResult cufftMakePlanMany(cufftHandle handle, int rank, int* sizes, int* input_embedding,
                                     int input_step, int input_distance, int* output_embedding,
                                     int output_step, int output_distance, cufftType type,
                                     int batch, size_t* work_bytes) {
    cuda_cpu::FftPlan* const plan = cuda_cpu::FftPlans::instance().find(handle);
    if (plan == nullptr || plan->rank != 0) return CUFFT_INVALID_PLAN;
    if (rank < 1 || rank > 3 || work_bytes == nullptr) return CUFFT_INVALID_VALUE;
    for (int i = 0; i < rank; ++i) {
        if (sizes[i] < 1) return CUFFT_INVALID_SIZE;
    }
    if (batch < 1) return CUFFT_INVALID_SIZE;
    if (cuda_cpu::meets_capture(cuda_cpu::EndsCapture::all)) return CUFFT_INTERNAL_ERROR;
    plan->rank = rank, plan->batch = batch, plan->type = type;
    plan->is_basic = input_embedding == nullptr || output_embedding == nullptr;
    for (size_t i = 0; i < static_cast<size_t>(rank); ++i) {
        plan->sizes[i] = sizes[i];
        if (plan->is_basic) continue;
        plan->input.embedding[i] = input_embedding[i];
        plan->output.embedding[i] = output_embedding[i];
    }
    plan->input.step = input_step, plan->input.distance = input_distance;
    plan->output.step = output_step, plan->output.distance = output_distance;
    *work_bytes = 0;
    return CUFFT_SUCCESS;
}
inline cufftResult cufftMakePlan1d(cufftHandle handle, int x, cufftType type, int batch,
                                   size_t* work_bytes) {
    return cufftMakePlanMany(handle, 1, &x, nullptr, 1, 0, nullptr, 1, 0, type, batch, work_bytes);
}
inline cufftResult cufftMakePlan2d(cufftHandle handle, int x, int y, cufftType type,
                                   size_t* work_bytes) {
    int sizes[2] = {x, y};
    return cufftMakePlanMany(handle, 2, sizes, nullptr, 1, 0, nullptr, 1, 0, type, 1, work_bytes);
}
inline cufftResult cufftMakePlan3d(cufftHandle handle, int x, int y, int z, cufftType type,
                                   size_t* work_bytes) {
    int sizes[3] = {x, y, z};
    return cufftMakePlanMany(handle, 3, sizes, nullptr, 1, 0, nullptr, 1, 0, type, 1, work_bytes);
}
inline cufftResult cufftPlanMany(cufftHandle* handle, int rank, int* sizes, int* input_embedding,
                                 int input_step, int input_distance, int* output_embedding,
                                 int output_step, int output_distance, cufftType type, int batch) {
    cufftCreate(handle);
    size_t work_bytes = 0;
    const cufftResult result =
        cufftMakePlanMany(*handle, rank, sizes, input_embedding, input_step, input_distance,
                          output_embedding, output_step, output_distance, type, batch, &work_bytes);
    if (result != CUFFT_SUCCESS) cufftDestroy(*handle);
    return result;
}
inline cufftResult cufftPlan1d(cufftHandle* handle, int x, cufftType type, int batch) {
    return cufftPlanMany(handle, 1, &x, nullptr, 1, 0, nullptr, 1, 0, type, batch);
}
inline cufftResult cufftPlan2d(cufftHandle* handle, int x, int y, cufftType type) {
    int sizes[2] = {x, y};
    return cufftPlanMany(handle, 2, sizes, nullptr, 1, 0, nullptr, 1, 0, type, 1);
}
inline cufftResult cufftPlan3d(cufftHandle* handle, int x, int y, int z, cufftType type) {
    int sizes[3] = {x, y, z};
    return cufftPlanMany(handle, 3, sizes, nullptr, 1, 0, nullptr, 1, 0, type, 1);
}
// FFTW takes what memory it needs from the host.
inline cufftResult cufftSetAutoAllocation(cufftHandle, int) { return CUFFT_SUCCESS; }
inline cufftResult cufftSetWorkArea(cufftHandle, void*) { return CUFFT_SUCCESS; }
inline cufftResult cufftGetSize(cufftHandle, size_t* work_bytes) {
    if (work_bytes == nullptr) return CUFFT_INVALID_VALUE;
    *work_bytes = 0;
    return CUFFT_SUCCESS;
}
inline cufftResult cufftEstimate1d(int, cufftType, int, size_t* work_bytes) {
    return cufftGetSize(0, work_bytes);
}
inline cufftResult cufftEstimate2d(int, int, cufftType, size_t* work_bytes) {
    return cufftGetSize(0, work_bytes);
}
inline cufftResult cufftEstimate3d(int, int, int, cufftType, size_t* work_bytes) {
    return cufftGetSize(0, work_bytes);
}
inline cufftResult cufftGetVersion(int* version) {
    *version = CUFFT_VERSION;
    return CUFFT_SUCCESS;
}

// ---------------------------------------------------------------- transforms
#define CUDA_CPU_TRANSFORM(name, From, To)                                                        \
    inline cufftResult cufftExec##name(cufftHandle handle, From* from, To* to, int direction) {   \
        return cuda_cpu::transform("cufftExec" #name, handle, CUFFT_##name, from, to, direction); \
    }
#define CUDA_CPU_REAL_TRANSFORM(name, From, To, direction)                                        \
    inline cufftResult cufftExec##name(cufftHandle handle, From* from, To* to) {                  \
        return cuda_cpu::transform("cufftExec" #name, handle, CUFFT_##name, from, to, direction); \
    }
CUDA_CPU_TRANSFORM(C2C, cufftComplex, cufftComplex)
CUDA_CPU_TRANSFORM(Z2Z, cufftDoubleComplex, cufftDoubleComplex)
CUDA_CPU_REAL_TRANSFORM(R2C, cufftReal, cufftComplex, CUFFT_FORWARD)
CUDA_CPU_REAL_TRANSFORM(D2Z, cufftDoubleReal, cufftDoubleComplex, CUFFT_FORWARD)
CUDA_CPU_REAL_TRANSFORM(C2R, cufftComplex, cufftReal, CUFFT_INVERSE)
CUDA_CPU_REAL_TRANSFORM(Z2D, cufftDoubleComplex, cufftDoubleReal, CUFFT_INVERSE)
#undef CUDA_CPU_TRANSFORM
#undef CUDA_CPU_REAL_TRANSFORM
