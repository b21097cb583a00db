// Thrust's own, and with it the policies for CUDA, which its <thrust/execution_policy.h> brings where the device is a card.
#pragma once
#include_next <thrust/system/cpp/execution_policy.h>
#include <thrust/system/cuda/execution_policy.h>
