// Loads and stores with a hint for a card's caches, which is all the same here.
#pragma once

#include "launch.h"

template <class T>
CUDA_CPU_INLINE T __ldg(const T* address) {
    return *address;
}
template <class T>
CUDA_CPU_INLINE T __ldcg(const T* address) {
    return *address;
}
template <class T>
CUDA_CPU_INLINE T __ldca(const T* address) {
    return *address;
}
template <class T>
CUDA_CPU_INLINE T __ldcs(const T* address) {
    return *address;
}
template <class T>
CUDA_CPU_INLINE T __ldlu(const T* address) {
    return *address;
}
template <class T>
CUDA_CPU_INLINE T __ldcv(const T* address) {
    return *address;
}
template <class T>
CUDA_CPU_INLINE void __stwb(T* address, T value) {
    *address = value;
}
template <class T>
CUDA_CPU_INLINE void __stcg(T* address, T value) {
    *address = value;
}
template <class T>
CUDA_CPU_INLINE void __stcs(T* address, T value) {
    *address = value;
}
template <class T>
CUDA_CPU_INLINE void __stwt(T* address, T value) {
    *address = value;
}
