// What the course's headers hold for the host, compiled once and linked to every program. In a program
// of CPU mode each of these headers says "#pragma interface": then g++ leaves its functions to this file, and
// of most of them the translator has left the declaration alone (declarations.py).
#pragma implementation "arguments.h"
#pragma implementation "array_header.h"
#pragma implementation "checks.h"
#pragma implementation "comparison.h"
#pragma implementation "files.h"
#pragma implementation "gif.h"
#pragma implementation "image_bytes.h"
#pragma implementation "image_formats.h"
#pragma implementation "input.h"
#pragma implementation "jpeg.h"
#pragma implementation "jpeg_scans.h"
#pragma implementation "memory.h"
#pragma implementation "parts.h"
#pragma implementation "png.h"
#pragma implementation "pnm.h"
#pragma implementation "picture_input.h"
#pragma implementation "stb.h"
#pragma implementation "study.h"
#pragma implementation "table.h"
#pragma implementation "timers.h"
#pragma implementation "whole_image.h"
#pragma implementation "words.h"
#pragma implementation "array_file.h"
#pragma implementation "image.h"

#include <cuda_runtime.h>

#define __host__  // words that the translator takes away in a program
#define __device__

#include "../array_file.h"
#include "../lab.h"
#if __has_include(<stb/stb_image.h>) || __has_include("stb_image.h")
#include "../image.h"
#endif
