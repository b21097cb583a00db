// Compiled as 13_matrix_product.cu is, without the libraries; the flags are
// -DLAB_FURTHER -I../../solutions/16_dfa_minimization -I../../labs/16_dfa_minimization.
// Tuning: what a meeting of blocks and a look-up cost, how long the deep automata take, and where the time goes
// for the large ones. Each partition is compared with Hopcroft's, or with that of another algorithm.
#include <cuda_runtime.h>

#include <chrono>
#include <functional>
#include <map>
#include <numeric>
#include <string>

// Time by what it was spent on: each launch and each checked call is waited for.
struct Phases {
    using Clock = std::chrono::steady_clock;
    struct Part {
        double milliseconds = 0;
        int calls = 0;
    };
    bool on = false;
    Clock::time_point before;
    std::map<std::string, Part> parts;

    void restart() {
        if (on) cudaDeviceSynchronize();
        before = Clock::now();
    }
    void mark(const std::string& name) {
        if (!on) return;
        cudaDeviceSynchronize();
        Part& part = parts[name];
        part.milliseconds +=
            std::chrono::duration<double, std::milli>(Clock::now() - before).count();
        part.calls++;
        before = Clock::now();
    }
} phases;

template <class T>
cudaError_t timed_malloc(T** place, size_t bytes) {
    phases.mark("host");
    const cudaError_t status = cudaMalloc(place, bytes);
    phases.mark("cudaMalloc");
    return status;
}
inline cudaError_t timed_free(void* place) {
    phases.mark("host");
    const cudaError_t status = cudaFree(place);
    phases.mark("cudaFree");
    return status;
}
#define cudaMalloc timed_malloc
#define cudaFree timed_free
#include "../../common/lab.h"
#undef CHECK_LAUNCH
#undef CHECK
inline std::string part_name(const char* function, const char* call) {
    const std::string text = call;
    return function + std::string(" ") + text.substr(0, text.find('('));
}
#define CHECK(...)                                                                       \
    (phases.mark("host"), ::lab::check((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__), \
     phases.mark(part_name(__func__, #__VA_ARGS__)))
#define CHECK_LAUNCH()                                               \
    (::lab::check(cudaGetLastError(), "launch", __FILE__, __LINE__), \
     phases.mark(lab::format("%s:%d", __func__, __LINE__)))

#define main lab_main
#include "../../solutions/16_dfa_minimization/dfa_minimization.cu"
#undef main

// ---------------------------------------------------------------------------------------------
// Automata
// ---------------------------------------------------------------------------------------------

// The same automaton with its states in random order.
Automaton shuffled(const Automaton& automaton) {
    const int64_t states = automaton.states;
    std::vector<int32_t> place(states);
    std::iota(place.begin(), place.end(), 0);
    Random random(1);
    for (int64_t i = states - 1; i > 0; i--) std::swap(place[i], place[random.below(i + 1)]);
    Automaton result = automaton;
    for (int64_t q = 0; q < states; q++) {
        result.is_final[place[q]] = automaton.is_final[q];
        for (int64_t letter = 0; letter < automaton.symbols; letter++) {
            result.next[letter * states + place[q]] = place[automaton.next[letter * states + q]];
        }
    }
    return result;
}

// Side by side, `count` times: as many chains at the same time.
Automaton side_by_side(const Automaton& one, int count) {
    Automaton all = make_automaton(count * one.states, one.symbols);
    for (int64_t q = 0; q < all.states; q++) {
        const int64_t copy = q / one.states, state = q % one.states;
        all.is_final[q] = one.is_final[state];
        for (int64_t letter = 0; letter < one.symbols; letter++) {
            all.next[letter * all.states + q] =
                int32_t(copy * one.states + one.next[letter * one.states + state]);
        }
    }
    return all;
}

__device__ inline uint64_t mixed_counter(uint64_t counter) {
    uint64_t z = (counter + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

// As C_n,m, though some states cannot be reached.
__global__ void make_random(int64_t states, int64_t symbols, int32_t* next, uint8_t* is_final) {
    const int64_t step = int64_t{gridDim.x} * blockDim.x;
    for (int64_t i = global_thread(); i < states * symbols; i += step) {
        next[i] = int32_t(__umul64hi(mixed_counter(i), states));
    }
    for (int64_t q = global_thread(); q < states; q += step) {
        is_final[q] = mixed_counter(states * symbols + q) & 1;
    }
}

// A_n,m.
__global__ void make_best_case(int64_t states, int64_t symbols, int32_t* next, uint8_t* is_final) {
    const int64_t step = int64_t{gridDim.x} * blockDim.x;
    for (int64_t i = global_thread(); i < states * symbols; i += step) {
        const int64_t letter = i / states, q = i % states, kind = q % 3, sink = q - kind + 2;
        const int64_t to = kind == 0 && letter == 0   ? q + 1
                           : kind == 1 && letter == 1 ? (q + 2) % states
                                                      : sink;
        next[i] = int32_t(to);
        if (letter == 0) is_final[q] = kind == 0;
    }
}

// In device memory, with its right classes once they are known.
struct Subject {
    int64_t states, symbols;
    DeviceArray<int32_t> next, class_of, right;
    DeviceArray<uint8_t> is_final;
    bool known = false;

    Subject(int64_t states, int64_t symbols)
        : states(states),
          symbols(symbols),
          next(states * symbols),
          class_of(states),
          right(states),
          is_final(states) {}

    explicit Subject(const Automaton& automaton) : Subject(automaton.states, automaton.symbols) {
        CHECK(cudaMemcpy(next.get(), automaton.next.data(), next.bytes(), cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(is_final.get(), automaton.is_final.data(), is_final.bytes(),
                         cudaMemcpyHostToDevice));
        const Partition partition = hopcroft(automaton, HostOptions());
        CHECK(cudaMemcpy(right.get(), partition.class_of.data(), right.bytes(),
                         cudaMemcpyHostToDevice));
        known = true;
    }

    DeviceAutomaton automaton() const { return {states, symbols, next.get(), is_final.get()}; }
};

__global__ void count_different(const int32_t* a, const int32_t* b, int64_t count,
                                unsigned* different) {
    const int64_t i = global_thread();
    if (i < count && a[i] != b[i]) atomicAdd(different, 1);
}

// ---------------------------------------------------------------------------------------------
// Measuring
// ---------------------------------------------------------------------------------------------

using Work = std::function<bool(const DeviceAutomaton&, int32_t*, Refined&)>;

Work work_of(Refine refine) {
    return [=](const DeviceAutomaton& automaton, int32_t* class_of, Refined& refined) {
        refined = refine(automaton, class_of, RefineOptions());
        return true;
    };
}

// Milliseconds (median), or why there are none.
std::string judged_time(Subject& subject, const Work& work, int runs) {
    Refined refined;
    CHECK(cudaMemset(subject.class_of.get(), 0xFF, subject.class_of.bytes()));
    if (!work(subject.automaton(), subject.class_of.get(), refined)) return "       -";
    DeviceArray<unsigned> different(1);
    CHECK(cudaMemset(different.get(), 0, 4));
    if (subject.known) {
        count_different<<<blocks_for(subject.states, 256), 256>>>(
            subject.class_of.get(), subject.right.get(), subject.states, different.get());
    } else {
        CHECK(cudaMemcpy(subject.right.get(), subject.class_of.get(), subject.right.bytes(),
                         cudaMemcpyDeviceToDevice));
        subject.known = true;
    }
    if (copied_back(different.get()) > 0) return "   WRONG";
    std::vector<double> times;
    for (int i = 0; i < runs; i++) {
        CHECK(cudaDeviceSynchronize());
        const lab::HostTimer timer;
        work(subject.automaton(), subject.class_of.get(), refined);
        CHECK(cudaDeviceSynchronize());
        times.push_back(timer.milliseconds());
    }
    std::sort(times.begin(), times.end());
    return lab::format("%8.3f", times[times.size() / 2]);
}

// The parts of one run that take longest.
void print_parts(Subject& subject, const Work& work) {
    Refined refined;
    phases.on = true;
    phases.parts.clear();
    phases.restart();
    work(subject.automaton(), subject.class_of.get(), refined);
    phases.on = false;
    std::vector<std::pair<double, std::string>> parts;
    double all = 0;
    for (const auto& [name, part] : phases.parts) {
        parts.push_back({part.milliseconds, lab::format("%s x%d", name.c_str(), part.calls)});
        all += part.milliseconds;
    }
    std::sort(parts.rbegin(), parts.rend());
    std::printf("      %lld classes, %lld rounds; parts, each waited for, %.2f ms:\n",
                (long long)refined.classes, (long long)refined.rounds, all);
    std::string line;
    for (size_t i = 0; i < std::min<size_t>(12, parts.size()); i++) {
        const std::string text =
            lab::format("%7.2f %-40.40s", parts[i].first, parts[i].second.c_str());
        line += text;
        if (i % 3 == 2 || i + 1 == parts.size()) {
            std::printf("      %s\n", line.c_str());
            line.clear();
        }
    }
    std::fflush(stdout);
}

// ---------------------------------------------------------------------------------------------
// What the smallest pieces cost
// ---------------------------------------------------------------------------------------------

enum class Piece { look_up, look_up_l2, look_up_shared, shuffle, match, ballot, write_and_read };

// Nanoseconds of one of many that wait for each other. ring: (count), i leads to the next place.
template <Piece piece>
__global__ void time_piece(int32_t* ring, int32_t steps, double* nanoseconds, int32_t* end) {
    __shared__ int32_t near[1024];
    for (int i = threadIdx.x; i < 1024; i += 32) near[i] = (i + 33) % 1024;
    __syncwarp();
    int32_t at = piece == Piece::shuffle ? threadIdx.x : 0;
    uint64_t begin, stop;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    for (int i = 0; i < steps; i++) {
        if (piece == Piece::look_up) at = *static_cast<int32_t*>(&ring[at]);
        if (piece == Piece::look_up_l2) at = __ldcg(&ring[at]);
        if (piece == Piece::look_up_shared) at = near[at];
        if (piece == Piece::shuffle) at = __shfl_sync(~0u, at, (threadIdx.x + 1) % 32);
        if (piece == Piece::match) at = __match_any_sync(~0u, at) & 15;
        if (piece == Piece::ballot) at = __ballot_sync(~0u, at & 1) & 3;
        if (piece == Piece::write_and_read) {
            ring[at & 7] = at & 7;
            __syncwarp();
            at = ring[at & 7] + 1;
        }
    }
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(stop));
    if (threadIdx.x == 0) {
        *nanoseconds = double(stop - begin) / steps;
        *end = at;
    }
}

template <Piece piece>
void print_piece(const char* name, int stride) {
    constexpr int count = 1 << 15;
    std::vector<int32_t> ring(count);
    for (int i = 0; i < count; i++) ring[i] = (i + stride) % count;
    DeviceArray<int32_t> d_ring(count), end(1);
    DeviceArray<double> nanoseconds(1);
    CHECK(cudaMemcpy(d_ring.get(), ring.data(), d_ring.bytes(), cudaMemcpyHostToDevice));
    for (int run = 0; run < 2; run++) {
        time_piece<piece><<<1, 32>>>(d_ring.get(), 20000, nanoseconds.get(), end.get());
        CHECK_LAUNCH();
    }
    std::printf("  %s %.1f", name, copied_back(nanoseconds.get()));
}

__global__ void meet_often(unsigned long long* meetings, int32_t rounds) {
    for (int32_t round = 1; round <= rounds; round++) meet(meetings, round, 0);
}

__global__ void synchronise_often(int32_t rounds) {
    for (int32_t round = 1; round <= rounds; round++) cooperative_groups::this_grid().sync();
}

template <class Launch>
double microseconds_each(int rounds, Launch&& launch) {
    launch();
    lab::EventTimer timer;
    timer.start();
    launch();
    timer.stop();
    return 1e3 * timer.milliseconds() / rounds;
}

// A launch in which all blocks run at the same time.
template <class... Arguments>
void launch_together(void (*kernel)(Arguments...), int blocks, int threads,
                     Arguments... arguments) {
    void* pointers[] = {&arguments...};
    CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(kernel), blocks, threads, pointers, 0,
                                      nullptr));
}

void print_pieces() {
    std::printf("one after the other, ns:");
    print_piece<Piece::look_up>("look-up (L1)", 1);
    print_piece<Piece::look_up>("a sector on", 8);
    print_piece<Piece::look_up_l2>("from L2", 33);
    print_piece<Piece::look_up_shared>("shared", 1);
    print_piece<Piece::write_and_read>("write, read", 1);
    print_piece<Piece::shuffle>("shuffle", 1);
    print_piece<Piece::match>("match", 1);
    print_piece<Piece::ballot>("ballot", 1);
    std::printf("\nmeeting of blocks, us:");
    constexpr int rounds = 2000;
    const int multiprocessors = int(CooperativeShape::multiprocessors());
    DeviceArray<unsigned long long> meetings(3);
    for (int blocks : {multiprocessors, 64, 16}) {
        for (int threads : {128, 1024}) {
            const double synchronised = microseconds_each(
                rounds, [&] { launch_together(synchronise_often, blocks, threads, rounds); });
            const double met = microseconds_each(rounds, [&] {
                CHECK(cudaMemset(meetings.get(), 0, meetings.bytes()));
                launch_together(meet_often, blocks, threads, meetings.get(), rounds);
            });
            std::printf("%s%d x %d: grid.sync %.2f meeting %.2f", threads == 128 ? "\n  " : "   ",
                        blocks, threads, synchronised, met);
        }
    }
    std::printf("\n");
    std::fflush(stdout);
}

// ---------------------------------------------------------------------------------------------
// Tables
// ---------------------------------------------------------------------------------------------

void print_deep(const char* name, const Automaton& automaton) {
    Subject subject(automaton);
    const Work worklist = work_of(refine_by_worklist), persistent = work_of(refine_persistently);
    std::printf("%s, %lld states, ms: persistent%s  worklist%s\n", name, (long long)subject.states,
                judged_time(subject, persistent, 5).c_str(),
                judged_time(subject, worklist, 5).c_str());
    print_parts(subject, worklist);
}

void print_large(const char* name, Subject& subject) {
    std::printf("%s, %lld states, %lld symbols, ms\n", name, (long long)subject.states,
                (long long)subject.symbols);
    const struct {
        const char* name;
        Work work;
    } all[] = {{"signature", work_of(refine_by_signatures)},
               {"retire", work_of(refine_and_retire)},
               {"adaptive", work_of(refine_adaptively)},
               {"persistent", work_of(refine_persistently)},
               {"worklist", work_of(refine_by_worklist)}};
    for (const auto& each : all) {
        std::printf("  %-10s%s\n", each.name, judged_time(subject, each.work, 3).c_str());
        std::fflush(stdout);
        print_parts(subject, each.work);
    }
}

int main() {
    const lab::HostTimer clock;
    std::printf("%s\n", lab::device_name().c_str());
    print_pieces();
    print_deep("B_5000,20", worst_case(5000, 20));
    print_deep("B_15000,2", worst_case(15000, 2));
    print_deep("B_15000,2 in random order", shuffled(worst_case(15000, 2)));
    print_deep("4 x B_5000,20", side_by_side(worst_case(5000, 20), 4));
    {
        Subject subject(20000000, 2);
        make_random<<<2048, 256>>>(subject.states, 2, subject.next.get(), subject.is_final.get());
        print_large("as C_20000000,2", subject);
    }
    {
        Subject subject(2000000, 30);
        make_random<<<2048, 256>>>(subject.states, 30, subject.next.get(), subject.is_final.get());
        print_large("as C_2000000,30", subject);
    }
    {
        Subject subject(60000000, 2);
        make_best_case<<<2048, 256>>>(subject.states, 2, subject.next.get(),
                                      subject.is_final.get());
        print_large("A_20000000,2", subject);
    }
    {
        Subject subject(6000000, 30);
        make_best_case<<<2048, 256>>>(subject.states, 30, subject.next.get(),
                                      subject.is_final.get());
        print_large("A_2000000,30", subject);
    }
    std::printf("(%.1f s)\n", 1e-3 * clock.milliseconds());
    return 0;
}
