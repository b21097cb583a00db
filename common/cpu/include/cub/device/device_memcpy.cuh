#pragma once
#include "device_copy.cuh"
