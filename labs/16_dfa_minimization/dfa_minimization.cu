// Lab 16: the smallest automaton of a language, by Moore's algorithm, on the host and on the
// device.
//
// Moore's algorithm refines a partition of the states, round by round, until no class splits any
// more. A round is a sort, or a hash table, over the signatures of all states. What it teaches: a
// whole algorithm on the GPU, from a counting sort that is built by hand to rounds that the host
// does not even see; and that a better algorithm may beat a better machine.
//
// The pages with tasks:
//   moore.h            moore_radix, moore_hash: Moore's algorithm on one core
//   openmp.h           openmp_for to openmp_sort: the report's six programs
//   counting_sort.cuh  the report's counting sorts on the device
//   fold.cuh           letters folded into numbers by a hash table
//   retire.cuh         states that are alone drop out
// What is yours to write is marked by TODO in them; the handout lists it, task by task.
// The pages that they use are in given/; the first to look into is given/device.cuh, the variants on
// the device in the order of their ladder. further/ has the variants beyond the tasks. This page: what
// the command line says, and the table.
#include <cmath>
#include <thread>

#include "../../common/array_file.h"
#include "../../common/lab.h"
#include "given/automaton.h"
#include "given/automaton_file.h"
#include "given/device.cuh"
#include "given/hopcroft.h"
#include "moore.h"
#ifdef _OPENMP
#include "openmp.h"
#endif

// ---------------------------------------------------------------------------------------------
// The variants on the host
// ---------------------------------------------------------------------------------------------

struct HostVariant {
    const char* name;
    Partition (*minimize)(const Automaton&, const HostOptions&);
    int64_t (*bytes)(int64_t states, int64_t symbols);  // beside the automaton and the partition
};

int64_t sort_bytes(int64_t states, int64_t symbols) {
    return SignatureSort::bytes(states, symbols);
}

int64_t unfolded_bytes(int64_t states, int64_t symbols) {
    const int64_t pairs = symbols == 2 ? 16 * states + SignatureSort::bytes(states, 4) : 0;
    return pairs + SignatureSort::bytes(states, symbols);
}

int64_t hash_bytes(int64_t states, int64_t) { return HashedRounds::bytes(states); }

const std::vector<HostVariant>& host_variants() {
    static const std::vector<HostVariant> variants = {
        {"hopcroft", hopcroft, hopcroft_bytes},
        {"moore_radix", moore_radix, sort_bytes},
        {"moore_hash", moore_hash, hash_bytes},
#ifdef _OPENMP
        {"openmp_for", openmp_for, sort_bytes},
        {"openmp_tasks", openmp_tasks, sort_bytes},
        {"openmp_sections", openmp_sections, sort_bytes},
        {"openmp_split", openmp_split, sort_bytes},
        {"openmp_unfolded", openmp_unfolded, unfolded_bytes},
        {"openmp_sort", openmp_sort, sort_bytes},
#endif
    };
    return variants;
}

const HostVariant* find_host_variant(const std::string& name) {
    for (const HostVariant& variant : host_variants()) {
        if (name == variant.name) return &variant;
    }
    return nullptr;
}

Refine find_device_variant(const std::string& name) {
    for (const DeviceVariant& variant : device_variants()) {
        if (name == variant.name) return variant.refine;
    }
    return nullptr;
}

// ---------------------------------------------------------------------------------------------
// The command line
// ---------------------------------------------------------------------------------------------

struct Options {
    std::string input, file, action, format, output, classes, reference;
    int64_t n = 0, m = 0, count = 0, seed = 0;
    Completion completion = Completion::Sink;
    bool without_sink = false, verbose = false, verify = false;
    std::vector<std::string> variants;
    HostOptions host;
    RefineOptions device;

    // The automaton goes to standard output, and nothing else does.
    bool prints_automaton() const { return format != "pass" && output.empty(); }
};

// The report's short form, words without dashes at the beginning of the command line, becomes
// options: INPUT [ACTION] [OUTPUT], as in "best-case 2000000 30 minimize pass".
class ShortForm {
 public:
    ShortForm(int argc, char** argv) : words_(argv, argv + argc) {
        options_.push_back(words_[0]);
        if (at_ < words_.size() && is_word()) read_input();
        if (is_one_of({"pass", "minimize"})) read_action();
        if (is_one_of({"encode", "pretty-print", "dot", "pass"})) take("--format");
        if (is_word()) {
            lab::refuse(
                "%s: unexpected; the short form is INPUT [ACTION] [OUTPUT] and then options",
                lab::quoted(words_[at_]).c_str());
        }
        options_.insert(options_.end(), words_.begin() + at_, words_.end());
        for (std::string& option : options_) pointers_.push_back(&option[0]);
    }

    int argc() const { return int(pointers_.size()); }
    char** argv() { return pointers_.data(); }

 private:
    bool is_word() const { return at_ < words_.size() && words_[at_].rfind("--", 0) != 0; }

    bool is_one_of(const std::vector<std::string>& known) const {
        return is_word() && std::count(known.begin(), known.end(), words_[at_]) > 0;
    }

    void take(const char* option) {
        options_.push_back(option);
        options_.push_back(words_[at_++]);
    }

    void read_input() {
        struct Form {
            const char* input;
            std::vector<const char*> operands;
            const char* example;
        };
        const Form forms[] = {
            {"decode", {"--file"}, "decode FILE, where - is standard input"},
            {"best-case", {"--n", "--m"}, "best-case n m"},
            {"worst-case", {"--n", "--m"}, "worst-case n m"},
            {"random", {"--n", "--m"}, "random n m"},
            {"copies", {"--n", "--m", "--count"}, "copies n m count"},
        };
        const std::string word = words_[at_];
        for (const Form& form : forms) {
            if (word != form.input) continue;
            take("--input");
            for (const char* operand : form.operands) {
                if (!is_word()) lab::refuse("%s: write %s", form.input, form.example);
                take(operand);
            }
            return;
        }
        std::vector<std::string> known;
        for (const Form& form : forms) known.push_back(form.input);
        lab::refuse("%s is not one of %s%s", lab::quoted(word).c_str(),
                    lab::joined(known, ", ").c_str(), lab::suggestion(word, known).c_str());
    }

    // "minimize VARIANT THREADS ELEMENTS"; all three may be missing.
    void read_action() {
        const bool minimizes = words_[at_] == "minimize";
        take("--action");
        if (!minimizes) return;
        for (const char* option : {"--variant", "--block", "--elements"}) {
            if (!is_word() || is_one_of({"encode", "pretty-print", "dot", "pass"})) return;
            take(option);
        }
    }

    std::vector<std::string> words_, options_;
    std::vector<char*> pointers_;
    size_t at_ = 1;
};

std::vector<std::string> all_names() {
    std::vector<std::string> names;
    for (const HostVariant& variant : host_variants()) names.push_back(variant.name);
    for (const DeviceVariant& variant : device_variants()) names.push_back(variant.name);
    return names;
}

void read_input_options(lab::Arguments& arguments, Options& options) {
    options.input = arguments.choice(
        "input", {"decode", "best-case", "worst-case", "random", "copies"}, "random",
        "where the automaton comes from: a file, A_n,m, B_n,m, C_n,m, or copies of C_n,m");
    options.file = arguments.input("file", "what decode reads; - is standard input", true);
    options.n = arguments.integer("n", lab::on_cpu ? 300 : 1000000, 1, most_states,
                                  "size: best-case and worst-case have 3n states, the others n");
    options.m = arguments.integer("m", 2, 1, most_symbols, "symbols");
    options.count = arguments.integer("count", 2, 1, most_states, "copies");
    options.seed = arguments.integer("seed", 1, 0, INT64_MAX, "of what is random");
    const std::string completion = arguments.choice(
        "completion", {"sink", "loops"}, "sink",
        "where missing transitions of a file lead: to a new state that rejects, or back");
    options.completion = completion == "sink" ? Completion::Sink : Completion::Loops;
}

void read_work_options(lab::Arguments& arguments, Options& options) {
    options.action = arguments.choice("action", {"pass", "minimize"}, "minimize", "what to do");
    options.format = arguments.choice("format", {"encode", "pretty-print", "dot", "pass"}, "pass",
                                      "how the automaton is written; pass: not at all");
    options.output = arguments.output("output", "where to; without it, standard output");
    options.without_sink = arguments.flag("without-sink", "encode leaves out what leads to a sink");
    options.classes =
        arguments.output("classes", "the classes of all states, int32 .npy, a row a variant");
    options.reference =
        arguments.choice("reference", {"auto", "hopcroft", "moore_hash"}, "auto",
                         "what is compared with; auto: hopcroft up to 4Mi transitions");
    options.host.threads = int(arguments.integer(
        "threads", std::max(1u, std::thread::hardware_concurrency()), 1, 1024, "of OpenMP"));
    options.device.threads_per_block =
        int(arguments.integer("block", 0, 0, 1024, "threads a block; 0: the variant chooses"));
    options.device.elements_per_thread = int(arguments.integer(
        "elements", 0, 0, 1024, "states a thread, in a counting sort; 0: the variant chooses"));
    options.device.bits_per_step = int(arguments.integer(
        "bits", 0, 0, 31, "bits a step, in a counting sort; 0: the variant chooses"));
    options.verbose = arguments.flag("verbose", "rounds and classes, on standard error");
    options.verify = arguments.flag(
        "verify", "repeats each step of the tasks on the host, and says what goes wrong first");
    options.host.pause = int(arguments.integer(
        "pause", 0, 0, 1000, "milliseconds before each phase of openmp_tasks, to see who waits"));
    options.variants = arguments.variants(all_names());
}

void refuse_contradictions(const lab::Arguments& arguments, const Options& options) {
    const auto only_for = [&](const char* name, bool fits, const char* what) {
        if (arguments.given(name) && !fits) lab::refuse("--%s is for %s; drop it", name, what);
    };
    const std::string& input = options.input;
    const bool decodes = input == "decode", minimizes = options.action == "minimize";
    only_for("file", decodes, "--input decode");
    only_for("completion", decodes, "--input decode");
    only_for("n", !decodes, "generated automata");
    only_for("m", !decodes, "generated automata");
    only_for("count", input == "copies", "--input copies");
    only_for("seed", input == "random" || input == "copies", "--input random and copies");
    only_for("classes", minimizes, "--action minimize");
    only_for("variant", minimizes, "--action minimize");
    for (const char* name :
         {"block", "elements", "bits", "threads", "reference", "verbose", "verify", "pause"}) {
        only_for(name, minimizes, "--action minimize");
    }
    only_for("csv", minimizes && !options.prints_automaton(), "the table of --action minimize");
    only_for("output", options.format != "pass", "--format encode, pretty-print or dot");
    only_for("without-sink", options.format == "encode", "--format encode");
    if (decodes && options.file.empty()) lab::refuse("--input decode needs --file");
    if (options.m == 1 && (input == "best-case" || input == "worst-case")) {
        lab::refuse("--m 1: %s needs two symbols, a and b", input.c_str());
    }
    const int block = options.device.threads_per_block;
    if (block != 0 && (block < 64 || (block & (block - 1)) != 0)) {
        lab::refuse("--block %d is not a power of two from 64 to 1024", block);
    }
    const int bits = options.device.bits_per_step;
    if (block != 0 && bits != 0 && (1 << std::min(bits, 30)) > block) {
        lab::refuse("--bits %d: a step has at most as many values as a block has threads, %d", bits,
                    block);
    }
    if (minimizes && options.format != "pass" && options.variants.size() > 1 &&
        arguments.given("variant")) {
        lab::refuse("--format %s writes the automaton of one variant: choose with --variant",
                    options.format.c_str());
    }
}

// By whom a result is judged.
const HostVariant* reference_for(const Options& options, int64_t transitions) {
    const bool is_small = transitions <= int64_t{4} << 20;
    const bool by_hopcroft =
        options.reference == "hopcroft" || (options.reference == "auto" && is_small);
    return find_host_variant(by_hopcroft ? "hopcroft" : "moore_hash");
}

// Large automata take their time to be made: what there is no room for is refused before.
void require_room_for_reference(const Options& options) {
    const int64_t copies = options.input == "copies" ? options.count : 1;
    const int64_t factor = options.input == "random" || options.input == "copies" ? 1 : 3;
    const int64_t states = options.n * factor * copies;
    require_memory(states, options.m);
    const int64_t transitions = states * options.m;
    const int64_t bytes = reference_for(options, transitions)->bytes(states, options.m);
    lab::require_host_memory(bytes + 4 * transitions + 9 * states,
                             "the automaton and the reference that finds its classes");
}

std::vector<Automaton> make_automata(const Options& options) {
    if (options.input != "decode" && options.action == "minimize") {
        require_room_for_reference(options);
    }
    std::vector<Automaton> automata;
    if (options.input == "decode") {
        automata = read_automata(options.file, options.completion);
    } else if (options.input == "best-case") {
        automata.push_back(best_case(options.n, options.m));
    } else if (options.input == "worst-case") {
        automata.push_back(worst_case(options.n, options.m));
    } else if (options.input == "random") {
        automata.push_back(random_automaton(options.n, options.m, options.seed));
    } else {
        automata.push_back(copies(options.n, options.m, options.count, options.seed));
    }
    return automata;
}

std::string size_text(const Options& options, const std::vector<Automaton>& automata) {
    int64_t states = 0;
    for (const Automaton& automaton : automata) states += automaton.states;
    if (automata.size() > 1) {
        return lab::format("%zu automata, %lld states", automata.size(), (long long)states);
    }
    const std::string size =
        lab::format("%lld states, %lld symbols", (long long)states, (long long)automata[0].symbols);
    const std::string family =
        options.input == "decode" ? lab::quoted(options.file) : options.input;
    const std::string copies =
        options.input == "copies" ? lab::format(", %lld copies", (long long)options.count) : "";
    return family + ": " + size + copies;
}

// ---------------------------------------------------------------------------------------------
// Running, judging and timing
// ---------------------------------------------------------------------------------------------

// An automaton on the device, and room for its classes.
class OnDevice {
 public:
    explicit OnDevice(const Automaton& automaton)
        : automaton_(automaton),
          next_(automaton.next.size()),
          is_final_(automaton.states),
          class_of_(automaton.states) {}

    void copy_in() {
        CHECK(cudaMemcpy(next_.get(), automaton_.next.data(), 4 * automaton_.next.size(),
                         cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(is_final_.get(), automaton_.is_final.data(), automaton_.states,
                         cudaMemcpyHostToDevice));
    }

    Refined refine(Refine refine, const RefineOptions& options) {
        const DeviceAutomaton automaton = {automaton_.states, automaton_.symbols, next_.get(),
                                           is_final_.get()};
        return refine(automaton, class_of_.get(), options);
    }

    void poison() { CHECK(cudaMemset(class_of_.get(), 0xFF, 4 * automaton_.states)); }

    void copy_out(std::vector<int32_t>& class_of) const {
        class_of.resize(automaton_.states);
        CHECK(cudaMemcpy(class_of.data(), class_of_.get(), 4 * automaton_.states,
                         cudaMemcpyDeviceToHost));
    }

 private:
    const Automaton& automaton_;
    DeviceArray<int32_t> next_;
    DeviceArray<uint8_t> is_final_;
    DeviceArray<int32_t> class_of_;
};

// The median of a time already taken and, if that was short, of more.
template <class F>
double more_milliseconds(double first, F&& run) {
    const lab::NvtxRange range("timing");
    std::vector<double> times = {first};
    for (double total = first; total < 1000 && times.size() < 5; total += times.back()) {
        const lab::HostTimer timer;
        run();
        times.push_back(timer.milliseconds());
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

// Runs variants on all automata, and compares what they find with the reference.
class Runner {
 public:
    Runner(const Options& options, const std::vector<Automaton>& automata, lab::Results& results)
        : options_(options), automata_(automata), results_(results) {
        for (const Automaton& automaton : automata) {
            transitions_ += automaton.next.size();
            states_ += automaton.states;
            references_.push_back(reference(automaton));
        }
    }

    // Why the variant cannot run here, or "".
    std::string obstacle(const std::string& name) const {
        double needed = 0, available;
        const HostVariant* const host = find_host_variant(name);
        for (const Automaton& automaton : automata_) {
            needed = std::max(needed, double(bytes(name, automaton.states, automaton.symbols)));
        }
        if (host) {
            available = lab::host_memory() - 4.0 * transitions_ - 8.0 * states_;
        } else {
            size_t free_bytes = 0, total = 0;
            CHECK(cudaMemGetInfo(&free_bytes, &total));
            available = double(free_bytes);
        }
        if (needed <= available) return "";
        return lab::format("needs %s of %s memory, and %s are free",
                           lab::bytes_text(needed).c_str(), host ? "the host's" : "device",
                           lab::bytes_text(std::max(0.0, available)).c_str());
    }

    void run(const std::string& name) {
        const lab::NvtxRange range(name);
        FirstFault fault(name, options_.verify);
        found_.clear();
        comparison_ = {};
        milliseconds_ = copied_milliseconds_ = 0;
        for (size_t i = 0; i < automata_.size(); ++i) {
            find_host_variant(name) ? run_on_host(name, i, fault) : run_on_device(name, i, fault);
            judge(i);
        }
        if (fault.found() && comparison_.right()) comparison_.wrong = 1;
        for (const Partition& partition : found_) {
            all_classes_.insert(all_classes_.end(), partition.class_of.begin(),
                                partition.class_of.end());
        }
        add_row(name);
    }

    bool right() const { return comparison_.right(); }
    std::string sentence() const { return comparison_.sentence(); }
    const std::vector<Partition>& found() const { return found_; }

    // What --classes writes, (variants, states of all automata).
    void write_classes(const std::string& path, int64_t variants) const {
        lab::write_array(path, all_classes_.data(), {variants, states_});
    }

 private:
    int64_t bytes(const std::string& name, int64_t states, int64_t symbols) const {
        const HostVariant* const host = find_host_variant(name);
        return host ? host->bytes(states, symbols)
                    : device_bytes(name.c_str(), states, symbols, options_.device);
    }

    Partition reference(const Automaton& automaton) const {
        const lab::NvtxRange range("reference");
        const HostVariant* const variant = reference_for(options_, int64_t(automaton.next.size()));
        const int64_t bytes = variant->bytes(automaton.states, automaton.symbols);
        lab::require_host_memory(bytes + 4 * transitions_ + 9 * states_,
                                 "the automaton and the reference that finds its classes");
        return variant->minimize(automaton, HostOptions());
    }

    // Several automata are run once each, for their answers; and so is what is verified.
    bool is_timed() const {
        return automata_.size() == 1 && options_.classes.empty() && !options_.verify;
    }

    void run_on_host(const std::string& name, size_t i, FirstFault& fault) {
        const auto minimize = find_host_variant(name)->minimize;
        HostOptions options = options_.host;
        options.verbose = options_.verbose;
        options.fault = &fault;
        lab::HostTimer timer;
        found_.push_back(minimize(automata_[i], options));
        double milliseconds = timer.milliseconds();
        options.verbose = false;
        if (is_timed()) {
            Partition last;
            milliseconds =
                more_milliseconds(milliseconds, [&] { last = minimize(automata_[i], options); });
            if (!last.class_of.empty()) judge_last(i, last.class_of);
        }
        milliseconds_ += milliseconds;
    }

    void run_on_device(const std::string& name, size_t i, FirstFault& fault) {
        const Refine refine = find_device_variant(name);
        RefineOptions options = options_.device;
        options.verbose = options_.verbose;
        options.fault = &fault;
        Partition partition;
        OnDevice device(automata_[i]);
        device.poison();
        lab::HostTimer timer;
        device.copy_in();
        const Refined refined = device.refine(refine, options);
        device.copy_out(partition.class_of);
        const double first = timer.milliseconds();
        partition.classes = refined.classes;
        partition.rounds = refined.rounds;
        found_.push_back(partition);
        if (!is_timed()) {
            milliseconds_ += first;
            return;
        }
        options.verbose = false;
        device.poison();
        if (first < 2000) {
            milliseconds_ = lab::median_milliseconds([&] { device.refine(refine, options); });
        }
        copied_milliseconds_ = first;
        // Times say little in CPU mode, where the number of launches is to be the same each time.
        if (!lab::on_cpu) {
            copied_milliseconds_ = more_milliseconds(first, [&] {
                device.copy_in();
                device.refine(refine, options);
                device.copy_out(partition.class_of);
            });
        }
        if (first >= 2000) milliseconds_ = copied_milliseconds_;
        if (first >= 2000) return;  // it was not repeated
        device.copy_out(partition.class_of);
        judge_last(i, partition.class_of);
    }

    // A variant is to be right in the timed runs as well: their last result is judged if the first one
    // is right.
    void judge_last(size_t i, const std::vector<int32_t>& last) {
        if (found_[i].class_of != references_[i].class_of) return;
        comparison_.later = last != found_[i].class_of;
        found_[i].class_of = last;
    }

    void judge(size_t i) {
        const Partition &found = found_[i], &expected = references_[i];
        lab::Comparison one =
            lab::compare(found.class_of.data(), expected.class_of.data(), automata_[i].states);
        if (one.right() && found.classes != expected.classes) {
            one = {1, 1, 0, double(expected.classes), double(found.classes)};
        }
        if (comparison_.right() && !one.right()) {
            comparison_.first = comparison_.count + one.first;
            comparison_.expected = one.expected;
            comparison_.got = one.got;
        }
        comparison_.count += one.count;
        comparison_.wrong += one.wrong;
    }

    void add_row(const std::string& name) {
        const bool is_host = find_host_variant(name);
        results_.add(name, dim3(0), dim3(0), right() ? milliseconds_ : 0, 0, 0, comparison_);
        if (right() && copied_milliseconds_ > 0) {
            results_.add(name + ", with copies", dim3(0), dim3(0), copied_milliseconds_, 0, 0,
                         comparison_);
        }
        if (automata_.size() > 1) return;
        const Automaton& automaton = automata_[0];
        const double memory = double(bytes(name, automaton.states, automaton.symbols));
        results_.note(lab::format("%s: %lld classes, %lld %s, %s of %s", name.c_str(),
                                  (long long)found_[0].classes, (long long)found_[0].rounds,
                                  name == "hopcroft" ? "splitters" : "rounds",
                                  lab::bytes_text(memory).c_str(),
                                  is_host ? "memory beside the automaton" : "device memory"));
    }

    const Options& options_;
    const std::vector<Automaton>& automata_;
    lab::Results& results_;
    std::vector<Partition> references_, found_;
    std::vector<int32_t> all_classes_;
    lab::Comparison comparison_;
    double milliseconds_ = 0, copied_milliseconds_ = 0;
    int64_t transitions_ = 0, states_ = 0;
};

// ---------------------------------------------------------------------------------------------
// Writing
// ---------------------------------------------------------------------------------------------

std::string formatted(const Automaton& automaton, const Options& options) {
    lab::require_host_memory(2 * encoded_bytes(automaton), "the text of that automaton");
    if (options.format == "dot") return drawn(automaton);
    if (options.format == "pretty-print") return pretty_printed(automaton);
    return encoded(automaton, options.without_sink);
}

// Several automata are separated as read_automata() wants them.
void write_text(const std::vector<Automaton>& automata, const Options& options) {
    std::string text;
    for (size_t i = 0; i < automata.size(); ++i) {
        if (i > 0 && options.format == "encode") text += "--\n";
        text += formatted(automata[i], options);
    }
    if (options.output.empty()) {
        std::fwrite(text.data(), 1, text.size(), stdout);
        lab::require_printed();
        return;
    }
    const int problem = lab::write_file(options.output, {{text.data(), text.size()}});
    if (problem == 0) return;
    lab::fail("cannot write %s: %s", lab::quoted(options.output).c_str(), std::strerror(problem));
}

void write_minimal(const std::vector<Automaton>& automata, const std::vector<Partition>& found,
                   const Options& options) {
    std::vector<Automaton> minimal;
    for (size_t i = 0; i < automata.size(); ++i) {
        minimal.push_back(numbered_by_breadth(quotient(automata[i], found[i])));
    }
    write_text(minimal, options);
}

int minimize(const Options& options, const std::vector<Automaton>& automata,
             lab::Results& results) {
    std::vector<std::string> names = options.variants;
    if (options.format != "pass" && names.size() > 1) names = {"moore_hash"};
    const bool needs_device = std::any_of(names.begin(), names.end(), find_device_variant);
    if (needs_device || !options.prints_automaton()) lab::require_device();
    results.size(size_text(options, automata));
    Runner runner(options, automata, results);
    int64_t runs = 0;
    for (const std::string& name : names) {
        const std::string obstacle = runner.obstacle(name);
        if (!obstacle.empty() && names.size() == 1)
            lab::fail("%s %s", name.c_str(), obstacle.c_str());
        if (!obstacle.empty()) {
            results.skip(name, obstacle);
            continue;
        }
        runner.run(name);
        ++runs;
    }
    if (!options.classes.empty()) runner.write_classes(options.classes, runs);
    if (options.prints_automaton() && !runner.right()) {
        lab::fail("%s is wrong: %s", names[0].c_str(), runner.sentence().c_str());
    }
    if (options.format != "pass" && runner.right())
        write_minimal(automata, runner.found(), options);
    return options.prints_automaton() ? 0 : results.finish();
}

int main(int argc, char** argv) {
    ShortForm words(argc, argv);
    lab::Arguments arguments(words.argc(), words.argv(),
                             "Minimises automata. The first words may also be INPUT [ACTION] "
                             "[OUTPUT], as in: best-case 20000 30 minimize pass");
    Options options;
    read_input_options(arguments, options);
    read_work_options(arguments, options);
    lab::Results results(arguments);
    arguments.finish();
    refuse_contradictions(arguments, options);
    const std::vector<Automaton> automata = make_automata(options);
    if (options.action == "minimize") return minimize(options, automata, results);
    if (options.format != "pass") write_text(automata, options);
    if (!options.prints_automaton()) std::printf("%s\n", size_text(options, automata).c_str());
    return 0;
}
