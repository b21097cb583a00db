// Thrust's own, and what it includes where the device is a card.
#pragma once
#include <thrust/functional.h>
#include_next <thrust/transform.h>
