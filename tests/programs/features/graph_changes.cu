// Feature: graphs that change | parameters of kernel, copy, set and host nodes, in a graph or in its executable; nodes switched off, events as nodes, edges, nodes taken out
#include "../runtime_expect.h"

__global__ void add(int* values, int amount) { values[threadIdx.x] += amount; }
void note(void* place) { ++*static_cast<int*>(place); }

int main() {
    int *values = zeros<int>(32), *other = zeros<int>(32), amount = 5, noted[2] = {0, 0}, host[32];
    cudaGraph_t graph;
    SUCCEEDS(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t set, kernel, copy, call, record;
    cudaMemsetParams zero = {};
    zero.dst = values, zero.value = 0, zero.elementSize = 4, zero.width = 32, zero.height = 1;
    SUCCEEDS(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &zero));
    void* arguments[] = {&values, &amount};
    cudaKernelNodeParams launch = {};
    launch.func = (void*)add, launch.gridDim = 1, launch.blockDim = 32;
    launch.kernelParams = arguments;
    SUCCEEDS(cudaGraphAddKernelNode(&kernel, graph, &set, 1, &launch));
    SUCCEEDS(cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, host, values, sizeof host,
                                      cudaMemcpyDeviceToHost));
    cudaHostNodeParams function = {note, &noted[0]};
    SUCCEEDS(cudaGraphAddHostNode(&call, graph, &copy, 1, &function));
    cudaEvent_t event;
    SUCCEEDS(cudaEventCreate(&event));
    SUCCEEDS(cudaGraphAddEventRecordNode(&record, graph, &call, 1, event));
    size_t edges = 0, before = 1;
    cudaGraphNode_t first;
#if CUDART_VERSION < 13000
    SUCCEEDS(cudaGraphGetEdges(graph, nullptr, nullptr, &edges));
    SUCCEEDS(cudaGraphNodeGetDependencies(copy, &first, &before));
#else
    SUCCEEDS(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
    SUCCEEDS(cudaGraphNodeGetDependencies(copy, &first, nullptr, &before));
#endif
    EXPECT(first == kernel);
    EXPECT(edges == 4 && before == 1);

    cudaGraphExec_t executable;
    SUCCEEDS(cudaGraphInstantiate(&executable, graph, 0));
    SUCCEEDS(cudaGraphLaunch(executable, nullptr));
    SUCCEEDS(cudaDeviceSynchronize());
    EXPECT(host[31] == 5 && noted[0] == 1 && cudaEventQuery(event) == cudaSuccess);

    amount = 7;
    SUCCEEDS(cudaGraphExecKernelNodeSetParams(executable, kernel, &launch));
    zero.value = 100;
    SUCCEEDS(cudaGraphExecMemsetNodeSetParams(executable, set, &zero));
    function.userData = &noted[1];
    SUCCEEDS(cudaGraphExecHostNodeSetParams(executable, call, &function));
    SUCCEEDS(cudaGraphLaunch(executable, nullptr));
    SUCCEEDS(cudaDeviceSynchronize());
    EXPECT(host[0] == 107 && noted[0] == 1 && noted[1] == 1);

    SUCCEEDS(cudaGraphNodeSetEnabled(executable, set, 0));
    unsigned int enabled = 1;
    SUCCEEDS(cudaGraphNodeGetEnabled(executable, set, &enabled));
    SUCCEEDS(cudaGraphExecMemcpyNodeSetParams1D(executable, copy, host, other, sizeof host,
                                                cudaMemcpyDeviceToHost));
    SUCCEEDS(cudaGraphLaunch(executable, nullptr));
    SUCCEEDS(cudaDeviceSynchronize());
    EXPECT(enabled == 0 && host[0] == 0 && read_back(values) == 114);

    SUCCEEDS(cudaGraphDestroyNode(record));
    SUCCEEDS(cudaGraphDestroyNode(call));
    size_t nodes = 0;
    SUCCEEDS(cudaGraphGetNodes(graph, nullptr, &nodes));
    EXPECT(nodes == 3);
    SUCCEEDS(cudaGraphExecDestroy(executable));
    SUCCEEDS(cudaGraphDestroy(graph));
    SUCCEEDS(cudaEventDestroy(event));
    printf("ok\n");
}
