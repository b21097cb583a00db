// The API of memory pools, of attributes of streams, and of devices and each other's memory.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "../include/cuda_cpu/pools.h"
#include "api_call.h"

// What a pool hands out is memory of cudaMalloc; it counts it, and what it would keep for the next.
struct CUmemPoolHandle_st {
    int device = 0;
    bool is_default = false;
    int reuse[4] = {0, 1, 1, 1};
    uint64_t threshold = 0, used = 0, most_used = 0, reserved = 0, most_reserved = 0;

    void take(size_t bytes) {
        used += bytes;
        most_used = std::max(most_used, used);
        reserved = std::max(reserved, used);
        most_reserved = std::max(most_reserved, reserved);
    }
    void keep(uint64_t bytes) { reserved = std::max(used, std::min(reserved, bytes)); }
};

namespace cuda_cpu {
namespace {

struct Pools {
    std::map<int, CUmemPoolHandle_st> defaults;
    std::map<int, cudaMemPool_t> current;
    std::set<cudaMemPool_t> all;
    std::map<void*, std::pair<cudaMemPool_t, size_t>> pieces;
    std::map<std::pair<cudaStream_t, int>, cudaStreamAttrValue> attributes;

    static Pools& instance() {
        static Pools& pools = *new Pools;
        return pools;
    }
    cudaMemPool_t default_of(int device) {
        const auto [found, is_new] = defaults.try_emplace(device);
        if (is_new) {
            found->second.device = device;
            found->second.is_default = true;
            all.insert(&found->second);
        }
        return &found->second;
    }
    cudaMemPool_t of(int device) {
        const auto found = current.find(device);
        return found != current.end() ? found->second : default_of(device);
    }
    bool has(cudaMemPool_t pool) const { return all.count(pool) != 0; }
    void gives_back(void* pointer) {
        const auto found = pieces.find(pointer);
        if (found == pieces.end()) return;
        const auto [pool, bytes] = found->second;
        pieces.erase(found);
        if (has(pool)) pool->used -= bytes;
    }
    // What nobody uses goes back when the host waits.
    void host_waits() {
        for (const cudaMemPool_t pool : all) pool->keep(pool->threshold);
    }
};

}  // namespace
}  // namespace cuda_cpu

namespace {
void refuse_memory_nodes(const char* function, cudaStream_t stream) {
    if (Queue::instance().captures.count(stream) != 0)
        refuse_call(function, "memory nodes of graphs");
}
}  // namespace
cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
    const Call call;
    if (!call) return call.state;
    refuse_memory_nodes("cudaMallocAsync", stream);
    if (!Pools::instance().has(pool))
        return failed(cudaErrorInvalidValue, "the memory pool does not exist");
    const cudaError_t error = cudaMalloc(pointer, bytes);
    if (error != cudaSuccess) return error;
    pool->take(bytes);
    Pools::instance().pieces[*pointer] = {pool, bytes};
    return cudaSuccess;
}
cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream) {
    return cudaMallocFromPoolAsync(pointer, bytes, Pools::instance().of(current_device), stream);
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
    refuse_memory_nodes("cudaFreeAsync", stream);
    const cudaError_t error = cudaFree(pointer);
    if (error == cudaSuccess) Pools::instance().gives_back(pointer);
    return error;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
    const Call call;
    if (!call) return call.state;
    if (properties->allocType != cudaMemAllocationTypePinned || !is_device(properties->location.id))
        return failed(cudaErrorInvalidValue);
    if (properties->handleTypes != cudaMemHandleTypeNone)
        return failed(cudaErrorNotSupported, "CPU mode shares no memory with another process");
    *pool = new CUmemPoolHandle_st;
    (*pool)->device = properties->location.id;
    Pools::instance().all.insert(*pool);
    return cudaSuccess;
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
    const Call call;
    if (!call) return call.state;
    Pools& pools = Pools::instance();
    if (!pools.has(pool) || pool->is_default) return failed(cudaErrorInvalidValue);
    for (auto& [device, current] : pools.current) {
        if (current == pool) current = pools.default_of(device);
    }
    pools.all.erase(pool);
    delete pool;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
    const Call call;
    if (!call) return call.state;
    if (!is_device(device)) return failed(cudaErrorInvalidDevice);
    *pool = Pools::instance().default_of(device);
    return cudaSuccess;
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
    const Call call;
    if (!call) return call.state;
    if (!is_device(device)) return failed(cudaErrorInvalidDevice);
    *pool = Pools::instance().of(device);
    return cudaSuccess;
}
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
    const Call call;
    if (!call) return call.state;
    if (!is_device(device)) return failed(cudaErrorInvalidDevice);
    if (!Pools::instance().has(pool)) return failed(cudaErrorInvalidValue);
    Pools::instance().current[device] = pool;
    return cudaSuccess;
}
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* access,
                                 size_t count) {
    const Call call;
    if (!call) return call.state;
    if (!Pools::instance().has(pool)) return failed(cudaErrorInvalidValue);
    for (size_t i = 0; i < count; ++i) {
        if (!is_device(access[i].location.id)) return failed(cudaErrorInvalidDevice);
        const std::pair<int, int> pair(access[i].location.id, pool->device);
        if (access[i].flags == cudaMemAccessFlagsProtNone) {
            peers_of_pools().erase(pair);
        } else {
            peers_of_pools().insert(pair);
        }
    }
    return cudaSuccess;
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool,
                                 cudaMemLocation* location) {
    const Call call;
    if (!call) return call.state;
    if (!Pools::instance().has(pool)) return failed(cudaErrorInvalidValue);
    const bool may =
        location->id == pool->device || peers_of_pools().count({location->id, pool->device}) != 0;
    *flags = may ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
    return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
    const Call call;
    if (!call) return call.state;
    if (!Pools::instance().has(pool)) return failed(cudaErrorInvalidValue);
    if (attribute >= cudaMemPoolReuseFollowEventDependencies &&
        attribute <= cudaMemPoolReuseAllowInternalDependencies) {
        pool->reuse[attribute] = *static_cast<int*>(value);
        return cudaSuccess;
    }
    const uint64_t number = *static_cast<uint64_t*>(value);
    if (attribute == cudaMemPoolAttrReleaseThreshold) {
        pool->threshold = number;
    } else if (attribute == cudaMemPoolAttrUsedMemHigh && number == 0) {
        pool->most_used = pool->used;
    } else if (attribute == cudaMemPoolAttrReservedMemHigh && number == 0) {
        pool->most_reserved = pool->reserved;
    } else {
        return failed(cudaErrorInvalidValue);
    }
    return cudaSuccess;
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
    const Call call;
    if (!call) return call.state;
    if (!Pools::instance().has(pool) || attribute < 1 || attribute > cudaMemPoolAttrUsedMemHigh)
        return failed(cudaErrorInvalidValue);
    if (attribute <= cudaMemPoolReuseAllowInternalDependencies) {
        *static_cast<int*>(value) = pool->reuse[attribute];
        return cudaSuccess;
    }
    const uint64_t numbers[] = {pool->threshold, pool->reserved, pool->most_reserved, pool->used,
                                pool->most_used};
    *static_cast<uint64_t*>(value) = numbers[attribute - cudaMemPoolAttrReleaseThreshold];
    return cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes_to_keep) {
    const Call call;
    if (!call) return call.state;
    if (!Pools::instance().has(pool)) return failed(cudaErrorInvalidValue);
    pool->keep(bytes_to_keep);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int source,
                                      int target) {
    const Call call;
    if (!call) return call.state;
    if (!is_device(source) || !is_device(target) || source == target)
        return failed(cudaErrorInvalidDevice);
    if (attribute < cudaDevP2PAttrPerformanceRank ||
        attribute > cudaDevP2PAttrCudaArrayAccessSupported)
        return failed(cudaErrorInvalidValue);
    *value = attribute == cudaDevP2PAttrPerformanceRank ? 0 : 1;
    return cudaSuccess;
}

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID attribute,
                                   const cudaStreamAttrValue* value) {
    const Call call;
    if (!call) return call.state;
    if (!is_stream(stream)) return failed(cudaErrorInvalidResourceHandle);
    Pools::instance().attributes[{stream, attribute}] = *value;
    return cudaSuccess;
}
cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID attribute,
                                   cudaStreamAttrValue* value) {
    const Call call;
    if (!call) return call.state;
    if (!is_stream(stream)) return failed(cudaErrorInvalidResourceHandle);
    *value = Pools::instance().attributes[{stream, attribute}];
    return cudaSuccess;
}
