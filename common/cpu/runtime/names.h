// What a kernel is called: with its namespace and its template arguments, as `make explain` has it.
//
// A launch knows what stands before its <<<, which may be a pointer. The kernel itself knows more, and
// says it when it is entered while host code seems to run: before anything else that it does.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "report.h"

namespace cuda_cpu {

struct KernelName {  // thrown by a kernel that is asked
    std::string text;
};
inline thread_local bool asked_for_name = false;

// From __PRETTY_FUNCTION__: "void n::f(T*) [with T = float; int side = 16; size_t = long unsigned int]"
// of g++, "void n::f(T *) [T = float, side = 16]" of clang++. What comes behind the template's
// parameters are names of types.
inline std::string name_from(std::string signature, int template_parameters) {
    for (const char* const nameless : {"{anonymous}::", "(anonymous namespace)::"}) {
        for (size_t at; (at = signature.find(nameless)) != std::string::npos;)
            signature.erase(at, std::string(nameless).size());
    }
    const size_t open = signature.find('('), start = signature.rfind(' ', open) + 1;
    std::string name = signature.substr(start, open - start), values;
    size_t at = signature.rfind(" [");
    const bool with = at != std::string::npos && signature.compare(at, 7, " [with ") == 0;
    for (int i = 0; i < template_parameters && at != std::string::npos; ++i) {
        const size_t equals = signature.find(" = ", at);
        if (equals == std::string::npos) break;
        int depth = 0;
        size_t end = equals + 3;
        while (end + 1 < signature.size()) {
            const char letter = signature[end];
            if (depth == 0 && letter == (with ? ';' : ',')) break;
            depth += (letter == '(' || letter == '{' || letter == '<') -
                     (letter == ')' || letter == '}' || letter == '>');
            ++end;
        }
        std::string value = signature.substr(equals + 3, end - equals - 3);
        if (value.front() == '{') value = value.substr(1, value.size() - 2);  // a pack
        values += (values.empty() ? "" : ", ") + value;
        at = end;
    }
    return values.empty() ? name : name + "<" + values + ">";
}

// While it lives, the runtime works for itself: a kernel that launches another is not observed.
struct Unobserved {
    Unobserved() = default;
    Unobserved(const Unobserved&) = delete;
    Unobserved& operator=(const Unobserved&) = delete;
    ~Unobserved() { running = runner; }
    Runner* const runner = std::exchange(running, nullptr);
};

inline std::string Kernel::identity() const {
    if (type == nullptr) return "";
    return type + std::string(static_cast<const char*>(body_bytes), body_size);
}

// Asks a kernel for its name, once. It is asked on a thread of its own: what it holds in local arrays
// may not fit on the stack of whoever wants to know.
inline const std::string& name_of(const Kernel& kernel) {
    static std::mutex mutex;
    static auto& names = *new std::map<std::string, std::string>;
    const Unobserved unobserved;  // before the lock: what is found asks for names, too
    std::lock_guard<std::mutex> lock(mutex);
    const std::string identity = kernel.identity();
    std::string& name = names[identity];
    if (!name.empty() && !identity.empty()) return name;
    name = kernel.called;
    std::thread([&] {
        asked_for_name = true;
        try {
            kernel.run_threads();
        } catch (const KernelName& said) {
            name = said.text;
        }
    }).join();
    return name;
}

}  // namespace cuda_cpu
