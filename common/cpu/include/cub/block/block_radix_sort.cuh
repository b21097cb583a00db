#pragma once
#include "../block.cuh"
