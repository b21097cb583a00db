// What a launch becomes on the CPU, and the built-in variables of a kernel.
//
// The translator turns  kernel<<<grid, block>>>(a, b)  into
//     cuda_cpu::launcher("kernel", "a, b", Shape(grid, block), [=](auto&&... v) { kernel(v...); },
//                        [=](auto wanted) -> decltype(...) { return its address; })(a, b)
// and begins the body of each __global__ function with
//     cuda_cpu::enter_kernel(__func__, __PRETTY_FUNCTION__, number of its template parameters);
// A launch from the host checks the shape, copies the arguments and joins the queue; a launch from a
// kernel joins the list of its parent grid. The threads of a block run one after the other in
// run_threads(): a kernel without a barrier is a plain loop. A thread that has to wait leaves its
// stack and the scheduler goes on with the next one (see common/cpu/runtime/scheduler.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "api.h"
#include "kernel_arguments.h"
#include "types.h"

// Plain thread-local variables, one set for each core: a block stays on its core until it ends.
extern __thread uint3 threadIdx;
extern __thread uint3 blockIdx;
extern __thread dim3 blockDim;
extern __thread dim3 gridDim;
constexpr int warpSize = 32;

namespace cuda_cpu {

// A place in the learner's file, for the sentences that name it.
struct Site {
    const char* file;
    int line;
    static Site here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
        return {file, line};
    }
};

// What stands between <<< and >>>, and where.
struct Shape {
    dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
    Site site;
    bool cooperative = false;  // all blocks at once, so that they can wait for each other
    dim3 cluster{0, 0, 0};     // so many blocks at once, which see each other's shared memory
    Shape(dim3 grid, dim3 block, size_t shared_bytes = 0, cudaStream_t stream = nullptr,
          Site site = Site::here(__builtin_FILE(), __builtin_LINE()))
        : grid(grid), block(block), shared_bytes(shared_bytes), stream(stream), site(site) {}
    // Of a kernel with __cluster_dims__ (translate.py).
    Shape in_clusters(unsigned int x, unsigned int y = 1, unsigned int z = 1) const {
        Shape shape = *this;
        shape.cluster = dim3(x, y, z);
        return shape;
    }
};

// A kernel with its arguments, ready to run the threads of one block after the other.
struct Kernel {
    const char* called;  // what stands before <<<, which may be a pointer: name_of() says more
    // The body knows the kernel by its type, or holds a pointer to it.
    const char* type;
    const void* body_bytes;
    size_t body_size;
    Kernel(const char* called, const char* type, const void* body_bytes, size_t body_size)
        : called(called), type(type), body_bytes(body_bytes), body_size(body_size) {}
    virtual ~Kernel() = default;
    virtual void run_threads() const = 0;
    // The same for two launches of one kernel, and for no others; empty if that is not known.
    std::string identity() const;
};

// Of functions that touch what a pointer leads to: the access then stands in the line of the call.
#define CUDA_CPU_INLINE __attribute__((always_inline)) inline

struct Runner;                    // a stack on which threads of the block run
extern __thread Runner* running;  // the one that runs now; null while host code runs
inline bool in_kernel() { return running != nullptr; }

// With CUDA_CPU_ORDER: where the last thread to start stands in the list of the block's threads. Null
// when they run in the order of their numbers.
extern __thread const uint3* thread_order;

// What every kernel does first: host code may only launch it, or ask for its name.
[[noreturn]] void refuse_call(const char* signature, int template_parameters);
#if defined(CUDA_CPU_ACCESSES) || defined(CUDA_CPU_REPLAY)
void entered_kernel(const char* kernel);  // from here on `make explain` counts, and the film runs
#else
inline void entered_kernel(const char*) {}
#endif
#if defined(CUDA_CPU_ACCESSES) || defined(CUDA_CPU_RACES)
// As nvcc has it: a kernel is a function of its own, and what it calls becomes part of it. A structure
// that is handed over by value is then read in the kernel, where it is seen.
#define CUDA_CPU_CALL noinline, flatten
// What CPU mode itself reads and writes at a barrier is nobody's access.
#define CUDA_CPU_OWN noinline, no_sanitize("thread")
#else
#define CUDA_CPU_CALL always_inline
#define CUDA_CPU_OWN always_inline
#endif
inline void enter_kernel(const char* kernel, const char* signature, int template_parameters) {
    if (__builtin_expect(!in_kernel(), false)) refuse_call(signature, template_parameters);
    entered_kernel(kernel);
}

void needs_clusters(unsigned int x, unsigned int y = 1, unsigned int z = 1);

// The front runner is the one that still starts new threads. A pointer, so that no store of a
// kernel to numbers can change it in the compiler's eyes.
extern __thread Runner* front_runner;

// An observer reads threadIdx, which the compiler would rather store behind the loop.
__attribute__((always_inline)) inline void show_thread_index() {
#if defined(CUDA_CPU_RACES) || defined(CUDA_CPU_ACCESSES)
    asm volatile("" ::: "memory");
#endif
}

// All parameters of a kernel, by their places: std::tuple would have every launch compiled for longer.
template <size_t place, class Parameter>
struct Place {
    Kept<Parameter> kept;
};
template <class Places, class... Parameters>
struct AllKept;
template <size_t... places, class... Parameters>
struct AllKept<std::index_sequence<places...>, Parameters...> : Place<places, Parameters>... {
    explicit AllKept(const Kept<Parameters>&... arguments)
        : Place<places, Parameters>{arguments}... {}

    template <class Body>
    __attribute__((CUDA_CPU_CALL)) void call(const Body& body,
                                             Function<Parameters...> function) const {
        if constexpr ((is_handed_over_as_bytes<Parameters> || ...)) {
            if (function != nullptr) {
                return call_with_bytes(function, Place<places, Parameters>::kept...);
            }
        }
        body(Place<places, Parameters>::kept.get()...);
    }
};

// A kernel with the types of its parameters. `body` calls it by its name; `function` is its address where
// an argument has to be handed over as bytes, and null otherwise.
template <class Body, class... Parameters>
struct KernelOf final : Kernel {
    Body body;
    Function<Parameters...> function;
    AllKept<std::index_sequence_for<Parameters...>, Parameters...> arguments;

    KernelOf(const char* called, Body body, Function<Parameters...> function,
             const Kept<Parameters>&... arguments)
        : Kernel(called, type_of_body(), &this->body, bytes_of_body),
          body(std::move(body)),
          function(function),
          arguments(arguments...) {}

    static const char* type_of_body() {
        return std::is_trivially_copyable_v<Body> ? __PRETTY_FUNCTION__ : nullptr;
    }
    static constexpr size_t bytes_of_body = std::is_empty_v<Body> ? 0 : sizeof(Body);

    // Runs threads in order from threadIdx on. Another runner takes over the rest as soon as one of
    // them waits, and `running` is then no longer the runner that started here. In another order than
    // that of their numbers it is one thread, and who comes next is the scheduler's affair.
    void run_threads() const override {
        Runner* const self = running;
        uint3 shape = blockDim;
        if (__builtin_expect(thread_order != nullptr, false)) {
            shape = {threadIdx.x + 1, threadIdx.y + 1, threadIdx.z + 1};
        }
        uint3 thread = threadIdx;
        for (;;) {
            show_thread_index();
            arguments.call(body, function);
            if (__builtin_expect(front_runner != self, false)) return;
            if (++thread.x == shape.x) {
                thread.x = 0;
                if (++thread.y == shape.y) {
                    thread.y = 0;
                    if (++thread.z == shape.z) return;
                }
            }
            threadIdx = thread;
        }
    }
};

// Takes the kernel. pointers: what each argument points to, null for one that is no pointer to an object.
// False if the launch is not a valid one.
bool submit(Kernel* kernel, const char* arguments, const Shape& shape, const void* const* pointers,
            int count);

template <class Argument>
const void* pointed_to(const Argument& argument) {
    if constexpr (std::is_pointer_v<Argument>) {
        if constexpr (!std::is_function_v<std::remove_pointer_t<Argument>>) {
            return const_cast<const void*>(static_cast<const volatile void*>(argument));
        }
    }
    return nullptr;
}

template <class Body, class... Parameters>
bool try_launch(const char* called, const char* text, const Shape& shape, const Body& body,
                Function<Parameters...> function, const Kept<Parameters>&... arguments) {
    const void* const pointers[] = {pointed_to(arguments.get())..., nullptr};
    return submit(new KernelOf<Body, Parameters...>(called, body, function, arguments...), text,
                  shape, pointers, sizeof...(Parameters));
}

// What stands between <<< and >>>, with a kernel whose parameters are known: a call is a launch. Its
// arguments become parameters as in any call. What it returns says whether they fit; the translator
// refuses them in the learner's line if not.
template <class Body, class... Parameters>
struct Launcher {
    const char *called, *text;
    Shape shape;
    Body body;
    Function<Parameters...> function;

    std::true_type operator()(Parameters... arguments) const {
        try_launch<Body, Parameters...>(called, text, shape, body, function,
                                        Kept<Parameters>(arguments)...);
        return {};
    }
    template <class = void>
    std::false_type operator()(const Anything<Parameters>&...) const {
        return {};
    }
    // With fewer: the other parameters may have a default.
    template <class... Given, class = std::enable_if_t<sizeof...(Given) != sizeof...(Parameters)>>
    auto operator()(Given&&... given) const {
        if constexpr (sizeof...(Given) < sizeof...(Parameters)) {
            return with_defaults(std::index_sequence_for<Given...>(),
                                 std::forward<Given>(given)...);
        } else {
            return std::false_type();
        }
    }

 private:
    template <size_t... Positions, class... Given>
    auto with_defaults(std::index_sequence<Positions...>, Given&&... given) const {
        using All = std::tuple<Kept<Parameters>...>;
        if constexpr (std::is_invocable_v<
                          Body, decltype(std::declval<std::tuple_element_t<Positions, All>>()
                                             .get())...>) {
            return Launcher<Body, typename std::tuple_element_t<Positions, All>::Type...>{
                called, text, shape, body, nullptr}(std::forward<Given>(given)...);
        } else {
            return std::false_type();
        }
    }
};

template <class Body, class... Parameters>
Launcher<Body, Parameters...> launcher_of(const char* called, const char* text, const Shape& shape,
                                          Body body, void (*function)(Parameters...)) {
    return {called, text, shape, body, function};
}

// Answers no question.
struct Silent {};

// The same where the parameters follow from the arguments: `told` returns them for a template that is
// visible; else they are what the arguments are.
template <class Body, class Address, class Told>
struct DeducedLauncher {
    const char *called, *text;
    Shape shape;
    Body body;
    Address address;
    Told told;

    template <class... Given>
    auto operator()(Given&&... given) const {
        if constexpr (std::is_invocable_v<Told, Seen<Given, int>...>) {
            using Known = std::invoke_result_t<Told, Seen<Given, int>...>;
            return launch(Known(), std::forward<Given>(given)...);
        } else if constexpr (std::is_invocable_v<Told, Seen<Given, std::nullptr_t>...>) {
            using Known = std::invoke_result_t<Told, Seen<Given, std::nullptr_t>...>;
            return launch(Known(), std::forward<Given>(given)...);
        } else if constexpr (std::is_invocable_v<Body, const std::decay_t<Given>&...>) {
            using Known = Parameters<void(std::decay_t<Given>...)>;
            return launch(Known(), std::forward<Given>(given)...);
        } else {
            return std::false_type();
        }
    }

 private:
    template <class... Types, class... Given>
    auto launch(Parameters<void(Types...)>, Given&&... given) const {
        Function<Types...> function = nullptr;
        if constexpr (std::is_invocable_v<Address, Exactly<Types...>>) {
            function = address(Exactly<Types...>());
        }
        return Launcher<Body, Types...>{called, text, shape, body,
                                        function}(std::forward<Given>(given)...);
    }
};

template <class Body, class Address, class Told = Silent>
auto launcher(const char* called, const char* text, const Shape& shape, Body body, Address address,
              Told told = {}) {
    if constexpr (std::is_invocable_v<Address, Unique>) {
        return launcher_of(called, text, shape, body, address(Unique()));
    } else {
        return DeducedLauncher<Body, Address, Told>{called, text, shape, body, address, told};
    }
}
// A kernel that is a pointer.
template <class... Parameters>
auto launcher(const char* called, const char* text, const Shape& shape,
              void (*function)(Parameters...)) {
    return launcher_of(called, text, shape, function, function);
}

// Lives as long as the statement of a call whose result nobody takes (translate.py).
class Ignored {
 public:
    Ignored();
    Ignored(const Ignored&) = delete;
    Ignored& operator=(const Ignored&) = delete;
    ~Ignored();

 private:
    unsigned int failures_;
};

}  // namespace cuda_cpu
