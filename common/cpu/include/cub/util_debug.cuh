#pragma once
#include "device_call.cuh"
