// The chain of rotors: what a step computes, on the host as well, and what the variants are asked for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

constexpr int block_size = 256, most_reach = 16;

// Angles are whole numbers: 2^32 is once round. So they wrap round by themselves, and nothing is ever rounded.
// The field has `cells` values, each for a part of the circle.
__host__ __device__ inline int cell_of(uint32_t angle, int cells) {
    return int((uint64_t(angle) * uint32_t(cells)) >> 32);
}
// How two rotors at the same distance pull: by how far they are turned against this one, the shorter way round.
__host__ __device__ inline uint32_t pull(uint32_t own, uint32_t left, uint32_t right,
                                         int32_t weight) {
    return uint32_t(weight) * uint32_t((int32_t(left - own) >> 16) + (int32_t(right - own) >> 16));
}

// A structure of arrays, in memory that kernels can reach.
struct Chain {
    uint32_t *angle, *next;  // (count): now, and after the step
    uint32_t* speed;         // (count)
    const int32_t* weights;  // (reach): of the rotors 1, 2, ... further on
    const int32_t* field;    // (cells)
    cudaTextureObject_t texture;
    int count, reach, cells;
};

__device__ inline void turn(const Chain& chain, int i, uint32_t own, uint32_t force) {
    const uint32_t speed = chain.speed[i] + force;
    chain.speed[i] = speed;
    chain.next[i] = own + speed;
}

inline lab::Launch shape_of(const Chain& chain) {
    return {dim3(unsigned(lab::divide_up(chain.count, block_size))), dim3(block_size)};
}

// An even number of steps: the last one ends where the first began.
template <class Launcher>
lab::Launch run_steps(Chain chain, int steps, Launcher launch) {
    lab::Launch shape;
    for (int step = 0; step < steps; ++step, std::swap(chain.angle, chain.next))
        shape = launch(chain);
    return shape;
}

// What a round of part two works on. The host's angles and its field; in managed memory the chain's are the same.
struct Round {
    Chain chain;
    uint32_t* h_angle;       // (count)
    const int32_t* h_field;  // (cells)
    int steps;
};

// The host turns every 1024th rotor by what the field has there: it touches each page of the angles, and little else.
constexpr int64_t kick_stride = 1024;
inline void kick(uint32_t* angles, int64_t count, const int32_t* field, int cells) {
    for (int64_t i = 0; i < count; i += kick_stride) angles[i] += field[cell_of(angles[i], cells)];
}
inline void kick(const Round& round) {
    kick(round.h_angle, round.chain.count, round.h_field, round.chain.cells);
}

// The two ends of a prefetch, and whom an advice is about: a number until CUDA 12, a structure since CUDA 13.
#if CUDART_VERSION >= 13000
using Place = cudaMemLocation;
inline Place host_place() { return {cudaMemLocationTypeHost, 0}; }
inline Place device_place() {
    Place place = {cudaMemLocationTypeDevice, 0};
    CHECK(cudaGetDevice(&place.id));
    return place;
}
#else
using Place = int;
inline Place host_place() { return cudaCpuDeviceId; }
inline Place device_place() {
    Place place = 0;
    CHECK(cudaGetDevice(&place));
    return place;
}
#endif

// ---------- What is asked for, and what is right ----------

inline std::vector<std::string> device_names() {
    return {"structures", "arrays", "constant", "texture", "shared"};
}
inline std::vector<std::string> further_names() {
    return {"field_in_constant", "field_in_shared", "together"};
}
inline std::vector<std::string> round_names() {
    return {"pageable", "pinned", "mapped", "managed", "prefetched", "advised"};
}
inline std::vector<std::string> variant_names() {
    std::vector<std::string> names = device_names();
    for (const std::string& name : round_names()) names.push_back(name);
    return names;
}

struct Request {
    int steps, rounds;
    std::string start_path, field_path, weights_path, output;
    int64_t count, cells, reach;
    std::vector<uint32_t> angles, speeds;
    std::vector<int32_t> field, weights;

    explicit Request(lab::Arguments& arguments) {
        count =
            arguments.integer("rotors", lab::on_cpu ? 20000 : 4 << 20, 0, 1 << 28, "in the chain");
        cells = arguments.integer("cells", 8192, 1, 1 << 24, "of the field");
        reach = arguments.integer("reach", 8, 1, most_reach, "how many rotors on each side pull");
        steps = int(arguments.integer("steps", 2, 2, 1000, "at a time, an even number"));
        rounds = int(arguments.integer("rounds", 2, 1, 100, "of part two, before it is judged"));
        start_path =
            arguments.input("start", "angles and speeds (2, rotors), int32, not random ones");
        field_path = arguments.input("field", "the field (cells), int32, not a random one");
        weights_path =
            arguments.input("weights", "of the neighbours (reach), int32, not random ones");
        output =
            arguments.output("output", "angles and speeds (2, rotors), int32, for one variant");
        arguments.excludes("start", {"rotors"}, "a random chain");
        arguments.excludes("field", {"cells"}, "a random field");
        arguments.excludes("weights", {"reach"}, "random weights");
    }

    // Refuses what does not go together, and reads or makes the input.
    void finish(const lab::Arguments& arguments, const lab::Study& study) {
        study.require_one_for(arguments, "output", "the result");
        if (steps % 2 != 0)
            lab::refuse("--steps: %d is odd; the angles are to end where they began", steps);
        field = field_path.empty() ? lab::random_values<int32_t>(cells, -(1 << 20), 1 << 20, 18)
                                   : lab::read_array<int32_t>(field_path, 1).values;
        weights = weights_path.empty() ? lab::random_values<int32_t>(reach, -1000, 1000, 19)
                                       : lab::read_array<int32_t>(weights_path, 1).values;
        if (field.empty() || field.size() > 1 << 24)
            lab::refuse("--field: it has %zu cells, and may have 1 to 16777216", field.size());
        if (weights.empty() || weights.size() > size_t(most_reach))
            lab::refuse("--weights: there are %zu, and may be 1 to %d", weights.size(), most_reach);
        if (start_path.empty()) {
            angles = lab::random_values<uint32_t>(count, 0, UINT32_MAX, 20);
            speeds = lab::random_values<uint32_t>(count, 0, 1 << 20, 21);
            return;
        }
        const auto start = lab::read_array<int32_t>(start_path, 2);
        if (start.shape[0] != 2)
            lab::refuse("--start: %s has %lld rows; it needs two, angles and speeds",
                        lab::quoted(start_path).c_str(), (long long)start.shape[0]);
        const auto middle = start.values.begin() + start.shape[1];
        angles.assign(start.values.begin(), middle), speeds.assign(middle, start.values.end());
    }

    void write(const std::vector<uint32_t>& angle, const std::vector<uint32_t>& speed) const {
        if (output.empty()) return;
        std::vector<int32_t> both(angle.begin(), angle.end());
        both.insert(both.end(), speed.begin(), speed.end());
        lab::write_array(output, both.data(), {2, int64_t(angle.size())});
    }
    int write_nothing() const {
        write({}, {});
        return lab::nothing_to_launch("rotors");
    }
};

// The reference: loops of the host.
struct State {
    std::vector<uint32_t> angle, speed;

    explicit State(const Request& request) : angle(request.angles), speed(request.speeds) {}
    void step(const Request& request) {
        const lab::NvtxRange range("reference");
        const int64_t count = int64_t(angle.size());
        const std::vector<uint32_t> before = angle;
        for (int64_t i = 0; i < count; ++i) {
            uint32_t force = request.field[cell_of(before[i], int(request.field.size()))];
            for (int64_t d = 1; d <= int64_t(request.weights.size()); ++d)
                force += pull(before[i], before[std::max<int64_t>(i - d, 0)],
                              before[std::min(i + d, count - 1)], request.weights[d - 1]);
            speed[i] += force;
            angle[i] += speed[i];
        }
    }
    lab::Comparison compare(const std::vector<uint32_t>& got_angle,
                            const std::vector<uint32_t>& got_speed) const {
        const int64_t count = int64_t(angle.size());
        const lab::Comparison speeds = lab::compare(got_speed.data(), speed.data(), count);
        return speeds.right() ? lab::compare(got_angle.data(), angle.data(), count) : speeds;
    }
};
