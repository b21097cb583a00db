// Thrust's own; on a card it brings the policies, thrust::device and its kin, too.
#pragma once
#include <thrust/execution_policy.h>
#include_next <thrust/partition.h>
