#pragma once
#include "../warp.cuh"
