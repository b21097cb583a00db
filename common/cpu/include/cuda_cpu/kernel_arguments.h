// How a launch keeps the arguments of a kernel until its threads get them.
//
// CUDA copies an argument's bytes to the device, whatever copy constructor or destructor its class has:
// those run for the host's own copy alone. A reference is passed as the address of what it refers to.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

namespace cuda_cpu {

template <class... Parameters>
using Function = void (*)(Parameters...);

// Such a parameter is a hidden address in a call, so that a thread can be given bytes.
template <class Parameter>
constexpr bool is_handed_over_as_bytes =
    !std::is_reference_v<Parameter> && !(std::is_trivially_copy_constructible_v<Parameter> &&
                                         std::is_trivially_move_constructible_v<Parameter> &&
                                         std::is_trivially_destructible_v<Parameter>);

template <class Parameter, bool as_bytes = is_handed_over_as_bytes<Parameter>>
struct Kept {
    using Type = Parameter;
    Parameter value;
    explicit Kept(const Parameter& value) : value(value) {}
    static Kept at(const void* argument) { return Kept(*static_cast<const Parameter*>(argument)); }
    const Parameter& get() const { return value; }
};
template <class Parameter>
struct Kept<Parameter, true> {
    using Type = Parameter;
    alignas(Parameter) char bytes[sizeof(Parameter)];
    explicit Kept(const Parameter& value) {
        std::memcpy(bytes, static_cast<const void*>(&value), sizeof bytes);
    }
    static Kept at(const void* argument) { return Kept(*static_cast<const Parameter*>(argument)); }
    const Parameter& get() const { return *reinterpret_cast<const Parameter*>(bytes); }
};
template <class Target>
struct Kept<Target&, false> {
    using Type = Target&;
    Target* address;
    explicit Kept(Target& target) : address(&target) {}
    static Kept at(void* argument) { return Kept(**static_cast<Target**>(argument)); }
    Target& get() const { return *address; }
};

// What stands for a parameter in the call of a kernel with one that is handed over as bytes.
template <class Parameter>
using Passed = std::conditional_t<is_handed_over_as_bytes<Parameter>, void*, Parameter>;

// A thread's own copy.
template <class Parameter>
struct Own {
    Kept<Parameter> kept;
    operator Passed<Parameter>() {
        if constexpr (is_handed_over_as_bytes<Parameter>) {
            return kept.bytes;
        } else {
            return static_cast<Passed<Parameter>>(kept.get());
        }
    }
};

template <class... Parameters>
void call_with_bytes(Function<Parameters...> function, const Kept<Parameters>&... arguments) {
    reinterpret_cast<Function<Passed<Parameters>...>>(function)(Own<Parameters>{arguments}...);
}

// The questions for a kernel's address: whether there is only one function of its name, and the one with
// exactly these parameters.
struct Unique {};
template <class... Parameters>
struct Exactly {};
template <class Found>
Found* address_of(Unique, Found* function) {
    return function;
}
template <class... Parameters>
Function<Parameters...> address_of(Exactly<Parameters...>, void (*function)(Parameters...)) {
    return function;
}

// What the translator declares beside a template of kernels returns the types of its parameters.
template <class Signature>
struct Parameters {};

// The literal 0 as an argument for a template.
struct Zero {
    operator int() const { return 0; }
    template <class Target>
    operator Target*() const {
        return nullptr;
    }
};
// What an argument is to a template that has to find its parameters: a 0 is first a number, then a pointer.
template <class Given, class Number>
using Seen = std::conditional_t<std::is_same_v<std::decay_t<Given>, Zero>, Number, Given>;

// Takes every argument, but any other way to take it is better.
template <class Parameter>
struct Anything {
    template <class Argument>
    Anything(const Argument&) {}
};

}  // namespace cuda_cpu
