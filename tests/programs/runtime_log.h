// In which order kernels of several streams ran: each appends a letter.
#pragma once

#include <string>

#include "runtime_expect.h"

__global__ void append_kernel(int* log, int* length, int what) { log[atomicAdd(length, 1)] = what; }

struct Log {
    int *entries, *length;
    Log() : entries(nullptr), length(nullptr) {
        SUCCEEDS(cudaMallocManaged(&entries, 1000 * sizeof(int)));
        SUCCEEDS(cudaMallocManaged(&length, sizeof(int)));
        *length = 0;
    }
    std::string text() const {
        std::string text;
        for (int i = 0; i < *length; ++i) text += static_cast<char>(entries[i]);
        return text;
    }
};
