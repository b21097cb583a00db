// cuFFT's plans by the types of their data; over several devices, or with callbacks, nothing is there (absent_names).
#pragma once

#include <vector>

#include "cufft.h"

// `sizes` from the outermost dimension; with no embedding the elements follow each other.
inline cufftResult cufftXtMakePlanMany(cufftHandle handle, int rank, long long* sizes,
                                       long long* input_embedding, long long input_step,
                                       long long input_distance, cudaDataType input,
                                       long long* output_embedding, long long output_step,
                                       long long output_distance, cudaDataType output,
                                       long long batch, size_t* work_bytes,
                                       cudaDataType execution) {
    struct Types {
        cudaDataType input, output, execution;
        cufftType type;
    };
    constexpr Types known[] = {{CUDA_R_32F, CUDA_C_32F, CUDA_C_32F, CUFFT_R2C},
                               {CUDA_C_32F, CUDA_R_32F, CUDA_C_32F, CUFFT_C2R},
                               {CUDA_C_32F, CUDA_C_32F, CUDA_C_32F, CUFFT_C2C},
                               {CUDA_R_64F, CUDA_C_64F, CUDA_C_64F, CUFFT_D2Z},
                               {CUDA_C_64F, CUDA_R_64F, CUDA_C_64F, CUFFT_Z2D},
                               {CUDA_C_64F, CUDA_C_64F, CUDA_C_64F, CUFFT_Z2Z}};
    const auto numbers = [&](const long long* from) {
        return from == nullptr ? std::vector<int>() : std::vector<int>(from, from + rank);
    };
    std::vector<int> shape = numbers(sizes), in = numbers(input_embedding),
                     out = numbers(output_embedding);
    for (const Types& types : known) {
        if (types.input != input || types.output != output || types.execution != execution)
            continue;
        return cufftMakePlanMany(handle, rank, shape.data(), in.empty() ? nullptr : in.data(),
                                 static_cast<int>(input_step), static_cast<int>(input_distance),
                                 out.empty() ? nullptr : out.data(), static_cast<int>(output_step),
                                 static_cast<int>(output_distance), types.type,
                                 static_cast<int>(batch), work_bytes);
    }
    cuda_cpu::refuse_call("cufftXtMakePlanMany", "numbers of 16 bits, or of types that differ");
}
inline cufftResult cufftXtExec(cufftHandle handle, void* from, void* to, int direction) {
    const cuda_cpu::FftPlan* const plan = cuda_cpu::FftPlans::instance().find(handle);
    if (plan == nullptr) return CUFFT_INVALID_PLAN;
    const auto real = static_cast<cufftReal*>(from);
    const auto complex = static_cast<cufftComplex*>(from);
    const auto double_real = static_cast<cufftDoubleReal*>(from);
    const auto double_complex = static_cast<cufftDoubleComplex*>(from);
    switch (plan->type) {
        case CUFFT_R2C:
            return cufftExecR2C(handle, real, static_cast<cufftComplex*>(to));
        case CUFFT_C2R:
            return cufftExecC2R(handle, complex, static_cast<cufftReal*>(to));
        case CUFFT_C2C:
            return cufftExecC2C(handle, complex, static_cast<cufftComplex*>(to), direction);
        case CUFFT_D2Z:
            return cufftExecD2Z(handle, double_real, static_cast<cufftDoubleComplex*>(to));
        case CUFFT_Z2D:
            return cufftExecZ2D(handle, double_complex, static_cast<cufftDoubleReal*>(to));
        case CUFFT_Z2Z:
            return cufftExecZ2Z(handle, double_complex, static_cast<cufftDoubleComplex*>(to),
                                direction);
    }
    return CUFFT_INVALID_PLAN;
}
