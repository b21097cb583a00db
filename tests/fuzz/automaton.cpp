// Fuzzes the reader of automata (README.md says how): any bytes are automata, or are refused.
#include "../../solutions/16_dfa_minimization/automaton_file.h"

static void require_complete(const Automaton& automaton) {
    if (automaton.states < 1 || automaton.start < 0 || automaton.start >= automaton.states)
        std::abort();
    if (int64_t(automaton.next.size()) != automaton.states * automaton.symbols) std::abort();
    if (int64_t(automaton.is_final.size()) != automaton.states) std::abort();
    if (int64_t(automaton.names.size()) != automaton.symbols) std::abort();
    for (const int32_t target : automaton.next) {
        if (target < 0 || target >= automaton.states) std::abort();
    }
}

// What is written of an automaton is read as the same one, up to the numbers of its states; from a state
// without symbols that is not final nothing could be written, and the reader makes none.
static void require_same_again(const Automaton& automaton, const std::string& path) {
    const Automaton numbered = numbered_by_breadth(automaton);
    const std::string text = encoded(numbered, false);
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    if (!file || std::fwrite(text.data(), 1, text.size(), file) != text.size()) std::abort();
    if (std::fclose(file) != 0) std::abort();
    const std::vector<Automaton> again = read_automata(path, Completion::Sink);
    if (again.size() != 1 || again[0].next != numbered.next) std::abort();
    if (again[0].is_final != numbered.is_final || again[0].names != numbered.names) std::abort();
    encoded(numbered, true);
    pretty_printed(numbered);
    drawn(numbered);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static const std::string path = lab::format("/dev/shm/fuzzed-%d.txt", int(getpid()));
    if (size < 1) return 0;
    std::FILE* const file = std::fopen(path.c_str(), "wb");  // the first byte is not of the file
    if (!file || std::fwrite(data + 1, 1, size - 1, file) != size - 1) std::abort();
    if (std::fclose(file) != 0) std::abort();
    std::vector<Automaton> automata;
    try {
        automata = read_automata(path, data[0] % 2 ? Completion::Sink : Completion::Loops);
    } catch (const Stopped& stopped) {
        if (stopped.status != 2) std::abort();
    }
    for (const Automaton& automaton : automata) {
        require_complete(automaton);
        require_same_again(automaton, path);
    }
    return 0;
}
