// Managed memory moves: in pages of 64 KiB, each of which is at the host, at the device, copied at both,
// or nowhere yet. A page that is not where it is touched is closed; the handler of faults brings it over, counts
// that, and opens it. There is one memory in truth, so what moves is the right of access, not the data.
// All pretend devices count as one. Where `make sanitize` and its kin look on, nothing is closed or counted.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>

#include "first_touch.h"

namespace cuda_cpu {

class Paging {
 public:
    static constexpr size_t page_size = 64 << 10;
    enum User { host, device, copies };  // a copy reaches everything where it is, and moves nothing
    enum Advice : uint8_t { read_mostly = 4, prefers_host = 8, accessed_by_device = 16 };

    static Paging& instance() {
        static Paging& paging = *new Paging;
        return paging;
    }

    // From now on begin..end are pages, nowhere yet; `bytes` of them are the program's.
    void add(char* begin, char* end, size_t bytes) {
#ifndef CUDA_CPU_OBSERVED
        const Lock lock(*this);
        const auto last = ranges_ + count_;
        Range* const range = std::find_if(ranges_, last, [](const Range& r) { return !r.living; });
        if (range == ranges_ + most) return;
        traffic_.push_back({bytes, 0, 0, 0, 0});
        range->begin = begin, range->end = end, range->traffic = &traffic_.back();
        range->pages.reset(new uint8_t[range->number_of(end - 1) + 1]());
        range->living = true;
        if (range == last) ++count_;
        protect(*range, begin, end);
#else
        (void)begin, (void)end, (void)bytes;
#endif
    }
    void forget(const char* begin) {
        const Lock lock(*this);
        if (Range* const range = find(begin)) range->living = false;
    }

    // Who touches memory from now on.
    void serve(User user) {
        if (user == user_ || stopped_) return;
        const Lock lock(*this);
        user_ = user;
        for (Range* range = ranges_; range < ranges_ + count_; ++range)
            if (range->living) protect(*range, range->begin, range->end);
    }
    // Everything stays open, and nothing is counted any more.
    void stop() {
        serve(copies);
        stopped_ = true;
    }

    // Whether a fault was one of a page; then it is where it is needed. Is called in the handler of a fault,
    // perhaps on several cores at once.
    bool fault(char* address, bool writes) {
        if (count_ == 0) return false;
        const Lock lock(*this);
        Range* const range = find(address);
        if (range == nullptr) return false;
        uint8_t& page = range->pages[range->number_of(address)];
        const int needed = writes ? PROT_READ | PROT_WRITE : PROT_READ;
        if ((protection_of(page) & needed) != needed) bring(page, writes, *range->traffic);
        char* const chunk = range->begin + static_cast<size_t>(address - range->begin) /
                                               FirstTouch::chunk_bytes * FirstTouch::chunk_bytes;
        if (FirstTouch::instance().is_empty(address) && FirstTouch::instance().touched(address))
            protect(*range, chunk, std::min(chunk + FirstTouch::chunk_bytes, range->end));
        else
            protect(*range, address, address + 1);
        return true;
    }
    // The host is about to touch this in a call of the system, which reports a closed page as an error.
    void touch(const void* start, size_t bytes, bool writes) {
        if (count_ == 0 || user_ != host) return;
        char* const first = static_cast<char*>(const_cast<void*>(start));
        for (size_t at = 0; at < bytes;
             at += std::min(page_size, std::max<size_t>(bytes - at - 1, 1)))
            if (!fault(first + at, writes)) return;
    }

    // A prefetch, in its turn: the pages are at that side, without a fault.
    void prefetch(const void* start, size_t bytes, User to) {
        each_page(start, bytes, [to](uint8_t& page, PageTraffic& traffic) {
            const uint8_t here = bit_of(to);
            if (page & here) return;
            if (page & both) ++(to == device ? traffic.to_device : traffic.to_host);
            page = (page & read_mostly) && (page & both) ? page | here : (page & ~state) | here;
        });
    }
    // What a copy, or setting memory, has filled lies at the device where it lay nowhere.
    void filled(const void* start, size_t bytes) {
        each_page(start, bytes, [](uint8_t& page, PageTraffic&) {
            if ((page & both) == 0) page |= at_device;
        });
    }
    void advise(const void* start, size_t bytes, Advice advice, bool set) {
        each_page(start, bytes, [=](uint8_t& page, PageTraffic&) {
            page = set ? page | advice : page & ~advice;
            if (advice == read_mostly && !set && (page & both) == both) page &= ~at_device;
        });
    }

    // What was counted of the allocation of an address, or of all that ever were, in their order.
    PageTraffic traffic(const void* address) {
        const Lock lock(*this);
        const Range* const range = find(static_cast<const char*>(address));
        return range == nullptr ? PageTraffic{0, 0, 0, 0, 0} : *range->traffic;
    }
    const std::deque<PageTraffic>& traffic() const { return traffic_; }

 private:
    enum State : uint8_t { at_host = 1, at_device = 2, both = 3, mapped = 32, state = 35 };
    struct Range {
        char *begin, *end;
        PageTraffic* traffic;
        std::unique_ptr<uint8_t[]> pages;
        bool living;
        size_t number_of(const char* address) const {
            return static_cast<size_t>(address - begin) / page_size;
        }
    };
    struct Lock {
        explicit Lock(Paging& paging) : flag(paging.lock_) {
            while (flag.test_and_set(std::memory_order_acquire)) {
            }
        }
        ~Lock() { flag.clear(std::memory_order_release); }
        Lock(const Lock&) = delete;
        std::atomic_flag& flag;
    };

    static uint8_t bit_of(User user) { return user == device ? at_device : at_host; }
    Range* find(const char* address) {
        for (Range* range = ranges_; range < ranges_ + count_; ++range)
            if (range->living && address >= range->begin && address < range->end) return range;
        return nullptr;
    }
    template <class Work>
    void each_page(const void* start, size_t bytes, Work work) {
        if (count_ == 0 || bytes == 0) return;
        const Lock lock(*this);
        char* const first = static_cast<char*>(const_cast<void*>(start));
        Range* const range = find(first);
        if (range == nullptr) return;
        for (size_t i = range->number_of(first); i <= range->number_of(first + bytes - 1); ++i)
            work(range->pages[i], *range->traffic);
        protect(*range, first, first + bytes);
    }

    // How a page is open to the one who is served.
    int protection_of(uint8_t page) const {
        if (user_ == copies) return PROT_READ | PROT_WRITE;
        const bool over_the_bus =
            user_ == device && (page & at_host) && (page & (accessed_by_device | mapped));
        if ((page & bit_of(user_)) == 0 && !over_the_bus) return PROT_NONE;
        return (page & both) == both ? PROT_READ : PROT_READ | PROT_WRITE;
    }
    // A page is missing, or is a copy that is to be written: one fault. The host's first touch is none.
    void bring(uint8_t& page, bool writes, PageTraffic& traffic) const {
        const bool to_device = user_ == device;
        const uint8_t here = bit_of(user_), before = page & both;
        if (before != 0 || to_device) ++(to_device ? traffic.device_faults : traffic.host_faults);
        if (to_device && before == at_host && (page & prefers_host)) {
            page |= mapped;
            return;
        }
        if (before != 0 && (before & here) == 0)
            ++(to_device ? traffic.to_device : traffic.to_host);
        if ((page & read_mostly) && !writes)
            page |= here;
        else
            page = ((page & ~state) | here);
    }
    // Opens and closes the pages that hold begin..end as they are to be.
    void protect(Range& range, char* begin, char* end) {
        const size_t last = range.number_of(end - 1);
        for (size_t first = range.number_of(begin), next; first <= last; first = next) {
            const int protection = protection_of(range.pages[first]);
            for (next = first + 1; next <= last && protection_of(range.pages[next]) == protection;)
                ++next;
            char* const stop = std::min(range.begin + next * page_size, range.end);
            if (FirstTouch::instance().protect(range.begin + first * page_size, stop, protection))
                continue;
            // The system has no room for so many pieces: this allocation is not paged any more.
            range.living = false;
            FirstTouch::instance().protect(range.begin, range.end, PROT_READ | PROT_WRITE);
            return;
        }
    }

    static constexpr unsigned int most = 4096;
    Range ranges_[most]{};
    std::atomic<unsigned int> count_{0};
    std::deque<PageTraffic> traffic_;
    std::atomic<User> user_{host};
    bool stopped_ = false;
    std::atomic_flag lock_ = ATOMIC_FLAG_INIT;
};

}  // namespace cuda_cpu
