// Thrust's own, and what it includes where the device is a card.
#pragma once
#include <thrust/functional.h>
#include <thrust/iterator/counting_iterator.h>
#include_next <thrust/reduce.h>
