// Lab 02, device_query: what the CUDA runtime knows about each device, and what follows from it.
//
// The facts come from two places: cudaDeviceProp holds most of them, cudaDeviceGetAttribute has the
// rest, the clocks among them. A programmer draws conclusions from them: peak memory bandwidth,
// CUDA cores, peak arithmetic, how many threads the device holds at once. What cannot be had is
// n/a. The same facts go to a file, one a line, with --csv.

#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "../../common/lab.h"

// A number that a device may keep to itself: std::nullopt then, and n/a when it is printed.
using Quantity = std::optional<double>;

struct Fact {
    std::string name, value, unit;  // no unit for counts and text
};

// Facts under one title; subject is "system" or the number of a device.
struct Section {
    std::string title, subject;
    std::vector<Fact> facts;
};

// One attribute of a device. Nothing when the runtime refuses it, or gives it as zero: that is how
// it reports the memory clock of a device that has none of its own or does not show it.
Quantity attribute(cudaDeviceAttr which, int device) {
    // BEGIN SOLUTION
    int value = 0;
    if (cudaDeviceGetAttribute(&value, which, device) != cudaSuccess) {
        cudaGetLastError();  // forget the error, so that no later check takes it for its own
        return std::nullopt;
    }
    if (value == 0) return std::nullopt;
    return value;
    //: // TODO (about 6 lines): ask cudaDeviceGetAttribute. If it fails, call cudaGetLastError() so
    //: // that the error is forgotten, and return std::nullopt; return that for zero as well.
    //: // Replace the two lines below.
    //: (void)which, (void)device;
    //: return std::nullopt;
    // END SOLUTION
}

// FP32 units in a multiprocessor. The runtime does not tell; the CUDA programming guide has them in
// its table of arithmetic throughput. Nothing for a compute capability that is not listed here.
Quantity cores_per_multiprocessor(int major, int minor) {
    struct Row {
        int capability, cores;
    };
    constexpr Row table[] = {{50, 128},  {52, 128},  {53, 128},  {60, 64},   {61, 128},
                             {62, 128},  {70, 64},   {72, 64},   {75, 64},   {80, 64},
                             {86, 128},  {87, 128},  {89, 128},  {90, 128},  {100, 128},
                             {101, 128}, {103, 128}, {110, 128}, {120, 128}, {121, 128}};
    for (const Row& row : table) {
        if (row.capability == 10 * major + minor) return row.cores;
    }
    return std::nullopt;
}

// GB/s that global memory moves at most. Its clock is in kHz, its bus as wide as that many bits,
// and data travel twice in every clock (double data rate).
Quantity peak_bandwidth(Quantity memory_clock, Quantity bus_width) {
    if (!memory_clock || !bus_width) return std::nullopt;
    // BEGIN SOLUTION
    double transfers_per_second = 2 * memory_clock.value() * 1e3;
    double bytes_per_transfer = bus_width.value() / 8;
    return transfers_per_second * bytes_per_transfer / 1e9;
    //: // TODO (about 3 lines): the bandwidth. memory_clock.value() is the number inside. Mind the
    //: // kHz, the bits, the factor two, and that 1 GB/s is 1e9 bytes per second. Replace the line below.
    //: return std::nullopt;
    // END SOLUTION
}

// GFLOP/s in single precision at most. A core finishes one fused multiply-add in every clock (in
// kHz), and that counts as two operations.
Quantity peak_arithmetic(Quantity cores, Quantity core_clock) {
    if (!cores || !core_clock) return std::nullopt;
    // BEGIN SOLUTION
    double operations_per_clock = 2 * cores.value();
    return operations_per_clock * core_clock.value() * 1e3 / 1e9;
    //: // TODO (about 2 lines): the operations of all cores in a second, in units of 1e9. Replace the
    //: // line below.
    //: return std::nullopt;
    // END SOLUTION
}

// Arithmetic with what may be missing: what needs a missing number is missing too.
Quantity product(Quantity a, Quantity b) {
    if (!a || !b) return std::nullopt;
    return a.value() * b.value();
}
Quantity quotient(Quantity a, Quantity b) {
    if (!a || !b) return std::nullopt;
    return a.value() / b.value();
}

std::string text(Quantity quantity) {
    if (!quantity) return "n/a";
    bool whole = quantity.value() == std::floor(quantity.value());
    return lab::format(whole ? "%.0f" : "%.3f", quantity.value());
}

std::string text(const int (&sides)[3]) {
    return lab::format("%d x %d x %d", sides[0], sides[1], sides[2]);
}

// CUDA packs a version into one number: 12040 is 12.4. Zero stands for no driver.
std::string version_text(int version) {
    if (version == 0) return "n/a";
    return lab::format("%d.%d", version / 1000, version % 1000 / 10);
}

std::vector<Fact> system_facts(int device_count) {
    int driver = 0, runtime = 0;
    CHECK(cudaDriverGetVersion(&driver));
    CHECK(cudaRuntimeGetVersion(&runtime));
    return {{"driver_version", version_text(driver), ""},
            {"runtime_version", version_text(runtime), ""},
            {"devices", text(device_count), ""}};
}

// What the runtime says about a device.
std::vector<Fact> device_facts(int device) {
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, device));
    std::string capability = lab::format("%d.%d", properties.major, properties.minor);
    Quantity core_clock = quotient(attribute(cudaDevAttrClockRate, device), 1e3);
    Quantity memory_clock = quotient(attribute(cudaDevAttrMemoryClockRate, device), 1e3);
    return {
        {"name", properties.name, ""},
        {"compute_capability", capability, ""},
        {"global_memory", text(properties.totalGlobalMem), "bytes"},
        {"multiprocessors", text(properties.multiProcessorCount), ""},
        {"core_clock", text(core_clock), "MHz"},
        {"memory_clock", text(memory_clock), "MHz"},
        {"memory_bus_width", text(attribute(cudaDevAttrGlobalMemoryBusWidth, device)), "bits"},
        {"L2_cache", text(attribute(cudaDevAttrL2CacheSize, device)), "bytes"},
        {"constant_memory", text(properties.totalConstMem), "bytes"},
        {"texture_alignment", text(properties.textureAlignment), "bytes"},
        {"warp_size", text(properties.warpSize), "threads"},
        {"max_threads_per_block", text(properties.maxThreadsPerBlock), "threads"},
        {"max_block_dimensions", text(properties.maxThreadsDim), "threads"},
        {"max_grid_dimensions", text(properties.maxGridSize), "blocks"},
        {"max_threads_per_multiprocessor", text(properties.maxThreadsPerMultiProcessor), "threads"},
        {"max_blocks_per_multiprocessor", text(properties.maxBlocksPerMultiProcessor), "blocks"},
        {"registers_per_block", text(properties.regsPerBlock), ""},
        {"registers_per_multiprocessor", text(properties.regsPerMultiprocessor), ""},
        {"shared_memory_per_block", text(properties.sharedMemPerBlock), "bytes"},
        {"shared_memory_per_multiprocessor", text(properties.sharedMemPerMultiprocessor), "bytes"}};
}

// What follows from that.
std::vector<Fact> device_conclusions(int device) {
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, device));
    Quantity cores = product(properties.multiProcessorCount,
                             cores_per_multiprocessor(properties.major, properties.minor));
    Quantity bandwidth = peak_bandwidth(attribute(cudaDevAttrMemoryClockRate, device),
                                        attribute(cudaDevAttrGlobalMemoryBusWidth, device));
    Quantity arithmetic = peak_arithmetic(cores, attribute(cudaDevAttrClockRate, device));
    Quantity warps_per_multiprocessor, resident_warps, resident_threads, registers_per_thread;
    // BEGIN SOLUTION
    Quantity threads_per_multiprocessor = properties.maxThreadsPerMultiProcessor;
    warps_per_multiprocessor = quotient(threads_per_multiprocessor, properties.warpSize);
    resident_warps = product(properties.multiProcessorCount, warps_per_multiprocessor);
    resident_threads = product(properties.multiProcessorCount, threads_per_multiprocessor);
    registers_per_thread = quotient(properties.regsPerMultiprocessor, threads_per_multiprocessor);
    //: // TODO (about 5 lines): the warps that a multiprocessor holds at once, the warps and the
    //: // threads that the whole device holds, and the registers left for each thread when every
    //: // multiprocessor is full. Everything you need is in properties, see device_facts.
    // END SOLUTION
    return {{"CUDA_cores", text(cores), ""},
            {"peak_arithmetic", text(arithmetic), "GFLOP/s"},
            {"peak_bandwidth", text(bandwidth), "GB/s"},
            {"operations_per_byte", text(quotient(arithmetic, bandwidth)), "FLOP/byte"},
            {"warps_per_multiprocessor", text(warps_per_multiprocessor), "warps"},
            {"resident_warps", text(resident_warps), "warps"},
            {"resident_threads", text(resident_threads), "threads"},
            {"registers_per_thread", text(registers_per_thread), ""}};
}

void print(const Section& section) {
    printf("%s\n", section.title.c_str());
    for (const Fact& fact : section.facts) {
        std::string label = fact.name;
        for (char& letter : label) letter = letter == '_' ? ' ' : letter;
        bool bare = fact.unit.empty() || fact.value == "n/a";
        std::string value = bare ? fact.value : fact.value + " " + fact.unit;
        if (fact.unit == "bytes" && !bare && std::stod(fact.value) >= 1024) {
            value += "  (" + lab::bytes_text(std::stod(fact.value)) + ")";
        }
        printf("  %-34s%s\n", label.c_str(), value.c_str());
    }
    printf("\n");
}

// Writes every fact as  subject,name,"value",unit . The file appears whole or not at all.
void write_csv(const std::string& path, const std::vector<Section>& sections) {
    std::string text = "subject,name,value,unit\n";
    for (const Section& section : sections) {
        for (const Fact& fact : section.facts) {
            text +=
                section.subject + "," + fact.name + ",\"" + fact.value + "\"," + fact.unit + "\n";
        }
    }
    int error = lab::write_file(path, {{text.data(), text.size()}});
    if (error != 0) lab::fail("cannot write %s: %s", path.c_str(), strerror(error));
}

int main(int argc, char** argv) {
    lab::Arguments arguments(argc, argv, "Lists every CUDA device, its facts and what they mean.");
    std::string csv = arguments.output("csv", "file for the facts, one a line");
    arguments.finish();
    lab::require_device();

    int device_count = 0;
    CHECK(cudaGetDeviceCount(&device_count));
    std::vector<Section> sections = {{"System", "system", system_facts(device_count)}};
    // BEGIN SOLUTION
    for (int device = 0; device < device_count; ++device) {
        std::string number = std::to_string(device);
        sections.push_back({"Device " + number, number, device_facts(device)});
        sections.push_back(
            {"Device " + number + ", what follows", number, device_conclusions(device)});
    }
    //: // TODO (about 5 lines): these are the facts of device 0 alone. List every device.
    //: // Replace the two lines below.
    //: sections.push_back({"Device 0", "0", device_facts(0)});
    //: sections.push_back({"Device 0, what follows", "0", device_conclusions(0)});
    // END SOLUTION
    CHECK(cudaGetLastError());  // no call has failed without our noticing
    for (const Section& section : sections) print(section);
    if (!csv.empty()) write_csv(csv, sections);
    return 0;
}
