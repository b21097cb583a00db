// A kernel in a header: its lines are the learner's, too.
__global__ void beyond(int* values) {
    values[4096] = 1;  // LINE 1
}
