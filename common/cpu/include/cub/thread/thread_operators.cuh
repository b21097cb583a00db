#pragma once
#include "../operators.cuh"
