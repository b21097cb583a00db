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

namespace cuda_cpu {

// A call stands alone in its statement, so that nobody sees what it returns. If it fails it is a finding,
// until somebody asks for the last error.
Ignored::Ignored() : failures_(untold_failures) {}
Ignored::~Ignored() {
    // Of a kernel that has ended the device's work it is told why; each call fails then.
    if (untold_failures == failures_ || lost_device != cudaSuccess) return;
    const bool is_first = notes_are_wanted() && Unheeded::instance().sentence.empty();
    if (!findings_are_wanted() && !is_first) return;
    const std::string sentence = learners_place() + last_function +
                                 " fails, and the program does not look at what it returns: " +
                                 cudaGetErrorString(detailed_error) +
                                 ". Compare the result of each call with cudaSuccess.";
    note("call", sentence);
    if (is_first) Unheeded::instance().sentence = sentence;
}

}  // namespace cuda_cpu

cudaError_t cudaGetLastError() {
    const cudaError_t error = cudaPeekAtLastError();
    last_error() = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError() {
    if (!in_kernel()) Record::instance().checked();
    if (findings_are_wanted() && last_error() != cudaSuccess) write_finding("\"looked\": 1");
    if (!in_kernel() && last_error() != cudaSuccess) Unheeded::instance().sentence.clear();
    return last_error();
}
