// Feature: graphs | built node by node (kernel, copy, set, host, child) or captured from streams; launched again, updated, cloned
#include "../runtime_expect.h"

__global__ void add(int* values, int amount, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) values[i] += amount;
}
void count_calls(void* calls) { ++*static_cast<int*>(calls); }

void captured() {
    const int count = 100;
    int *values = zeros<int>(count), *host, calls = 0;
    SUCCEEDS(cudaMallocHost(&host, count * sizeof(int)));
    cudaStream_t stream, other;
    cudaEvent_t forked, joined;
    SUCCEEDS(cudaStreamCreate(&stream));
    SUCCEEDS(cudaStreamCreate(&other));
    SUCCEEDS(cudaEventCreate(&forked));
    SUCCEEDS(cudaEventCreate(&joined));
    cudaGraph_t graph;
    SUCCEEDS(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    cudaStreamCaptureStatus status;
    SUCCEEDS(cudaStreamIsCapturing(stream, &status));
    EXPECT(status == cudaStreamCaptureStatusActive);
    add<<<2, 64, 0, stream>>>(values, 1, count);
    SUCCEEDS(cudaEventRecord(forked, stream));
    SUCCEEDS(cudaStreamWaitEvent(other, forked, 0));
    add<<<2, 64, 0, other>>>(values, 10, count);
    SUCCEEDS(cudaEventRecord(joined, other));
    SUCCEEDS(cudaStreamWaitEvent(stream, joined, 0));
    SUCCEEDS(cudaMemcpyAsync(host, values, count * sizeof(int), cudaMemcpyDeviceToHost, stream));
    SUCCEEDS(cudaLaunchHostFunc(stream, count_calls, &calls));
    SUCCEEDS(cudaStreamEndCapture(stream, &graph));
    size_t nodes = 0;
    SUCCEEDS(cudaGraphGetNodes(graph, nullptr, &nodes));
    EXPECT(nodes == 4 && calls == 0);
    cudaGraphExec_t executable;
    SUCCEEDS(cudaGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < 3; ++i) SUCCEEDS(cudaGraphLaunch(executable, stream));
    SUCCEEDS(cudaStreamSynchronize(stream));
    EXPECT(host[0] == 33 && host[count - 1] == 33 && calls == 3);
    SUCCEEDS(cudaGraphExecDestroy(executable));
    SUCCEEDS(cudaGraphDestroy(graph));
    for (cudaStream_t one : {stream, other}) SUCCEEDS(cudaStreamDestroy(one));
    for (cudaEvent_t one : {forked, joined}) SUCCEEDS(cudaEventDestroy(one));
    SUCCEEDS(cudaFreeHost(host));
    SUCCEEDS(cudaFree(values));
}

void built() {
    int count = 64, amount = 5, *values = zeros<int>(count), host[64] = {}, calls = 0;
    cudaGraph_t graph, clone;
    cudaGraphNode_t set, kernel, copy, call, nodes[4];
    SUCCEEDS(cudaGraphCreate(&graph, 0));
    void* arguments[] = {&values, &amount, &count};
    cudaKernelNodeParams launch{};
    launch.func = (void*)add;
    launch.gridDim = dim3(1);
    launch.blockDim = dim3(64);
    launch.kernelParams = arguments;
    SUCCEEDS(cudaGraphAddKernelNode(&kernel, graph, nullptr, 0, &launch));
    cudaMemsetParams fill{};
    fill.dst = values;
    fill.value = 7;
    fill.elementSize = 4;
    fill.width = 64;
    fill.height = 1;
    SUCCEEDS(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &fill));
#if CUDART_VERSION < 13000 || defined(CUDA_ON_CPU)
    SUCCEEDS(cudaGraphAddDependencies(graph, &set, &kernel, 1));
#else
    SUCCEEDS(cudaGraphAddDependencies(graph, &set, &kernel, nullptr, 1));
#endif
    SUCCEEDS(cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, host, values, sizeof host,
                                      cudaMemcpyDeviceToHost));
    cudaHostNodeParams function{};
    function.fn = count_calls;
    function.userData = &calls;
    SUCCEEDS(cudaGraphAddHostNode(&call, graph, &copy, 1, &function));
    size_t found = 4;
    SUCCEEDS(cudaGraphGetNodes(graph, nodes, &found));
    cudaGraphNodeType type;
    SUCCEEDS(cudaGraphNodeGetType(set, &type));
    EXPECT(found == 4 && type == cudaGraphNodeTypeMemset);
    SUCCEEDS(cudaGraphClone(&clone, graph));
    cudaGraphExec_t executable, of_clone;
    SUCCEEDS(cudaGraphInstantiate(&executable, graph, 0));
    SUCCEEDS(cudaGraphInstantiate(&of_clone, clone, 0));
    SUCCEEDS(cudaGraphLaunch(executable, nullptr));
    SUCCEEDS(cudaDeviceSynchronize());
    EXPECT(host[63] == 12 && calls == 1);
    amount = 100;
    SUCCEEDS(cudaGraphExecKernelNodeSetParams(executable, kernel, &launch));
    SUCCEEDS(cudaGraphLaunch(executable, nullptr));
    SUCCEEDS(cudaDeviceSynchronize());
    EXPECT(host[0] == 107 && calls == 2);
    SUCCEEDS(cudaGraphLaunch(of_clone, nullptr));
    SUCCEEDS(cudaDeviceSynchronize());
    EXPECT(host[0] == 12 && calls == 3);
    for (cudaGraphExec_t one : {executable, of_clone}) SUCCEEDS(cudaGraphExecDestroy(one));
    for (cudaGraph_t one : {graph, clone}) SUCCEEDS(cudaGraphDestroy(one));
    SUCCEEDS(cudaFree(values));
}

int main() {
    captured();
    built();
    printf("ok\n");
}
