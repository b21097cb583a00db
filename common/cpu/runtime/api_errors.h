// The API of errors: their names, their sentences, the last one.
#pragma once

#include <map>
#include <string>

#include "api_call.h"
#include "record.h"

const char* cudaGetErrorName(cudaError_t error) {
    switch (error) {
#define CUDA_CPU_NAME(name, value, sentence) \
    case name:                               \
        return #name;
        CUDA_CPU_ERRORS(CUDA_CPU_NAME)
#undef CUDA_CPU_NAME
    }
    return "unrecognized error code";
}

// NVIDIA's sentence; behind it, in parentheses, what was wrong with the last call of this kind.
const char* cudaGetErrorString(cudaError_t error) {
    static thread_local std::map<cudaError_t, std::string> sentences;
    std::string& sentence = sentences[error];
    switch (error) {
#define CUDA_CPU_SENTENCE(name, value, text) \
    case name:                               \
        sentence = text;                     \
        break;
        CUDA_CPU_ERRORS(CUDA_CPU_SENTENCE)
#undef CUDA_CPU_SENTENCE
        default:
            return "unrecognized error code";
    }
    if (error == detailed_error && !last_detail.empty()) sentence += " (" + last_detail + ")";
    return sentence.c_str();
}

cudaError_t cudaGetLastError() {
    const cudaError_t error = cudaPeekAtLastError();
    last_error() = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError() {
    if (!in_kernel()) Record::instance().checked();
    return last_error();
}
