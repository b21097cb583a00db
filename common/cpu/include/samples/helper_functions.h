// What NVIDIA's samples include beside helper_cuda.h: arguments, a stop watch, images, comparisons.
#pragma once

#include <cassert>
#include <cmath>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "exception.h"
#include "helper_image.h"
#include "helper_string.h"
#include "helper_timer.h"
