// expect: race 6 9
// The second node of a graph reads what the first one writes, and waits for no node.

#include "../../common/lab.h"

__global__ void fill(int* values) { values[threadIdx.x] = threadIdx.x; }

__global__ void twice(const int* values, int* result) {
    result[threadIdx.x] = 2 * values[threadIdx.x];
}

cudaKernelNodeParams launch_of(void* kernel, void** arguments) {
    cudaKernelNodeParams parameters = {};
    parameters.func = kernel;
    parameters.gridDim = dim3(1);
    parameters.blockDim = dim3(64);
    parameters.kernelParams = arguments;
    return parameters;
}

int main() {
    lab::DeviceArray<int> values(64), result(64);
    int *d_values = values.get(), *d_result = result.get();
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMemset(d_values, 0, values.bytes()));
    cudaGraph_t graph;
    cudaGraphNode_t filled, doubled;
    cudaGraphExec_t executable;
    void *of_fill[] = {&d_values}, *of_twice[] = {&d_values, &d_result};
    const auto first = launch_of((void*)fill, of_fill);
    const auto second = launch_of((void*)twice, of_twice);
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddKernelNode(&filled, graph, nullptr, 0, &first));
    CHECK(cudaGraphAddKernelNode(&doubled, graph, nullptr, 0, &second));
    CHECK(cudaGraphInstantiateWithFlags(&executable, graph, 0));
    for (int i = 0; i < 2; ++i) CHECK(cudaGraphLaunch(executable, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(stream));
    return 0;
}
