// The API of graphs. A node knows how to put its work into a stream: a chain of nodes goes into that of the launch, what need
// not wait for it into streams of the graph's own, which the graph's dependencies alone order.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "api_arrays.h"
#include "api_copies.h"
#include "api_kernels.h"
#include "api_streams.h"
#include "graph_nodes.h"

namespace {

// Why it is no graph to work with, or success.
cudaError_t state_of(cudaGraph_t graph) {
    if (living_graphs().count(graph) != 0) return cudaSuccess;
    return failed(cudaErrorInvalidValue, "there is no such graph");
}

cudaError_t add_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                     size_t count, cudaGraphNodeType type,
                     std::function<cudaError_t(cudaStream_t)> enqueue,
                     const char* function = __builtin_FUNCTION()) {
    if (const Call call(function); !call) return call.state;
    if (const cudaError_t error = state_of(graph); error != cudaSuccess) return error;
    if (count > 0 && (after == nullptr || std::count(after, after + count, nullptr) > 0))
        return failed(cudaErrorInvalidValue, "a node is to wait for one that there is not");
    graph->nodes.push_back(std::make_unique<CUgraphNode_st>(
        CUgraphNode_st{type, std::move(enqueue), {after, after + count}}));
    if (node != nullptr) *node = graph->nodes.back().get();
    return cudaSuccess;
}

// The nodes of a graph, each behind those that it waits for; fewer if they wait for each other in a ring.
std::vector<CUgraphNode_st*> in_order(const CUgraph_st& graph) {
    std::vector<CUgraphNode_st*> order;
    std::set<const CUgraphNode_st*> done;
    for (bool found = true; found;) {
        found = false;
        for (const auto& node : graph.nodes) {
            const bool ready = std::all_of(node->after.begin(), node->after.end(),
                                           [&](auto* other) { return done.count(other) != 0; });
            if (!ready || !done.insert(node.get()).second) continue;
            order.push_back(node.get());
            found = true;
        }
    }
    return order;
}

cudaError_t fill_executable(CUgraphExec_st& executable, const CUgraph_st& graph) {
    const auto order = in_order(graph);
    if (order.size() != graph.nodes.size())
        return failed(cudaErrorInvalidValue, "nodes of the graph wait for each other in a ring");
    executable.nodes.clear(), executable.place.clear(), executable.after.clear();
    executable.line.clear();
    std::vector<size_t> ends;  // the last node of each line
    for (const CUgraphNode_st* const node : order) {
        const size_t place = executable.nodes.size();
        std::vector<size_t> after;
        for (const CUgraphNode_st* const other : node->after)
            after.push_back(executable.place.at(other));
        size_t line = 0;
        while (line < ends.size() && !std::count(after.begin(), after.end(), ends[line])) ++line;
        if (line == ends.size()) ends.push_back(place);
        ends[line] = place;
        executable.place[node] = place;
        executable.nodes.push_back(*node);
        executable.after.push_back(std::move(after));
        executable.line.push_back(line);
    }
    executable.lines = ends.size();
    while (executable.streams.size() + 1 < executable.lines) {
        executable.streams.push_back(new CUstream_st{cudaStreamNonBlocking, 0, current_device});
        Queue::instance().streams.insert(executable.streams.back());
    }
    return cudaSuccess;
}

template <class Nodes>
cudaError_t list_nodes(const Nodes& found, cudaGraphNode_t* nodes, size_t* count) {
    if (nodes != nullptr) std::copy_n(found.begin(), std::min(found.size(), *count), nodes);
    *count = found.size();
    return cudaSuccess;
}

}  // namespace

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned int) {
    if (const Call call; !call) return call.state;
    *graph = new CUgraph_st;
    return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    const Call call;
    if (!call) return call.state;
    if (const cudaError_t error = state_of(graph); error != cudaSuccess) return error;
    delete graph;
    return cudaSuccess;
}
cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t original) {
    if (const Call call; !call) return call.state;
    if (const cudaError_t error = state_of(original); error != cudaSuccess) return error;
    std::map<const CUgraphNode_st*, CUgraphNode_st*> twin;
    *clone = new CUgraph_st;
    for (const auto& node : original->nodes) {
        (*clone)->nodes.push_back(std::make_unique<CUgraphNode_st>(*node));
        twin[node.get()] = (*clone)->nodes.back().get();
    }
    for (const auto& node : (*clone)->nodes)
        for (CUgraphNode_st*& other : node->after) other = twin[other];
    return cudaSuccess;
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, size_t count,
                                   const cudaKernelNodeParams* parameters, Site site) {
    auto work = kernel_work(*parameters, site);
    if (work == nullptr)
        return failed(cudaErrorInvalidDeviceFunction,
                      "func is no kernel of this program: write (void*)kernel");
    return add_node(node, graph, after, count, cudaGraphNodeTypeKernel, std::move(work));
}
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, size_t count,
                                   const cudaMemcpy3DParms* parameters) {
    return add_node(node, graph, after, count, cudaGraphNodeTypeMemcpy, copy_work(*parameters));
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* after, size_t count, void* target,
                                     const void* source, size_t bytes, cudaMemcpyKind kind) {
    return add_node(node, graph, after, count, cudaGraphNodeTypeMemcpy,
                    copy_work(target, source, bytes, kind));
}
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, size_t count,
                                   const cudaMemsetParams* parameters) {
    auto work = set_work(*parameters);
    if (work == nullptr) return failed(cudaErrorInvalidValue, "elementSize is 1, 2 or 4");
    return add_node(node, graph, after, count, cudaGraphNodeTypeMemset, std::move(work));
}
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* after, size_t count,
                                 const cudaHostNodeParams* parameters) {
    return add_node(node, graph, after, count, cudaGraphNodeTypeHost, host_work(*parameters));
}
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* after, size_t count) {
    return add_node(node, graph, after, count, cudaGraphNodeTypeEmpty, [](cudaStream_t stream) {
        Queue::instance().add(
            stream, [] {}, cudaGraphNodeTypeEmpty);
        return cudaSuccess;
    });
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* after, size_t count,
                                       cudaGraph_t child) {
    if (const cudaError_t error = state_of(child); error != cudaSuccess) return error;
    auto executable = std::make_shared<CUgraphExec_st>();
    if (const cudaError_t error = fill_executable(*executable, *child); error != cudaSuccess)
        return error;
    return add_node(
        node, graph, after, count, cudaGraphNodeTypeGraph,
        [executable](cudaStream_t stream) { return cudaGraphLaunch(executable.get(), stream); });
}
cudaError_t cudaGraphAddDependencies(cudaGraph_t, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, size_t count) {
    for (size_t i = 0; i < count; ++i) to[i]->after.push_back(from[i]);
    return cudaSuccess;
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
    if (const cudaError_t error = state_of(graph); error != cudaSuccess) return error;
    std::vector<cudaGraphNode_t> found;
    for (const auto& node : graph->nodes) found.push_back(node.get());
    return list_nodes(found, nodes, count);
}
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
    if (const cudaError_t error = state_of(graph); error != cudaSuccess) return error;
    std::vector<cudaGraphNode_t> found;
    for (const auto& node : graph->nodes)
        if (node->after.empty()) found.push_back(node.get());
    return list_nodes(found, nodes, count);
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
    *type = node->type;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                 unsigned long long) {
    if (const Call call; !call) return call.state;
    if (const cudaError_t error = state_of(graph); error != cudaSuccess) return error;
    if (const cudaError_t error = refuse_in_capture(); error != cudaSuccess) return error;
    auto made = std::make_unique<CUgraphExec_st>();
    const cudaError_t error = fill_executable(*made, *graph);
    if (error == cudaSuccess) *executable = made.release();
    return error;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
    const Call call;
    if (!call) return call.state;
    if (const cudaError_t error = state_of(stream); error != cudaSuccess) return error;
    if (executable == nullptr) return failed(cudaErrorInvalidValue, "there is no executable graph");
    Queue& queue = Queue::instance();
    const struct Whole {
        ~Whole() { graph = before; }
        uint64_t &graph, before;
    } whole{queue.graph, queue.graph};
    if (queue.graph == 0) queue.graph = queue.last_number() + 1;
    const bool in_lines = executable->lines > 1 && queue.captures.count(stream) == 0;
    const auto mark = [&] {
        return queue.add(
            stream, [] {}, cudaGraphNodeTypeEmpty);
    };
    const uint64_t begin = in_lines ? mark() : 0;
    std::vector<uint64_t> numbers(executable->nodes.size()), ends(executable->lines);
    for (size_t i = 0; i < executable->nodes.size(); ++i) {
        const size_t line = in_lines ? executable->line[i] : 0;
        const cudaStream_t target = line == 0 ? stream : executable->streams[line - 1];
        if (line != 0 && ends[line] == 0) queue.wait(target, begin);
        for (const size_t other : executable->after[i])
            if (in_lines && executable->line[other] != line) queue.wait(target, numbers[other]);
        if (executable->nodes[i].disabled) continue;
        const cudaError_t error = executable->nodes[i].enqueue(target);
        if (error != cudaSuccess) return error;
        numbers[i] = ends[line] = std::max(queue.last_of(target), begin);
    }
    for (size_t line = 1; in_lines && line < ends.size(); ++line) queue.wait(stream, ends[line]);
    if (in_lines) mark();
    return cudaSuccess;
}
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
    if (const Call call; !call) return call.state;
    if (executable == nullptr) return failed(cudaErrorInvalidValue);
    for (const cudaStream_t stream : executable->streams) {
        Queue::instance().streams.erase(stream);
        observer::stream_ends(stream);
        delete stream;
    }
    delete executable;
    return cudaSuccess;
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* info) {
    if (const cudaError_t error = state_of(graph); error != cudaSuccess) return error;
    if (executable == nullptr) return failed(cudaErrorInvalidValue, "there is no executable graph");
    if (info != nullptr) *info = {cudaGraphExecUpdateSuccess, nullptr, nullptr};
    const std::vector<CUgraphNode_st*> order = in_order(*graph);
    bool same = order.size() == executable->nodes.size();
    for (size_t i = 0; same && i < order.size(); ++i)
        same = order[i]->type == executable->nodes[i].type;
    if (same) return fill_executable(*executable, *graph);
    if (info != nullptr) info->result = cudaGraphExecUpdateError;
    return failed(cudaErrorGraphExecUpdateFailure, "the graph has other nodes than the executable");
}
