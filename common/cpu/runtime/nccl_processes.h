// Ranks of NCCL in several processes of one machine: they meet at a piece of shared memory, where each ordered pair of
// ranks has a box through which its messages go, piece by piece.
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include "report.h"

namespace cuda_cpu {

constexpr std::chrono::seconds nccl_patience{10};

class Meeting {
 public:
    // What one rank sends to another or receives from it. Both sides must say the same of it.
    struct Message {
        int other;
        char* data;
        size_t bytes;
        bool is_sent;
        size_t done = 0;
        bool begun = false;
    };

    static constexpr int most = 32;

    Meeting(const std::string& id, int ranks, int rank)
        : ranks_(ranks), rank_(rank), name_("/cuda_cpu_nccl_" + id) {
        const int file = shm_open(name_.c_str(), O_RDWR | O_CREAT, 0600);
        bytes_ = sizeof(Board) + sizeof(Box) * static_cast<size_t>(ranks * ranks);
        void* memory = MAP_FAILED;
        if (file >= 0 && ftruncate(file, static_cast<off_t>(bytes_)) == 0)
            memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (file >= 0) close(file);
        if (memory == MAP_FAILED)
            stop(
                "NCCL in CPU mode: there is no shared memory for the ranks to meet in (/dev/shm).");
        board_ = static_cast<Board*>(memory);
        boxes_ = reinterpret_cast<Box*>(board_ + 1);
        int nobody = 0;
        is_twice_ = !board_->processes[rank].compare_exchange_strong(nobody, getpid());
    }

    ~Meeting() { munmap(board_, bytes_); }
    Meeting(const Meeting&) = delete;
    Meeting& operator=(const Meeting&) = delete;

    bool is_twice() const { return is_twice_; }
    // Waits for the other ranks. How many have come, in time.
    int come() {
        int present = 0;
        const auto all = [&] {
            present = 0;
            for (int other = 0; other < ranks_; ++other) present += process(other) != 0;
            return present == ranks_;
        };
        wait(all);
        if (present == ranks_) shm_unlink(name_.c_str());  // who has come holds it
        return present;
    }
    int in_this_process() const {
        int here = 0;
        for (int other = 0; other < ranks_; ++other) here += process(other) == getpid();
        return here;
    }

    // Carries all messages to their ends, those of the others beside them.
    void exchange(const char* function, std::vector<Message> messages) {
        size_t left = messages.size();
        auto last = std::chrono::steady_clock::now();
        while (left > 0) {
            bool moved = false;
            left = 0;
            for (Message& message : messages) {
                if (finished(message)) continue;
                ++left;
                moved |= step(function, message);
            }
            const auto now = std::chrono::steady_clock::now();
            if (moved) last = now;
            if (moved || left == 0) continue;
            for (const Message& message : messages)
                if (!finished(message)) require_alive(function, message.other, now - last);
            sched_yield();
        }
    }

 private:
    struct Board {
        std::atomic<int> processes[most];
    };
    struct Box {
        std::atomic<uint32_t> full;
        char function[28];
        size_t total, bytes;
        char data[1 << 16];
    };

    int process(int rank) const { return board_->processes[rank]; }
    static bool finished(const Message& m) { return m.begun && m.done == m.bytes; }

    template <class Condition>
    static bool wait(const Condition& condition) {
        const auto end = std::chrono::steady_clock::now() + nccl_patience;
        while (!condition()) {
            if (std::chrono::steady_clock::now() > end) return false;
            usleep(200);
        }
        return true;
    }

    // The next piece of a message, if its box is free, or full. Whether there was one.
    bool step(const char* function, Message& m) {
        const int from = m.is_sent ? rank_ : m.other, to = m.is_sent ? m.other : rank_;
        Box& box = boxes_[from * ranks_ + to];
        if ((box.full.load(std::memory_order_acquire) != 0) == m.is_sent) return false;
        const size_t piece = std::min(m.bytes - m.done, sizeof box.data);
        const bool between_two = std::strcmp(function, "ncclSend") == 0;
        if (m.is_sent) {
            std::strncpy(box.function, function, sizeof box.function - 1);
            box.total = m.bytes;
            box.bytes = piece;
            if (piece > 0) std::memcpy(box.data, m.data + m.done, piece);
        } else {
            if (!between_two && std::strcmp(box.function, function) != 0)
                stop(format("NCCL: rank %d calls %s, rank %d %s.", m.other, box.function, rank_,
                            function));
            if (box.total != m.bytes)
                stop(format("NCCL: in %s rank %d sends %zu bytes to rank %d, which expects %zu.",
                            box.function, m.other, box.total, rank_, m.bytes));
            if (piece > 0) std::memcpy(m.data + m.done, box.data, piece);
        }
        m.begun = true;
        m.done += piece;
        box.full.store(m.is_sent ? 1 : 0, std::memory_order_release);
        return true;
    }

    void require_alive(const char* function, int other, std::chrono::nanoseconds waited) const {
        if (kill(process(other), 0) != 0)
            stop(format("NCCL: rank %d waits in %s for rank %d, whose process has ended.", rank_,
                        function, other));
        if (waited > nccl_patience)
            stop(
                format("NCCL: rank %d waits in %s for rank %d, which has not come for 10 seconds. "
                       "Each rank must make the same calls.",
                       rank_, function, other));
    }

    int ranks_, rank_;
    std::string name_;
    size_t bytes_;
    bool is_twice_;
    Board* board_;
    Box* boxes_;
};

}  // namespace cuda_cpu
