// Thrust's own, and what it includes where the device is a card.
#pragma once
#include <thrust/execution_policy.h>
#include_next <thrust/extrema.h>
