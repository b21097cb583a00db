// The one header that a lab includes, and the contents page of what it offers. Everything is in
// namespace lab; nothing is global.
#pragma once

#include "lab/arguments.h"   // options: --elements 16Mi, --help, refused where they are wrong
#include "lab/checks.h"      // CHECK, CHECK_LAUNCH, names for the profilers
#include "lab/comparison.h"  // Tolerance and compare(): what is computed against what is right
#include "lab/files.h"       // write_file(): a whole file, or none
#include "lab/input.h"       // random_values()
#include "lab/memory.h"      // require_device(), require_memory(), DeviceArray
#include "lab/parts.h"       // in_parts(): what the host does with many elements, on all its cores
#include "lab/several_runs.h"  // in a benchmark: one process for many runs
#include "lab/study.h"         // Study: each variant judged and timed, a row in the table
#include "lab/table.h"         // Results: a row a variant, the table, the exit status
#include "lab/timers.h"        // HostTimer, EventTimer, median_milliseconds(), compare_and_time()
#include "lab/words.h"         // format(), refuse() and fail(), parse_integer()
