// Cooperative groups: the block, its tiles, the lanes that run together, and the grid of a cooperative launch.
#pragma once

#include "cuda_cpu/groups/block.h"    // the block, the grid, a group of any kind
#include "cuda_cpu/groups/cluster.h"  // thread block clusters
#include "cuda_cpu/groups/warp.h"     // tiles of a warp and coalesced groups
#include "cuda_runtime.h"
