// Some programs include this one for the runtime's names. The driver API itself is not here.
#pragma once
#include "cuda_runtime.h"
