// The API of graphs that exist: their edges, what their nodes are changed to, and events as nodes.
#pragma once

#include <algorithm>
#include <cstdio>

#include "api_graphs.h"

namespace {

// Gives a node of a graph, or that of an executable graph, other work of its kind.
cudaError_t change(cudaGraphNode_t node, cudaGraphNodeType type, NodeWork work,
                   const char* function = __builtin_FUNCTION()) {
    if (const Call call(function); !call) return call.state;
    if (node == nullptr || node->type != type || work == nullptr)
        return failed(cudaErrorInvalidValue, "the node is of another kind, or its work is none");
    node->enqueue = std::move(work);
    return cudaSuccess;
}
CUgraphNode_st* in_executable(cudaGraphExec_t executable, cudaGraphNode_t node) {
    if (executable == nullptr) return nullptr;
    const auto found = executable->place.find(node);
    return found == executable->place.end() ? nullptr : &executable->nodes[found->second];
}
NodeWork record_work(cudaEvent_t event) {
    return [event](cudaStream_t stream) { return cudaEventRecord(event, stream); };
}
NodeWork wait_work(cudaEvent_t event) {
    return [event](cudaStream_t stream) { return cudaStreamWaitEvent(stream, event, 0); };
}

}  // namespace

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                         const cudaKernelNodeParams* parameters, Site site) {
    return change(node, cudaGraphNodeTypeKernel, kernel_work(*parameters, site));
}
cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                         const cudaMemcpy3DParms* parameters) {
    return change(node, cudaGraphNodeTypeMemcpy, copy_work(*parameters));
}
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* target, const void* source,
                                           size_t bytes, cudaMemcpyKind kind) {
    return change(node, cudaGraphNodeTypeMemcpy, copy_work(target, source, bytes, kind));
}
cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* parameters) {
    return change(node, cudaGraphNodeTypeMemset, set_work(*parameters));
}
cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* parameters) {
    return change(node, cudaGraphNodeTypeHost, host_work(*parameters));
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* parameters, Site site) {
    return change(in_executable(executable, node), cudaGraphNodeTypeKernel,
                  kernel_work(*parameters, site));
}
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* parameters) {
    return change(in_executable(executable, node), cudaGraphNodeTypeMemcpy, copy_work(*parameters));
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t node,
                                               void* target, const void* source, size_t bytes,
                                               cudaMemcpyKind kind) {
    return change(in_executable(executable, node), cudaGraphNodeTypeMemcpy,
                  copy_work(target, source, bytes, kind));
}
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemsetParams* parameters) {
    return change(in_executable(executable, node), cudaGraphNodeTypeMemset, set_work(*parameters));
}
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                           const cudaHostNodeParams* parameters) {
    return change(in_executable(executable, node), cudaGraphNodeTypeHost, host_work(*parameters));
}
cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node,
                                    unsigned int enabled) {
    CUgraphNode_st* const found = in_executable(executable, node);
    if (found == nullptr) return failed(cudaErrorInvalidValue);
    found->disabled = enabled == 0;
    return cudaSuccess;
}
cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node,
                                    unsigned int* enabled) {
    const CUgraphNode_st* const found = in_executable(executable, node);
    if (found == nullptr) return failed(cudaErrorInvalidValue);
    *enabled = !found->disabled;
    return cudaSuccess;
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                        const cudaGraphNode_t* after, size_t count,
                                        cudaEvent_t event) {
    return add_node(node, graph, after, count, cudaGraphNodeTypeEventRecord, record_work(event));
}
cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                      const cudaGraphNode_t* after, size_t count,
                                      cudaEvent_t event) {
    return add_node(node, graph, after, count, cudaGraphNodeTypeWaitEvent, wait_work(event));
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              size_t* count) {
    if (const cudaError_t error = state_of(graph); error != cudaSuccess) return error;
    std::vector<cudaGraphNode_t> first, second;
    for (const auto& node : graph->nodes) {
        for (CUgraphNode_st* const other : node->after)
            first.push_back(other), second.push_back(node.get());
    }
    size_t again = *count;
    list_nodes(first, from, &again);
    return list_nodes(second, to, count);
}
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                         size_t* count) {
    return list_nodes(node->after, nodes, count);
}
// What waits for it no longer does.
cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
    if (const Call call; !call) return call.state;
    for (CUgraph_st* const graph : living_graphs()) {
        auto& nodes = graph->nodes;
        const auto found = std::find_if(nodes.begin(), nodes.end(),
                                        [&](const auto& one) { return one.get() == node; });
        if (found == nodes.end()) continue;
        for (const auto& other : nodes)
            other->after.erase(std::remove(other->after.begin(), other->after.end(), node),
                               other->after.end());
        nodes.erase(found);
        return cudaSuccess;
    }
    return failed(cudaErrorInvalidValue, "the node is in no graph");
}
// The graph in the language of Graphviz.
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned int) {
    if (const cudaError_t error = state_of(graph); error != cudaSuccess) return error;
    FILE* const file = std::fopen(path, "w");
    if (file == nullptr)
        return failed(cudaErrorInvalidValue, std::string(path) + " cannot be written");
    static const char* const kinds[] = {"kernel", "memcpy", "memset",     "host",
                                        "graph",  "empty",  "wait event", "record event"};
    const auto number = [&](const CUgraphNode_st* node) {
        return std::find_if(graph->nodes.begin(), graph->nodes.end(),
                            [&](const auto& one) { return one.get() == node; }) -
               graph->nodes.begin();
    };
    std::fprintf(file, "digraph {\n");
    for (const auto& node : graph->nodes) {
        const auto own = number(node.get());
        std::fprintf(file, "  n%td [label=\"%td: %s\"]\n", own, own, kinds[node->type]);
        for (const CUgraphNode_st* const other : node->after)
            std::fprintf(file, "  n%td -> n%td\n", number(other), own);
    }
    std::fprintf(file, "}\n");
    std::fclose(file);
    return cudaSuccess;
}
