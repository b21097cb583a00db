// The nodes of graphs, and what each kind puts into a stream.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "api_arrays.h"
#include "api_copies.h"
#include "api_kernels.h"
#include "api_streams.h"

struct CUgraphNode_st {
    cudaGraphNodeType type;
    std::function<cudaError_t(cudaStream_t)> enqueue;
    std::vector<CUgraphNode_st*> after;  // what has to run before it
    bool disabled = false;               // of an executable graph
};
struct CUgraph_st;
inline std::set<CUgraph_st*>& living_graphs() {
    static auto& graphs = *new std::set<CUgraph_st*>;
    return graphs;
}
struct CUgraph_st {
    std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
    CUgraph_st() { living_graphs().insert(this); }
    ~CUgraph_st() { living_graphs().erase(this); }
    CUgraph_st(const CUgraph_st&) = delete;
};
struct CUgraphExec_st {
    std::vector<CUgraphNode_st> nodes;              // in an order that the dependencies allow
    std::map<const CUgraphNode_st*, size_t> place;  // of the graph's nodes
    std::vector<std::vector<size_t>> after;         // the places of what a node waits for
    std::vector<size_t> line;                       // of a node; 0 is the stream of the launch
    size_t lines = 0;
    std::vector<cudaStream_t> streams{};  // of the lines from 1 on
};

namespace {

using NodeWork = std::function<cudaError_t(cudaStream_t)>;

// What a kernel node does; null if its function is not one that the program has as a kernel.
NodeWork kernel_work(const cudaKernelNodeParams& p, const Site& site) {
    const auto found = noted_kernels().find(p.func);
    if (found == noted_kernels().end()) return nullptr;
    std::shared_ptr<Launchable> launchable = found->second(p.func, p.kernelParams);
    const Shape shape(p.gridDim, p.blockDim, p.sharedMemBytes, nullptr, site);
    return [=](cudaStream_t stream) {
        Shape here = shape;
        here.stream = stream;
        const bool valid = submit(launchable->kernel().release(), "", here, nullptr, 0);
        return valid ? cudaSuccess : cudaPeekAtLastError();
    };
}

NodeWork copy_work(const cudaMemcpy3DParms& p) {
    return [p](cudaStream_t stream) { return cudaMemcpy3DAsync(&p, stream); };
}
NodeWork copy_work(void* target, const void* source, size_t bytes, cudaMemcpyKind kind) {
    return
        [=](cudaStream_t stream) { return cudaMemcpyAsync(target, source, bytes, kind, stream); };
}
NodeWork host_work(const cudaHostNodeParams& p) {
    return [p](cudaStream_t stream) { return cudaLaunchHostFunc(stream, p.fn, p.userData); };
}
// Null for elements of another size than 1, 2 or 4 bytes.
NodeWork set_work(const cudaMemsetParams& p) {
    const size_t bytes = p.width * p.elementSize, pitch = p.height > 1 ? p.pitch : bytes;
    const bool even = p.elementSize == 1 || p.value == 0;
    if (!even && p.elementSize != 2 && p.elementSize != 4) return nullptr;
    return [=](cudaStream_t stream) {
        if (even)
            return cudaMemset2DAsync(p.dst, pitch, static_cast<int>(p.value), bytes, p.height,
                                     stream);
        const Side side = look_at(p.dst, pitch * (p.height - 1) + bytes, "target");
        if (!side.wrong.empty()) return refused(side.kind, "set: " + side.wrong);
        Queue::instance().add(stream, [=] {
            Memory::instance().set_open(all_devices);
            Paging::instance().serve(Paging::copies);
            for (size_t row = 0; row < p.height; ++row) {
                char* const start = static_cast<char*>(p.dst) + row * pitch;
                observer::filled(start, bytes);
                for (size_t i = 0; i < p.width; ++i)
                    std::memcpy(start + i * p.elementSize, &p.value, p.elementSize);
            }
        });
        return cudaSuccess;
    };
}

}  // namespace
