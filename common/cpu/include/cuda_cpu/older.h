// Names that CUDA 13 no longer has, and that the books of before still use.
#pragma once

#include "api.h"
#include "device.h"

#define cudaThreadSynchronize cudaDeviceSynchronize
#define cudaThreadExit cudaDeviceReset
#define cudaDeviceBlockingSync cudaDeviceScheduleBlockingSync

// Warp primitives without a mask: for the lanes that are active.
template <class T>
T __shfl(T value, int source, int width = warpSize) {
    return __shfl_sync(__activemask(), value, source, width);
}
template <class T>
T __shfl_up(T value, unsigned int delta, int width = warpSize) {
    return __shfl_up_sync(__activemask(), value, delta, width);
}
template <class T>
T __shfl_down(T value, unsigned int delta, int width = warpSize) {
    return __shfl_down_sync(__activemask(), value, delta, width);
}
template <class T>
T __shfl_xor(T value, int lane_mask, int width = warpSize) {
    return __shfl_xor_sync(__activemask(), value, lane_mask, width);
}
inline unsigned int __ballot(int predicate) { return __ballot_sync(__activemask(), predicate); }
inline int __all(int predicate) { return __all_sync(__activemask(), predicate); }
inline int __any(int predicate) { return __any_sync(__activemask(), predicate); }
