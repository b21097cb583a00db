// What is given for the host alone. In CPU mode it is compiled once, not with each change of a page.
#pragma implementation "errors.h"
#pragma implementation "input.h"
#pragma implementation "matrix_market.h"
#pragma implementation "notes.h"
#pragma implementation "program.h"
#pragma implementation "reference.h"
#pragma implementation "run.h"
#pragma implementation "solver.h"

#include "program.h"
