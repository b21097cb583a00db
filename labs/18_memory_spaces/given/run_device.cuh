// Runs and judges the variants of part one.
#pragma once

#include <string>
#include <vector>

struct DeviceVariant {
    std::string name;
    lab::Launch (*launch)(const Chain& chain);
};

inline std::vector<DeviceVariant> device_variants() {
    std::vector<DeviceVariant> variants = {{"arrays", launch_arrays},
                                           {"constant", launch_constant},
                                           {"texture", launch_texture},
                                           {"shared", launch_shared}};
#ifdef LAB_FURTHER
    variants.push_back({"field_in_constant", launch_field_in_constant});
    variants.push_back({"field_in_shared", launch_field_in_shared});
    variants.push_back({"together", launch_together});
#endif
    return variants;
}

inline void run_structures(lab::Study& study, const Request& request, const State& expected,
                           const Chain& chain) {
    if (!study.chosen("structures")) return;
    const int64_t count = chain.count;
    std::vector<Rotor> h_rotors(count);
    lab::DeviceArray<Rotor> d_rotors(count);
    State got(request);
    study.run(
        "structures",
        [&] {
            for (int64_t i = 0; i < count; ++i)
                h_rotors[i] = {{request.angles[i], 0xFFFFFFFF}, request.speeds[i], {}};
            d_rotors.upload(h_rotors.data(), count);
        },
        [&] {
            const lab::Launch shape = shape_of(chain);
            for (int step = 0; step < request.steps; ++step) {
                step_structures<<<shape.grid, shape.block>>>(d_rotors.get(), step % 2, chain);
                CHECK_LAUNCH();
            }
            return shape;
        },
        [&] {
            d_rotors.download(h_rotors);
            for (int64_t i = 0; i < count; ++i)
                got.angle[i] = h_rotors[i].angle[0], got.speed[i] = h_rotors[i].speed;
            return expected.compare(got.angle, got.speed);
        });
    if (study.only_one() == "structures") request.write(got.angle, got.speed);
}

inline void run_device(lab::Study& study, const Request& request) {
    const std::vector<DeviceVariant> variants = device_variants();
    if (std::none_of(variants.begin(), variants.end(),
                     [&](const DeviceVariant& one) { return study.chosen(one.name); }) &&
        !study.chosen("structures"))
        return;
    const int count = int(request.angles.size()), cells = int(request.field.size()),
              reach = int(request.weights.size());
    State expected(request), got(request);
    for (int step = 0; step < request.steps; ++step) expected.step(request);
    lab::DeviceArray<uint32_t> d_angle(count), d_next(count), d_speed(count);
    const lab::DeviceArray<int32_t> d_field(request.field), d_weights(request.weights);
    // Who should read a table from elsewhere finds ones in these.
    const lab::DeviceArray<int32_t> d_wrong_field(std::vector<int32_t>(cells, 1));
    const lab::DeviceArray<int32_t> d_wrong_weights(std::vector<int32_t>(reach, 1));
    const Chain chain = {d_angle.get(),   d_next.get(),  d_speed.get(),
                         d_weights.get(), d_field.get(), 0,
                         count,           reach,         cells};
    study.moves(16.0 * count * request.steps);  // an angle and a speed, read and written
    run_structures(study, request, expected, chain);
    for (const DeviceVariant& variant : variants) {
        if (!study.chosen(variant.name)) continue;
        Chain own = chain;
        if (variant.name == "constant" || variant.name == "together") {
            fill_constant_weights(request.weights.data(), reach);
            own.weights = d_wrong_weights.get();
        }
        if (variant.name == "texture") {
            own.texture = make_texture(d_field.get(), cells);
            own.field = d_wrong_field.get();
        }
#ifdef LAB_FURTHER
        const bool of_field = variant.name.rfind("field_in", 0) == 0;
        const bool too_large = of_field && cells > std::min(most_constant_cells, most_shared_cells);
        if (study.skips(variant.name, too_large ? "the field is too large" : "")) continue;
        if (variant.name == "field_in_constant") {
            fill_constant_field(request.field.data(), cells);
            own.field = d_wrong_field.get();
        }
#endif
        study.run(
            variant.name,
            [&] {
                d_angle.upload(request.angles.data(), count), d_next.poison();
                d_speed.upload(request.speeds.data(), count);
            },
            [&] { return run_steps(own, request.steps, variant.launch); },
            [&] {
                d_angle.download(got.angle), d_speed.download(got.speed);
                return expected.compare(got.angle, got.speed);
            });
        if (own.texture != 0) CHECK(cudaDestroyTextureObject(own.texture));
        if (study.only_one() == variant.name) request.write(got.angle, got.speed);
    }
}
