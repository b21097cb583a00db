#pragma once
#include "device_segmented_radix_sort.cuh"
