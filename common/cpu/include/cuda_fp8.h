// Many programs include it and use nothing of it; who does is told (absent_names).
#pragma once
#include "cuda_fp16.h"
