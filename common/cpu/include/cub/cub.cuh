// CUB's algorithms for a warp, a block and the device, written for CPU mode: their results, not their speed.
#pragma once

#include "block.cuh"
#include "device.cuh"
#include "warp.cuh"
