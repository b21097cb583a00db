// Every tile of the matrix product's fast kernels, in double and float, beside cuBLAS; from a card's
// answers come the launchers' tables. From this folder:
//   nvcc -std=c++17 -O3 -arch=native -Xcompiler -fopenmp -I../../labs/13_matrix_product -lcublas 13_matrix_product.cu && ./a.out
// prints for each type
//   1. what is wrong, if anything is (edges first)
//   2. TFLOP/s by size, and the clock after it; candidates take turns, and each round another is first
//   3. what the launcher takes at each size, beside the best
//   4. TFLOP/s of a whole card of which each multiprocessor has 1, 2, ... blocks: the launchers' table
// and ./a.out report the tables of the report that the handout tells of: `tiled`, in double.

#define LAB_BENCH
#define LAB_PEERS
#define LAB_FURTHER
#define main lab_main
#include "../../solutions/13_matrix_product/matrix_product.cu"
#undef main

// A tile with another order of the blocks.
template <class Base, int rows>
struct Grouped : Base {
    static constexpr int group_rows = rows;
};

template <class T>
struct Entry {
    std::string name;
    lab::Launch (*launch)(const Product<T>&);
    int height, width, blocks;  // 0: not a tile
    std::vector<double> times;
    double wrong;
    float megahertz;

    Entry(const std::string& name, lab::Launch (*launch)(const Product<T>&), int height = 0,
          int width = 0, int blocks = 0)
        : name(name),
          launch(launch),
          height(height),
          width(width),
          blocks(blocks),
          wrong(0),
          megahertz(0) {}

    double median() const { return times[times.size() / 2]; }  // of sorted times
};

template <class Tile>
std::string order() {
    return Tile::group_rows == 8 ? "" : lab::format(" g%d", int(Tile::group_rows));
}

template <class Tile>
Entry<double> tensor() {
    const bool old = Tile::instruction == Instruction::m8n8k4;
    return {lab::format("%dx%d w%dx%d s%d x%d d%d%s%s", Tile::height, Tile::width,
                        Tile::warp_height, Tile::warp_width, Tile::stages, Tile::resident,
                        Tile::depth, old ? " m8n8k4" : "", order<Tile>().c_str()),
            launch_tensor<Tile, true>, Tile::height, Tile::width, Tile::resident};
}

template <class Tile>
Entry<float> warp() {
    return {lab::format("%dx%d %dx%d t%d s%d x%d d%d%s", Tile::height, Tile::width, Tile::down * 4,
                        Tile::across * 4, Tile::threads, Tile::stages, Tile::resident, Tile::depth,
                        order<Tile>().c_str()),
            launch_warp<float, Tile, true>, Tile::height, Tile::width, Tile::resident};
}

std::vector<Entry<double>> entries(double) {
    using Two = TensorTile<64, 128, 64, 32, 4, 2>;
    using One = TensorTile<64, 128, 32, 32, 6, 1>;
    return {{"cublas", launch_cublas<double>},
            {"auto", launch_tensor_16x8x8},
            {"tensor_8x8x4", launch_square<double, tensor_8x8x4>},
            {"tensor_tuned_8x8x4", launch_tensor_tuned_8x8x4},
            tensor<SmallTensorTile>(),
            tensor<Two>(),
            tensor<Grouped<Two, 4>>(),
            tensor<Grouped<Two, 16>>(),
            tensor<TensorTile<64, 128, 32, 64, 4, 2>>(),
            tensor<TensorTile<128, 64, 64, 32, 4, 2>>(),
            tensor<One>(),
            tensor<Grouped<One, 4>>(),
            tensor<Grouped<One, 16>>(),
            tensor<TensorTile<64, 128, 32, 32, 8, 1>>(),
            tensor<TensorTile<128, 64, 32, 32, 6, 1>>(),
            tensor<TensorTile<64, 256, 64, 32, 4, 1>>(),
            tensor<TensorTile<128, 128, 64, 32, 4, 1>>()};
}

std::vector<Entry<float>> entries(float) {
    using Three = SmallWarpTile<float>;
    using One = WarpTile<float, 4, 2, 2, 4, 8, 3, 1>;
    return {{"cublas", launch_cublas<float>},
            {"auto", launch_warp_tile<float>},
            warp<Three>(),
            warp<Grouped<Three, 4>>(),
            warp<Grouped<Three, 16>>(),
            warp<WarpTile<float, 2, 2, 2, 2, 16, 4, 3>>(),
            warp<WarpTile<float, 2, 2, 2, 2, 24, 3, 3>>(),
            warp<WarpTile<float, 2, 2, 2, 2, 8, 4, 2>>(),
            warp<WarpTile<float, 2, 2, 2, 2, 8, 4, 3>>(),
            warp<WarpTile<float, 4, 2, 1, 2, 8, 4, 2>>(),
            warp<WarpTile<float, 2, 2, 4, 2, 8, 3, 2>>(),
            warp<WarpTile<float, 4, 1, 2, 4, 8, 3, 2>>(),
            warp<One>(),
            warp<Grouped<One, 4>>(),
            warp<Grouped<One, 16>>(),
            warp<WarpTile<float, 4, 2, 2, 4, 8, 4, 1>>(),
            warp<WarpTile<float, 4, 2, 2, 4, 16, 3, 1>>(),
            warp<WarpTile<float, 4, 2, 4, 2, 8, 3, 1>>()};
}

template <class T>
__global__ void fill_random(T* values, int64_t count, uint64_t seed) {
    const int64_t step = int64_t(gridDim.x) * blockDim.x;
    for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
        uint64_t z = (uint64_t(i) + seed) * 0x9E3779B97F4A7C15u;
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
        z = (z ^ z >> 27) * 0x94D049BB133111EBu;
        values[i] = T(double((z ^ z >> 31) >> 40) * 0x1p-23 - 1);
    }
}

template <class T>
__global__ void difference(const T* c, const T* right, int64_t count, double scale,
                           unsigned long long* worst) {
    const int64_t step = int64_t(gridDim.x) * blockDim.x;
    double most = 0;
    for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
        const double d = fabs(double(c[i]) - double(right[i])) / scale;
        if (!(d <= most)) most = d == d ? d : 1e300;
    }
    atomicMax(worst, (unsigned long long)__double_as_longlong(most));
}

// Clocks of the multiprocessor in thirty microseconds, right after the work.
__global__ void measure_clock(float* megahertz) {
    uint64_t t0, t1;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t0));
    do {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t1));
    } while (t1 == t0);
    const long long c0 = clock64();
    t0 = t1;
    do {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t1));
    } while (t1 - t0 < 30000);
    *megahertz = float(clock64() - c0) * 1000 / float(t1 - t0);
}

template <class T>
class Bench {
 public:
    Bench() : entries_(entries(T())) {
        CHECK(cudaMalloc(&a_, most * sizeof(T)));
        CHECK(cudaMalloc(&b_, most * sizeof(T)));
        CHECK(cudaMalloc(&c_, most * sizeof(T)));
        CHECK(cudaMalloc(&right_, most * sizeof(T)));
        CHECK(cudaMalloc(&worst_, 8));
        CHECK(cudaMalloc(&megahertz_, 4));
        CHECK(cudaEventCreate(&start_));
        CHECK(cudaEventCreate(&stop_));
        fill_random<<<1024, 256>>>(a_, most, 1);
        fill_random<<<1024, 256>>>(b_, most, uint64_t{1} << 40);
        CHECK(cudaDeviceSynchronize());
    }

    ~Bench() {
        for (void* memory :
             {(void*)a_, (void*)b_, (void*)c_, (void*)right_, (void*)worst_, (void*)megahertz_}) {
            CHECK(cudaFree(memory));
        }
    }

    // All that a tile can be cut by; true if every candidate is right.
    void check_edges() {
        constexpr int v = 16 / sizeof(T);
        const int shapes[][3] = {{1, v, v},        {130, 132, 20}, {501, 1004, 36},
                                 {1030, 68, 3000}, {258, 2052, 8}, {127, 124, 4},
                                 {300, 4 * v, 16}, {77, 260, 12},  {1537, 1540, 500}};
        for (const auto& s : shapes) judge({a_, b_, c_, s[0], s[1], s[2], 16, "auto"});
    }

    void measure(const std::vector<int>& sizes) {
        std::vector<std::vector<std::string>> rows(entries_.size());
        std::string verdicts;
        for (const int size : sizes) {
            const Product<T> product = {a_, b_, c_, size, size, size, 16, "auto"};
            time(product);
            for (size_t i = 0; i < entries_.size(); i++)
                rows[i].push_back(rate_text(i, size, size, size));
            verdicts += verdict(product);
        }
        std::printf("\n%s, TFLOP/s (median) @ MHz after\n%-34s", name(), "");
        for (const int size : sizes) std::printf("%-14d", size);
        for (size_t i = 0; i < entries_.size(); i++) {
            std::printf("\n%-34s", entries_[i].name.c_str());
            for (const std::string& text : rows[i]) std::printf("%-14s", text.c_str());
        }
        std::printf("\n\n%s, chosen / best\n%s", name(), verdicts.c_str());
    }

    // Exactly `blocks` tiles for each multiprocessor, k = 4096; and four times as many as it has room for.
    void measure_filled() {
        const int multiprocessors = lab::device_attribute(cudaDevAttrMultiProcessorCount);
        int down = 1;
        for (int i = 1; i * i <= multiprocessors; i++) {
            if (multiprocessors % i == 0) down = i;
        }
        std::printf(
            "\n%s, TFLOP/s with 1, 2, ... blocks on each of %d multiprocessors, and four rounds of "
            "them\n",
            name(), multiprocessors);
        for (size_t i = 0; i < entries_.size(); i++) {
            Entry<T>& entry = entries_[i];
            if (entry.blocks == 0) continue;
            std::printf("%-34s", entry.name.c_str());
            for (int step = 1; step <= entry.blocks + 1; step++) {
                const int blocks = step > entry.blocks ? 4 * entry.blocks : step;
                const int m = down * entry.height,
                          n = multiprocessors / down * blocks * entry.width;
                entry.times.clear();
                for (int round = 0; round < 7; round++) {
                    time_once(entry, {a_, b_, c_, m, n, 4096, 16, "auto"}, 4);
                }
                std::printf("%-14s", rate_text(i, m, n, 4096).c_str());
            }
            std::printf("\n");
        }
    }

 private:
    static constexpr int64_t most = int64_t{10000} * 10000;

    static const char* name() { return is_float<T> ? "float" : "double"; }

    static const Candidate<T>& chosen(const Product<T>& product) {
        static const std::vector<Candidate<T>> candidates = table(T());
        return *choose(candidates, product).candidate;
    }

    static std::vector<Candidate<double>> table(double) { return tensor_candidates(); }
    static std::vector<Candidate<float>> table(float) { return warp_candidates<float>(); }

    // What the launcher takes, beside the fastest of all; after time() and rate_text() of all entries.
    std::string verdict(const Product<T>& product) const {
        const Entry<T>*best = nullptr, *taken = nullptr;
        const Candidate<T>& candidate = chosen(product);
        for (const Entry<T>& entry : entries_) {
            if (entry.blocks == 0 || entry.times.empty()) continue;
            if (best == nullptr || entry.median() < best->median()) best = &entry;
            if (entry.launch == candidate.launch) taken = &entry;
        }
        if (best == nullptr) return "";
        const double share = taken == nullptr ? 0 : best->median() / taken->median();
        return lab::format("%6d  %-12s / %-34s %5.1f %%, of cublas %5.1f %%\n", product.m,
                           candidate.name().c_str(), best->name.c_str(), 100 * share,
                           100 * entries_[0].median() / best->median());
    }

    void judge(Product<T> product) {
        const int64_t count = int64_t{product.m} * product.n;
        T* const c = product.c;
        product.c = right_;
        launch_cublas(product);
        product.c = c;
        for (Entry<T>& entry : entries_) {
            CHECK(cudaMemset(c, 0xFF, count * sizeof(T)));
            entry.launch(product);
            CHECK(cudaMemset(worst_, 0, 8));
            difference<<<264, 256>>>(c, right_, count, std::sqrt(double(product.k)), worst_);
            CHECK(cudaMemcpy(&entry.wrong, worst_, 8, cudaMemcpyDeviceToHost));
            if (!right(entry)) {
                std::printf("WRONG: %s, %s at %d x %d x %d: %g\n", name(), entry.name.c_str(),
                            product.m, product.n, product.k, entry.wrong);
            }
        }
    }

    bool right(const Entry<T>& entry) const { return entry.wrong < (is_float<T> ? 3e-5 : 1e-13); }

    void time(const Product<T>& product) {
        judge(product);
        const int size = product.m;
        const int repeats = size < 2048 ? 20 : size < 4096 ? 8 : size < 8192 ? 3 : 1;
        const int rounds = size < 4096 ? 11 : size < 8192 ? 7 : 3;
        for (Entry<T>& entry : entries_) entry.times.clear();
        for (int round = 0; round < rounds; round++) {
            for (size_t i = 0; i < entries_.size(); i++) {
                Entry<T>& entry = entries_[(i + round * 5) % entries_.size()];
                if (right(entry)) time_once(entry, product, repeats);
            }
        }
    }

    void time_once(Entry<T>& entry, const Product<T>& product, int repeats) {
        if (product.m < 8192) entry.launch(product);  // a large one needs no warming
        CHECK(cudaEventRecord(start_));
        for (int i = 0; i < repeats; i++) entry.launch(product);
        CHECK(cudaEventRecord(stop_));
        measure_clock<<<1, 1>>>(megahertz_);
        CHECK(cudaEventSynchronize(stop_));
        float milliseconds;
        CHECK(cudaEventElapsedTime(&milliseconds, start_, stop_));
        entry.times.push_back(milliseconds / repeats);
        CHECK(cudaMemcpy(&entry.megahertz, megahertz_, 4, cudaMemcpyDeviceToHost));
    }

    std::string rate_text(size_t i, int m, int n, int k) {
        Entry<T>& entry = entries_[i];
        if (entry.times.empty()) return lab::format("wrong %7.0e", entry.wrong);
        std::sort(entry.times.begin(), entry.times.end());
        return lab::format("%6.2f @%4.0f", 2e-9 * m * n * k / entry.median(), entry.megahertz);
    }

    std::vector<Entry<T>> entries_;
    T *a_, *b_, *c_, *right_;
    unsigned long long* worst_;
    float* megahertz_;
    cudaEvent_t start_, stop_;
};

template <class T>
void measure_type() {
    const lab::HostTimer clock;
    Bench<T> bench;
    bench.check_edges();
    bench.measure({1000, 1024, 2048, 4096, 8192, 10000});
    bench.measure_filled();
    std::printf("(%.1f s)\n", 1e-3 * clock.milliseconds());
    std::fflush(stdout);
}

// The report's tables: the CPU's loop on one core, then `tiled` with each of its tiles, in double.
class Report {
 public:
    explicit Report(int largest)
        : values_(lab::random_values<double>(int64_t{largest} * largest, -1, 1, 1)) {
        const size_t bytes = values_.size() * sizeof(double);
        CHECK(cudaMalloc(&a_, bytes));
        CHECK(cudaMalloc(&c_, bytes));
        CHECK(cudaMemcpy(a_, values_.data(), bytes, cudaMemcpyHostToDevice));
        CHECK(cudaEventCreate(&start_));
        CHECK(cudaEventCreate(&stop_));
        launch_tiled<double>(product(1000, 16));
    }

    ~Report() {
        CHECK(cudaFree(a_));
        CHECK(cudaFree(c_));
    }

    void measure(const std::vector<int>& orders) {
        std::printf("order   CPU s (GFLOP/s)");
        for (const int tile : tiles_)
            std::printf("  %6s s (GFLOP/s)", lab::format("%dx%d", tile, tile).c_str());
        std::printf("\n");
        for (const int order : orders) {
            const double operations = 2.0 * order * order * order;
            std::printf("%-7d %s", order, text(seconds_on_cpu(order), operations).c_str());
            for (size_t i = 0; i < tiles_.size(); i++) {
                const bool affordable = operations < 4 * rates_[i];  // four seconds
                std::printf("  %s", affordable ? measure(order, i, operations).c_str()
                                               : "                 -");
            }
            std::printf("\n");
            std::fflush(stdout);
        }
    }

 private:
    // b is a, and of both only as much as the order wants.
    Product<double> product(int order, int tile) const {
        return {a_, a_, c_, order, order, order, tile, "auto"};
    }

    static std::string text(double seconds, double operations) {
        return lab::format("%8.4f (%7.1f)", seconds, 1e-9 * operations / seconds);
    }

    std::string measure(int order, size_t i, double operations) {
        std::vector<float> times;
        for (float total = 0; times.size() < 5 && total < 500; total += times.back()) {
            CHECK(cudaEventRecord(start_));
            launch_tiled<double>(product(order, tiles_[i]));
            CHECK(cudaEventRecord(stop_));
            CHECK(cudaEventSynchronize(stop_));
            times.emplace_back();
            CHECK(cudaEventElapsedTime(&times.back(), start_, stop_));
        }
        std::sort(times.begin(), times.end());
        const double seconds = 1e-3 * times[times.size() / 2];
        rates_[i] = operations / seconds;
        return text(seconds, operations);
    }

    // From some of the rows.
    double seconds_on_cpu(int order) const {
        const std::vector<int64_t> rows = rows_to_compute(order, 4.0 * order * order);
        std::vector<double> c(rows.size() * order);
        omp_set_num_threads(1);
        const lab::HostTimer clock;
        multiply_on_cpu(values_.data(), values_.data(), c.data(), rows, order, order);
        return 1e-3 * clock.milliseconds() * order / double(rows.size());
    }

    const std::vector<int> tiles_ = {2, 4, 8, 16, 32};
    std::vector<double> rates_ = std::vector<double>(5, 1e18);
    std::vector<double> values_;
    double *a_, *c_;
    cudaEvent_t start_, stop_;
};

int main(int argc, char**) {
    if (argc > 1) {
        const std::vector<int> orders = {1000, 2000, 3000, 4000, 5000,
                                         6000, 7000, 8000, 9000, 10000};
        Report(orders.back()).measure(orders);
        return 0;
    }
    measure_type<double>();
    measure_type<float>();
    return 0;
}
