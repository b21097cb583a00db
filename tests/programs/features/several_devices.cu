// Feature: several devices | `CUDA_CPU_DEVICES=4`: each with memory, default stream, streams and events of its own; peer access, also to a pool, `cudaMemcpyPeerAsync`
#include "../runtime_expect.h"

__global__ void add_kernel(int* to, const int* from) { *to += *from; }

int main() {
#ifdef CUDA_ON_CPU
    setenv("CUDA_CPU_DEVICES", "3", 1);
#endif
    int count = 0, can = 0;
    SUCCEEDS(cudaGetDeviceCount(&count));
    if (count < 2) {
        fprintf(stderr, "skipped: one device\n");
        return 77;
    }
    int* values[2];
    cudaStream_t streams[2];
    cudaEvent_t events[2];
    for (int device = 0; device < 2; ++device) {
        SUCCEEDS(cudaSetDevice(device));
        values[device] = zeros<int>(1);
        SUCCEEDS(cudaMemset(values[device], device + 1, sizeof(int)));
        SUCCEEDS(cudaDeviceSynchronize());
        SUCCEEDS(cudaStreamCreateWithFlags(&streams[device], cudaStreamNonBlocking));
        SUCCEEDS(cudaEventCreate(&events[device]));
    }
    // Device 1 is current. A launch wants a stream of its device, a record an event of the stream's.
    add_kernel<<<1, 1, 0, streams[0]>>>(values[1], values[1]);
    EXPECT(cudaGetLastError() == cudaErrorInvalidResourceHandle);
    FAILS(cudaErrorInvalidResourceHandle, cudaEventRecord(events[0], streams[1]));
    FAILS(cudaErrorInvalidResourceHandle, cudaEventRecord(events[0], nullptr));
    FAILS(cudaErrorPeerAccessNotEnabled, cudaDeviceDisablePeerAccess(0));

    // Any stream may wait for any event, and copy between any devices.
    int* landed = zeros<int>(1);
    SUCCEEDS(cudaEventRecord(events[0], streams[0]));
    SUCCEEDS(cudaStreamWaitEvent(streams[1], events[0], 0));
    SUCCEEDS(cudaMemcpyPeerAsync(landed, 1, values[0], 0, sizeof(int), streams[0]));
    SUCCEEDS(cudaEventRecord(events[0], streams[0]));
    SUCCEEDS(cudaStreamWaitEvent(streams[1], events[0], 0));
    add_kernel<<<1, 1, 0, streams[1]>>>(values[1], landed);
    SUCCEEDS(cudaGetLastError());
    SUCCEEDS(cudaEventRecord(events[1], streams[1]));
    SUCCEEDS(cudaEventSynchronize(events[1]));
    EXPECT(read_back(values[1]) == 0x03030303);
    float milliseconds;
    FAILS(cudaErrorInvalidResourceHandle,
          cudaEventElapsedTime(&milliseconds, events[0], events[1]));

    cudaPointerAttributes attributes;
    SUCCEEDS(cudaPointerGetAttributes(&attributes, values[0]));
    EXPECT(attributes.device == 0);
    SUCCEEDS(cudaDeviceCanAccessPeer(&can, 1, 0));
    if (can) {
        cudaMemPool_t pool;
        cudaMemAccessDesc access = {{cudaMemLocationTypeDevice, 1},
                                    cudaMemAccessFlagsProtReadWrite};
        int* piece;
        SUCCEEDS(cudaDeviceGetDefaultMemPool(&pool, 0));
        SUCCEEDS(cudaMallocFromPoolAsync(&piece, 4, pool, nullptr));
        SUCCEEDS(cudaMemset(piece, 0, 4));
        SUCCEEDS(cudaMemPoolSetAccess(pool, &access, 1));
        add_kernel<<<1, 1>>>(piece, values[1]);
        EXPECT_RUN();
        access.flags = cudaMemAccessFlagsProtNone;
        SUCCEEDS(cudaMemPoolSetAccess(pool, &access, 1));
        SUCCEEDS(cudaMemPoolGetAccess(&access.flags, pool, &access.location));
        EXPECT(access.flags == cudaMemAccessFlagsProtNone);
        SUCCEEDS(cudaDeviceEnablePeerAccess(0, 0));
        FAILS(cudaErrorPeerAccessAlreadyEnabled, cudaDeviceEnablePeerAccess(0, 0));
        add_kernel<<<1, 1>>>(values[1], values[0]);
        EXPECT_RUN();
        EXPECT(read_back(values[1]) == 0x04040404);
    }
    printf("ok\n");
}
