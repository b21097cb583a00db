// Feature: devices | `cudaChooseDevice`, flags, peers, copies between devices, `cudaStreamAttachMemAsync`, callbacks
#include <cstring>

#include "../runtime_expect.h"

void CUDART_CB called_back(cudaStream_t, cudaError_t status, void* data) {
    *static_cast<int*>(data) = status == cudaSuccess ? 3 : -1;
}

int main() {
    cudaDeviceProp wanted;
    std::memset(&wanted, 0, sizeof wanted);
    wanted.major = 3;
    int device = -1, overlap = 0, cooperative = 0;
    SUCCEEDS(cudaChooseDevice(&device, &wanted));
    EXPECT(device >= 0);
    SUCCEEDS(cudaSetDevice(device));
    unsigned int flags = 77;
    SUCCEEDS(cudaGetDeviceFlags(&flags));
    SUCCEEDS(cudaDeviceGetAttribute(&overlap, cudaDevAttrGpuOverlap, device));
    SUCCEEDS(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device));
    EXPECT(overlap == 1 && cooperative == 1);
    FAILS(cudaErrorPeerAccessUnsupported, cudaDeviceEnablePeerAccess(device, 0));

    int *from = zeros<int>(4), *to = zeros<int>(4), *managed, answer = 0;
    SUCCEEDS(cudaMemset(from, 1, 16));
    SUCCEEDS(cudaMemcpyPeerAsync(to, device, from, device, 16, nullptr));
    SUCCEEDS(cudaDeviceSynchronize());
    EXPECT(read_back(to + 3) == 0x01010101);
    SUCCEEDS(cudaMallocManaged(&managed, 64));
    cudaStream_t stream;
    SUCCEEDS(cudaStreamCreate(&stream));
    SUCCEEDS(cudaStreamAttachMemAsync(stream, managed));
    SUCCEEDS(cudaStreamAddCallback(stream, called_back, &answer, 0));
    SUCCEEDS(cudaStreamSynchronize(stream));
    EXPECT(answer == 3);
    SUCCEEDS(cudaStreamDestroy(stream));
    for (int* pointer : {from, to, managed}) SUCCEEDS(cudaFree(pointer));
    printf("ok\n");
}
