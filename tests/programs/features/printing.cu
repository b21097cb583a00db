// Feature: `printf` in kernels | all conversions with width, precision and flags, strings, pointers, 64 bits; what it returns
#include <unistd.h>

#include <cstring>

#include "../runtime_expect.h"

__device__ int counts[3];
__global__ void print() {
    counts[0] = printf("%d|%i|%u|%x|%X|%o|%c|%s\n", -1, 2, 3u, 255, 255, 8, 'c', "text");
    printf("%5d|%-5d|%05d|%+d|% d|%#x|%#o\n", 42, 42, 42, 42, 42, 255, 8);
    printf("%f|%.3f|%9.2f|%e|%.1E|%g|%G|%-8.1f|\n", 1.5, 2.25f, 3.125, 12345.678, 0.5, 0.0001, 1e10,
           2.5);
    printf("%lld|%llu|%ld|%hd|%%\n", -123456789012ll, 18446744073709551615ull, 5l, short(-3));
    counts[1] = printf("nothing to convert\n");
}

int main() {
    // What kernels print goes where the host's own output goes: to a file, for a moment.
    char name[] = "/tmp/printingXXXXXX";
    const int file = mkstemp(name), terminal = dup(1);
    EXPECT(file >= 0 && terminal >= 0);
    fflush(stdout);
    dup2(file, 1);
    print<<<1, 1>>>();
    const cudaError_t error = cudaDeviceSynchronize();
    fflush(stdout);
    dup2(terminal, 1);
    SUCCEEDS(error);
    char text[1024] = {};
    EXPECT(pread(file, text, sizeof text - 1, 0) > 0);
    unlink(name);
    const char* const expected =
        "-1|2|3|ff|FF|10|c|text\n"
        "   42|42   |00042|+42| 42|0xff|010\n"
        "1.500000|2.250|     3.12|1.234568e+04|5.0E-01|0.0001|1E+10|2.5     |\n"
        "-123456789012|18446744073709551615|5|-3|%\n"
        "nothing to convert\n";
    if (strcmp(text, expected) != 0) printf("%s", text);
    EXPECT(strcmp(text, expected) == 0);
    int returned[3];
    SUCCEEDS(cudaMemcpyFromSymbol(returned, counts, sizeof returned));
    printf("ok\n");
}
