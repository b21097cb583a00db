// Runs a kernel of races.cuh that is wrong on purpose, and its repair. Included behind it.
#pragma once

#include <cstdio>

#include "request.h"

constexpr int64_t most_of_demo = lab::on_cpu ? 4 << 20 : 1 << 30;  // some seconds

// There is no verdict: the one may be right by luck, and the other is the checker's business.
inline int run_demo(const Demo& demo, const Request& request, bool only_repaired) {
    const int64_t count = request.elements;
    if (count > most_of_demo) {
        lab::refuse("--elements: a --demo takes at most %lld",
                    static_cast<long long>(most_of_demo));
    }
    Count expected = 0;
    for (int64_t i = 0; i < count; i++) expected += demo.counts ? 1 : share_of(i, count);
    lab::require_device();
    std::printf("device: %s\n", lab::device_name().c_str());
    std::printf("demo %s: %lld thread%s in blocks of %d; expected: %llu\n", demo.name,
                static_cast<long long>(count), count == 1 ? "" : "s", demo_block, expected);
    std::fflush(stdout);  // in case that the kernel never ends
    const lab::DeviceArray<Count> d_total(1);
    for (const bool repaired : {false, true}) {
        if (only_repaired && !repaired) continue;
        std::vector<Count> total(1);
        CHECK(cudaMemset(d_total.get(), 0, sizeof(Count)));
        if (count > 0) {  // a grid without blocks cannot be launched
            const auto kernel = repaired ? demo.repaired : demo.wrong;
            kernel<<<lab::divide_up(count, demo_block), demo_block>>>(count, d_total.get());
            CHECK_LAUNCH();
        }
        d_total.download(total);
        std::printf("%s %llu\n",
                    repaired ? "repaired:            " : "racy: may be wrong:  ", total[0]);
    }
    return 0;
}
