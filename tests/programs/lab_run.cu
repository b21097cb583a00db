// Does one thing of lab.h that needs a device or ends the program; --case says which.
#include "../../common/array_file.h"

static_assert(std::is_same_v<decltype(lab::Comparison::count), int64_t>);
static_assert(std::is_same_v<decltype(lab::Comparison::first), int64_t>);
static_assert(lab::divide_up(int64_t(46341) * 46341, 256) == 8388627);
static_assert(lab::divide_up(INT64_MAX, 2) == (int64_t(1) << 62));
static_assert(lab::divide_up(0, 256) == 0 && lab::divide_up(256, 256) == 1);

__global__ void fill_kernel(float* values, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) values[i] = 1;
}

// Takes a time that grows with the steps: each needs the one before.
__global__ void slow_kernel(float* value, int steps) {
    for (int i = 0; i < steps; ++i) *value = *value * 0.999f + 1;
}

cudaError_t evaluated(cudaError_t status) {
    std::printf("evaluated\n");
    return status;
}

void check_case() {
    CHECK(evaluated(cudaSuccess));
    std::printf("line %d\n", __LINE__ + 1);
    CHECK(evaluated(cudaErrorInvalidValue));
    std::printf("not reached\n");
}

void launch_case() {
    float* d_values = nullptr;
    CHECK(cudaMalloc(&d_values, sizeof(float)));
    fill_kernel<<<1, 2048>>>(d_values, 1);
    std::printf("line %d\n", __LINE__ + 1);
    CHECK_LAUNCH();
    std::printf("not reached\n");
}

void timers_case() {
    lab::HostTimer host;
    usleep(20000);
    std::printf("host %g\n", host.milliseconds());
    host.restart();
    std::printf("restarted %g\n", host.milliseconds());
    float* d_value = nullptr;
    CHECK(cudaMalloc(&d_value, sizeof(float)));
    CHECK(cudaMemset(d_value, 0, sizeof(float)));
    const int steps[] = {1, 10000000, 10000, 300000};
    lab::EventTimer events;
    for (int run = 0; run < 4; ++run) {
        host.restart();
        events.start();
        slow_kernel<<<1, 1>>>(d_value, steps[run]);
        events.stop();
        std::printf("events%d %g\n", run, events.milliseconds());
        std::printf("outside%d %g\n", run, host.milliseconds());
    }
    int launches = 0;
    const auto launch = [&] { slow_kernel<<<1, 1>>>(d_value, steps[launches++]); };
    std::printf("median %g\n", lab::median_milliseconds(launch, 3));
    std::printf("launches %d\n", launches);
    launches = 0;
    lab::median_milliseconds([&] { ++launches; });
    std::printf("chosen %d\n", launches);
    std::printf("copy %g\nempty %g\n", lab::copy_bandwidth(1 << 20), lab::copy_bandwidth(0));
}

template <class T>
void random_case(const std::string& path, T low, T high, int64_t seed, int64_t count = 1000) {
    const std::vector<T> values = lab::random_values<T>(count, low, high, uint64_t(seed));
    lab::write_array(path, values.data(), {count});
}

template <class T, class R>
void compare_case(const std::string& got_path, const std::string& expected_path,
                  lab::Tolerance tolerance) {
    const auto got = lab::read_array<T>(got_path);
    const auto expected = lab::read_array<R>(expected_path);
    const lab::Comparison comparison =
        lab::compare(got.values.data(), expected.values.data(), got.count(), tolerance);
    std::printf("%lld %lld %d\n%s\n", (long long)comparison.wrong, (long long)comparison.first,
                comparison.right(), comparison.sentence().c_str());
}

void integers_case() {
    const int64_t got[] = {(int64_t(1) << 53) + 1, INT64_MAX, INT64_MIN};
    const int64_t expected[] = {int64_t(1) << 53, INT64_MAX, INT64_MIN};
    std::printf("%s\n", lab::compare(got, expected, 3).sentence().c_str());
    std::printf("%s\n", lab::compare(got, expected, 3, {1, 0}).sentence().c_str());
}

// Studies three variants, of which the second is wrong and the third is not there; counts what is called.
int study_case(lab::Study& study) {
    std::vector<float> h_values(1000), right(1000, 1.0f);
    lab::DeviceArray<float> d_values(1000);
    int prepared = 0, launched = 0, judged = 0;
    study.moves(4e3);
    for (const char* name : {"naive", "tiled", "tensor"}) {
        const bool wrong = name == std::string("tiled");
        if (study.skips(name, name == std::string("tensor") ? "needs tensor cores" : "")) continue;
        study.run(
            name,
            [&] {
                d_values.poison();
                prepared++;
            },
            [&] {
                fill_kernel<<<4, 256>>>(d_values.get(), wrong ? 999 : 1000);
                launched++;
                return lab::Launch{dim3(4), dim3(256)};
            },
            [&] {
                d_values.download(h_values);
                judged++;
                return lab::compare(h_values.data(), right.data(), 1000);
            });
    }
    std::printf("prepared %d judged %d, launched more: %d\n", prepared, judged,
                launched > prepared);
    return study.finish();
}

// Rows of every kind, as --rows names them: r right, w wrong, s skipped, z zero elements.
int results_case(lab::Results& results, const std::string& rows, double limit) {
    const float expected[] = {1, 2, 3}, wrong[] = {1, NAN, 3};
    if (limit > 0) results.limit(limit);
    for (char row : rows) {
        if (row == 'r') {
            results.add("naive", dim3(4096), dim3(256), 0.5, 1e9, 2e9,
                        lab::compare(expected, expected, 3));
        } else if (row == 'w') {
            results.add("tiled", dim3(64, 64), dim3(32, 8), 12.25, 1e9, 0,
                        lab::compare(wrong, expected, 3));
        } else if (row == 's') {
            results.skip("tensor_cores", "needs compute capability 8.0");
        } else {
            results.add("empty", dim3(0), dim3(256), 0, 0, 0, lab::compare(wrong, expected, 0));
        }
    }
    return results.finish();
}

int main(int argc, char** argv) {
    lab::Arguments arguments(argc, argv, "does one thing of lab.h");
    lab::Study results(arguments, {"naive", "tiled", "tensor"});
    const std::string name = arguments.text("case", "none", "what to do");
    const std::string rows = arguments.text("rows", "", "the rows of the table");
    const std::string size = arguments.text("size", "", "the size of the problem");
    const std::string types = arguments.text("types", "", "of got and expected");
    const double limit = arguments.real("limit", 0, 0, 1e6, "GB/s");
    const int64_t bytes = arguments.integer("bytes", 0, INT64_MIN, INT64_MAX, "to ask for");
    const int64_t seed = arguments.integer("seed", 0, 0, INT64_MAX, "of the random values");
    const std::string got = arguments.input("got", "values to judge");
    const std::string expected = arguments.input("expected", "values to judge by");
    const std::string output = arguments.output("output", "where random values go");
    const double absolute = arguments.real("absolute", 0, 0, 1e300, "tolerance");
    const double relative = arguments.real("relative", 0, 0, 1e300, "tolerance");
    arguments.finish();
    const lab::Tolerance tolerance = {absolute, relative};

    if (name == "refuse") lab::refuse("%d sheep are too many", 3);
    if (name == "fail") lab::fail("%d sheep are too many", 3);
    if (name == "skip") lab::skip("%d sheep are too many", 3);
    if (name == "host memory") lab::require_host_memory(bytes, "the sheep");
    if (name == "integers") integers_case();
    if (types == "random float") random_case<float>(output, -1, 1, seed);
    if (types == "random double") random_case<double>(output, 0, 1, seed);
    if (types == "random int32") random_case<int32_t>(output, -5, 5, seed);
    if (types == "random uint8") random_case<uint8_t>(output, 0, 255, seed);
    if (types == "random many") random_case<uint8_t>(output, 0, 255, seed, (4 << 20) + 5);
    if (types == "random all int32") random_case<int32_t>(output, INT32_MIN, INT32_MAX, seed);
    if (types == "float double") compare_case<float, double>(got, expected, tolerance);
    if (types == "float float") compare_case<float, float>(got, expected, tolerance);
    if (types == "double double") compare_case<double, double>(got, expected, tolerance);
    if (types == "int32 int32") compare_case<int32_t, int32_t>(got, expected, tolerance);
    if (types == "uint8 uint8") compare_case<uint8_t, uint8_t>(got, expected, tolerance);

    if (name == "none") return 0;
    lab::require_device();
    if (name == "check") check_case();
    if (name == "launch") launch_case();
    if (name == "timers") timers_case();
    if (name == "device memory") lab::require_device_memory(bytes, "the sheep");
    if (name == "study") return study_case(results);
    if (name != "results") return 0;
    if (!size.empty()) results.size(size);
    return results_case(results, rows, limit);
}
