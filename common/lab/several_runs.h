// A benchmark is one process for many runs: a process takes half a second to begin on a card and to end.
#pragma once

#ifdef LAB_BENCH

#include <errno.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <cstdio>
#include <cstring>
#include <vector>

int run_once(int argc, char** argv);

// The runs, each with the words up to the next --and. Returns the status of the first that failed, or else 0, or
// what tells that all have ended: 101 if a result was wrong, 177 if all were skipped. 1 and 77 come from an exit.
int main(int argc, char** argv) {
#ifdef __GLIBC__
    // What a run gives back stays for the next one: a page that is new to the process takes longer than its use.
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, -1);
#endif
    int status = 77;
    bool several = false;
    std::vector<char*> words = {argv[0]};
    for (int i = 1; i <= argc; ++i) {
        if (i < argc && std::strcmp(argv[i], "--and") != 0) {
            words.push_back(argv[i]);
            continue;
        }
        several = several || i < argc;
        if (several) {
            std::printf("\n%s:", program_invocation_short_name);
            for (size_t k = 1; k < words.size(); ++k) std::printf(" %s", words[k]);
            std::printf("\n");
        }
        words.push_back(nullptr);
        const int ended = run_once(int(words.size()) - 1, words.data());
        std::fflush(stdout);
        if (ended != 0 && ended != 1 && ended != 77) return ended;
        if (ended == 1 || status == 77) status = ended;
        words = {argv[0]};
    }
    return several && status != 0 ? 100 + status : status;
}

#define main run_once

#endif
