// Feature: memory pools | `cudaMallocAsync`, `cudaMallocFromPoolAsync`, attributes and limits of pools; access policy windows of streams, peer attributes (without effect)
#include <cstdint>

#include "../runtime_expect.h"

uint64_t number_of(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
    uint64_t value = 0;
    SUCCEEDS(cudaMemPoolGetAttribute(pool, attribute, &value));
    return value;
}
__global__ void fill(int* out) { out[threadIdx.x] = threadIdx.x; }

int main() {
    int device = 0, *a = nullptr, *b = nullptr;
    cudaMemPool_t usual, own, current;
    cudaStream_t stream;
    SUCCEEDS(cudaStreamCreate(&stream));
    SUCCEEDS(cudaDeviceGetDefaultMemPool(&usual, device));
    SUCCEEDS(cudaDeviceGetMemPool(&current, device));
    EXPECT(current == usual && number_of(usual, cudaMemPoolAttrUsedMemCurrent) == 0);
    SUCCEEDS(cudaMallocAsync(&a, 4096, stream));
    EXPECT(number_of(usual, cudaMemPoolAttrUsedMemCurrent) >= 4096);
    fill<<<1, 32, 0, stream>>>(a);
    SUCCEEDS(cudaFreeAsync(a, stream));
    SUCCEEDS(cudaStreamSynchronize(stream));
    EXPECT(number_of(usual, cudaMemPoolAttrUsedMemCurrent) == 0 &&
           number_of(usual, cudaMemPoolAttrUsedMemHigh) >= 4096);

    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = device;
    SUCCEEDS(cudaMemPoolCreate(&own, &properties));
    uint64_t everything = UINT64_MAX;
    SUCCEEDS(cudaMemPoolSetAttribute(own, cudaMemPoolAttrReleaseThreshold, &everything));
    EXPECT(number_of(own, cudaMemPoolAttrReleaseThreshold) == UINT64_MAX);
    SUCCEEDS(cudaMallocFromPoolAsync(&b, 128, own, stream));
    fill<<<1, 32, 0, stream>>>(b);
    EXPECT(read_back(b + 31) == 31);
    SUCCEEDS(cudaFreeAsync(b, stream));
    SUCCEEDS(cudaStreamSynchronize(stream));
    EXPECT(number_of(own, cudaMemPoolAttrReservedMemCurrent) >= 128);
    SUCCEEDS(cudaMemPoolTrimTo(own, 0));
    EXPECT(number_of(own, cudaMemPoolAttrReservedMemCurrent) == 0);
    SUCCEEDS(cudaMemPoolDestroy(own));

    SUCCEEDS(cudaMalloc(&a, 4096));
    cudaStreamAttrValue value = {}, kept = {};
    value.accessPolicyWindow.base_ptr = a;
    value.accessPolicyWindow.num_bytes = 4096;
    value.accessPolicyWindow.hitRatio = 1;
    value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    value.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    SUCCEEDS(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value));
    SUCCEEDS(cudaStreamGetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &kept));
    EXPECT(kept.accessPolicyWindow.num_bytes == 4096);
    SUCCEEDS(cudaFree(a));
    int count = 0, access = -1;
    SUCCEEDS(cudaGetDeviceCount(&count));
    if (count > 1)
        SUCCEEDS(cudaDeviceGetP2PAttribute(&access, cudaDevP2PAttrAccessSupported, 0, 1));
    FAILS(cudaErrorInvalidDevice,
          cudaDeviceGetP2PAttribute(&access, cudaDevP2PAttrAccessSupported, 0, 99));
    SUCCEEDS(cudaStreamDestroy(stream));
    std::puts("ok");
}
