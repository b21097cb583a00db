#pragma once
#include "warp_load.cuh"
