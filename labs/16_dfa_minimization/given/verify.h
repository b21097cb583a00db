// What goes wrong first, in a sentence. The given code tests what it is handed, so that a mistake shows where
// it is made and not as a broken heap; with --verify it also repeats each step of the tasks' code
// on the host, slowly, and compares.
#pragma once
#ifdef LAB_GIVEN_COMPILED
#pragma interface  // compiled once, in host.cpp
#endif

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "../../../common/lab.h"

// The first sentence about a variant goes to standard error at once, for a crash may follow. Several
// threads may have one at a time.
class FirstFault {
 public:
    FirstFault(const std::string& variant, bool verifies)
        : variant_(variant), verifies_(verifies) {}

    void note(const std::string& sentence) {
        if (!found_.exchange(true)) {
            std::fprintf(stderr, "%s: %s\n", variant_.c_str(), sentence.c_str());
        }
    }
    bool found() const { return found_; }
    bool verifies() const { return verifies_; }

 private:
    std::string variant_;
    bool verifies_;
    std::atomic<bool> found_{false};
};

// Whether the steps of a run are to be repeated and compared; a run without `fault` is not looked at.
inline bool verifies(const FirstFault* fault) {
    return fault && fault->verifies() && !fault->found();
}

template <class T>
std::vector<T> host_copy(const T* d_values, int64_t count) {
    std::vector<T> values(count);
    CHECK(cudaMemcpy(values.data(), d_values, count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
}

// A stable sort by digit, as it should be and as it is. `what` names the task. d_sorted was filled
// with -1 before; where it is wrong it becomes right, so that no one reads places that are none.
inline void verify_sort(FirstFault& fault, const char* what, const int32_t* d_digits,
                        const int32_t* d_order, int32_t* d_sorted, int64_t count, int64_t segment) {
    const std::vector<int32_t> digits = host_copy(d_digits, count),
                               order = host_copy(d_order, count);
    const std::vector<int32_t> sorted = host_copy(d_sorted, count);
    std::vector<int32_t> from(count), place_of(count, -1);  // by place, by state
    for (int64_t i = 0; i < count; ++i) from[i] = place_of[order[i]] = int32_t(i);
    std::stable_sort(from.begin(), from.end(),
                     [&](int32_t a, int32_t b) { return digits[a] < digits[b]; });
    int64_t wrong = 0;
    while (wrong < count && sorted[wrong] == order[from[wrong]]) ++wrong;
    if (wrong == count) return;
    const int32_t found = sorted[wrong], wanted = from[wrong];
    const int64_t empty = std::count(sorted.begin(), sorted.end(), -1);
    std::string says = lab::format("%s: sorted[%lld] is %d", what, (long long)wrong, found);
    if (found == -1) {
        says = lab::format("%s: nothing is moved to sorted[%lld]", what, (long long)wrong);
    } else if (found < 0 || found >= count) {
        says += lab::format(", and the states are 0 to %lld", (long long)count - 1);
    } else if (std::count(sorted.begin(), sorted.end(), found) > 1) {
        says += ", a state that is moved twice";
    } else if (empty > 0) {
        says += lab::format(", and nothing is moved to %lld other places", (long long)empty);
    } else if (digits[place_of[found]] == digits[wanted]) {
        says += ", of the right digit, but states of one digit must keep their order";
    } else {
        says += lab::format(", of digit %d", digits[place_of[found]]);
    }
    fault.note(says +
               lab::format("; state %d belongs there: digit %d, element %lld of segment %lld "
                           "(a segment has %lld elements)",
                           order[wanted], digits[wanted], (long long)(wanted % segment),
                           (long long)(wanted / segment), (long long)segment));
    for (int32_t& place : from) place = order[place];
    CHECK(cudaMemcpy(d_sorted, from.data(), 4 * count, cudaMemcpyHostToDevice));
}

// A table of pairs: each pair has one slot, which holds it, and no other has that slot.
inline void verify_slots(FirstFault& fault, const std::vector<unsigned long long>& pairs,
                         const std::vector<uint32_t>& found,
                         const std::vector<unsigned long long>& held) {
    const std::string what = "TODO 7 in fold.cuh: slot_of_pair";
    std::vector<unsigned long long> sorted = held;
    std::sort(sorted.begin(), sorted.end());
    for (size_t i = 0; i < pairs.size() && !fault.found(); ++i) {
        const std::string pair =
            lab::format("(%u, %u)", unsigned(pairs[i] >> 32), unsigned(pairs[i]));
        const auto copies = std::equal_range(sorted.begin(), sorted.end(), pairs[i]);
        if (found[i] >= held.size()) {
            fault.note(what + lab::format(" returns %u, and there are the slots 0 to %zu", found[i],
                                          held.size() - 1));
        } else if (copies.second - copies.first > 1) {
            fault.note(what +
                       lab::format(" puts the pair %s into %lld slots; where it is already, it "
                                   "is to be found",
                                   pair.c_str(), (long long)(copies.second - copies.first)));
        } else if (held[found[i]] != pairs[i]) {
            fault.note(what +
                       lab::format(" returns slot %u for the pair %s, and that slot holds %s",
                                   found[i], pair.c_str(),
                                   held[found[i]] == ~0ull ? "nothing" : "another"));
        }
    }
}

// The pairs of a folding; which half is the upper one does not matter. held: the slots after it.
inline void verify_pairs(FirstFault& fault, const std::vector<unsigned long long>& pairs,
                         const std::vector<int32_t>& numbers,
                         const std::vector<unsigned long long>& held) {
    for (size_t q = 0; q < pairs.size() && !fault.found(); ++q) {
        const uint32_t slot = uint32_t(numbers[q]);
        const auto swapped = pairs[q] << 32 | pairs[q] >> 32;
        if (slot < held.size() && (held[slot] == pairs[q] || held[slot] == swapped)) continue;
        std::string says = "no slot";
        if (slot < held.size()) says = lab::format("slot %u, which holds 0x%llx", slot, held[slot]);
        if (slot < held.size() && held[slot] == ~0ull)
            says = lab::format("%u, an empty slot", slot);
        fault.note(
            lab::format("TODO 8 in fold.cuh: state %zu has the number %u so far and its target is "
                        "of class %u, so "
                        "the pair is 0x%llx; the state's new number is %s",
                        q, unsigned(pairs[q] >> 32), unsigned(pairs[q]), pairs[q], says.c_str()));
    }
}

// Who remains of the active states: those whose class, named by others[i], has a second one.
inline void verify_remaining(FirstFault& fault, const std::vector<int32_t>& active,
                             const std::vector<int32_t>& others, std::vector<int32_t> remaining) {
    std::vector<int32_t> sorted = others;
    std::sort(sorted.begin(), sorted.end());
    std::sort(remaining.begin(), remaining.end());
    for (size_t i = 0; i < active.size() && !fault.found(); ++i) {
        const auto like = std::equal_range(sorted.begin(), sorted.end(), others[i]);
        const int64_t size = like.second - like.first;
        const bool stays = std::binary_search(remaining.begin(), remaining.end(), active[i]);
        if (stays == (size > 1)) continue;
        const char* const role = others[i] == active[i]
                                     ? "stands for its class"
                                     : "is one of its class, not the one that stands for it,";
        fault.note(
            lab::format("TODO 9 in retire.cuh: state %d %s and the class has %lld %s, yet it %s",
                        active[i], role, (long long)size, size == 1 ? "state" : "states",
                        stays ? "stays among those that may split" : "leaves"));
    }
}
