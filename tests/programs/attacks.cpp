// What a dishonest submission may try, one thing at a time and harmless: attacks NAME [PATH or NUMBER].
// Prints "yes" where it was let, "no" where it was refused; tests/test_grade.py says which it must be.
#include <dirent.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

std::string path;
pid_t victim() { return atoi(path.c_str()); }

bool opens(const std::string& name, int flags = O_RDONLY) {
    return open(name.c_str(), flags, 0666) >= 0;
}

bool connects() {
    sockaddr_un address = {AF_UNIX, {}};
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    const int end = socket(AF_UNIX, SOCK_STREAM, 0);
    return end >= 0 && connect(end, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

bool signals_by_owner() {
    const int file = open("own", O_RDWR | O_CREAT, 0666);
    return fcntl(file, F_SETOWN, victim()) == 0 || fcntl(file, F_SETSIG, SIGKILL) == 0;
}

bool runs(const char* program) {
    char* const words[] = {const_cast<char*>(program), const_cast<char*>("-c"),
                           const_cast<char*>("1"), nullptr};
    execv(program, words);
    return false;
}

bool sees_another_process() {
    DIR* const processes = opendir("/proc");
    while (const dirent* entry = processes ? readdir(processes) : nullptr) {
        const int number = atoi(entry->d_name);
        if (number > 1 && number != getpid() &&
            opens("/proc/" + std::to_string(number) + "/cmdline"))
            return true;
    }
    return false;
}

// --- what goes on until a limit ends it; each is bounded -----------------------------------------

bool write_deleted() {
    const std::vector<char> block(8 << 20);
    for (int i = 0; i < 200; ++i) {
        const int file = open("deleted", O_WRONLY | O_CREAT | O_TRUNC, 0666);
        unlink("deleted");
        if (write(file, block.data(), block.size()) < 0) return false;
        usleep(10'000);
    }
    return true;
}

bool write_many() {
    for (int i = 0; i < 20'000; ++i) {
        const int file = open(std::to_string(i).c_str(), O_WRONLY | O_CREAT, 0666);
        if (file >= 0) close(file);
        usleep(100);
    }
    return true;
}

bool write_huge() {
    const int file = open("huge", O_WRONLY | O_CREAT, 0666);
    const std::vector<char> block(1 << 20);
    for (int i = 0; i < 200; ++i) {
        if (write(file, block.data(), block.size()) < 0) return false;
    }
    return true;
}

bool write_over() {
    const int file = open("over", O_WRONLY | O_CREAT, 0666);
    const std::vector<char> block(8 << 20);
    for (int i = 0; i < 150; ++i) {
        if (pwrite(file, block.data(), block.size(), 0) < 0) return false;
        usleep(1'000);
    }
    return true;
}

bool take_memory() {
    for (int i = 0; i < 40; ++i) {
        void* const start =
            mmap(nullptr, 16 << 20, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_PRIVATE, -1, 0);
        if (start == MAP_FAILED) return false;
        for (int byte = 0; byte < 16 << 20; byte += 4096)
            static_cast<volatile char*>(start)[byte] = 1;
        usleep(20'000);
    }
    return true;
}

bool maps_shared() {
    const int zeros = open("/dev/zero", O_RDWR);
    return mmap(nullptr, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED ||
           mmap(nullptr, 4096, PROT_READ, MAP_SHARED, zeros, 0) != MAP_FAILED;
}

// A page read in each 2 MiB costs nothing but the table that it stands in.
bool fill_tables() {
    prctl(PR_SET_NAME, "VmRSS: -9999999");
    const int64_t bytes = int64_t{160} << 30;
    void* const start =
        mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) return false;
    madvise(start, bytes, MADV_NOHUGEPAGE);
    for (int64_t byte = 0; byte < bytes; byte += 2 << 20) {
        static_cast<void>(static_cast<const volatile char*>(start)[byte]);
        if (byte % (int64_t{4} << 30) == 0) usleep(20'000);
    }
    return true;
}

bool start_threads() {
    for (int i = 0; i < 300; ++i) std::thread([] { sleep(5); }).detach();
    sleep(3);
    return true;
}

bool fill_memory_files() {
    const std::vector<char> block(1 << 20);
    int64_t written = 0;
    for (const char* name :
         {"/dev/shm/attack", "/tmp/attack", "/attack", "/dev/attack", "/run/attack"}) {
        const int file = open(name, O_WRONLY | O_CREAT, 0666);
        for (int i = 0; file >= 0 && i < 400 && write(file, block.data(), block.size()) > 0; ++i)
            written++;
        if (file >= 0) unlink(name);
    }
    return written > 300;
}

const std::map<std::string, std::function<bool()>> attacks = {
    {"read", [] { return opens(path); }},
    {"write", [] { return opens(path, O_WRONLY | O_CREAT); }},
    {"write here", [] { return opens("written", O_WRONLY | O_CREAT); }},
    {"look up", [] { return access(path.c_str(), F_OK) == 0; }},
    {"see processes", sees_another_process},
    {"network",
     [] {
         return socket(AF_INET, SOCK_STREAM, 0) >= 0 || socket(AF_INET6, SOCK_DGRAM, 0) >= 0 ||
                socket(AF_NETLINK, SOCK_RAW, 0) >= 0;
     }},
    {"connect", connects},
    {"fork", [] { return fork() >= 0 || vfork() >= 0; }},
    {"python", [] { return runs("/usr/bin/python3"); }},
    {"shell", [] { return runs("/bin/sh"); }},
    {"kill", [] { return kill(victim(), 0) == 0 || kill(-1, 0) == 0 || kill(getppid(), 0) == 0; }},
    {"owner of signals", signals_by_owner},
    {"trace", [] { return ptrace(PTRACE_SEIZE, victim(), 0, 0) == 0; }},
    {"memory of others",
     [] { return opens("/proc/1/mem", O_RDWR) || opens("/proc/" + path + "/mem", O_RDWR); }},
    {"priority", [] { return setpriority(PRIO_PROCESS, static_cast<id_t>(victim()), 10) == 0; }},
    {"affinity",
     [] {
         cpu_set_t one;
         CPU_ZERO(&one);
         CPU_SET(0, &one);
         return sched_setaffinity(victim(), sizeof one, &one) == 0;
     }},
    {"limits of others",
     [] {
         rlimit now;
         return prlimit(victim(), RLIMIT_CORE, nullptr, &now) == 0;
     }},
    {"mode",
     [] {
         opens("own", O_WRONLY | O_CREAT);
         return chmod(path.c_str(), 0600) == 0 || chmod("own", 0) == 0;
     }},
    {"dates", [] { return utime(path.c_str(), nullptr) == 0; }},
    {"attributes", [] { return setxattr(path.c_str(), "user.attack", "1", 1, 0) == 0; }},
    {"folder", [] { return mkdir("folder", 0) == 0; }},
    {"link",
     [] { return symlink("/etc/passwd", "link") == 0 || link("/etc/passwd", "hard") == 0; }},
    {"pipe", [] { return mkfifo("pipe", 0666) == 0; }},
    {"shared memory", [] { return shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600) >= 0; }},
    {"semaphores",
     [] {
         return semget(IPC_PRIVATE, 1, IPC_CREAT | 0600) >= 0 ||
                msgget(IPC_PRIVATE, IPC_CREAT | 0600) >= 0;
     }},
    {"keyring",
     [] { return syscall(SYS_add_key, "user", "attack", "1", 1, KEY_SPEC_USER_KEYRING) >= 0; }},
    {"memory file", [] { return memfd_create("attack", 0) >= 0; }},
    {"namespace", [] { return unshare(CLONE_NEWUSER) == 0 || unshare(CLONE_NEWNS) == 0; }},
    {"outlive", [] { return prctl(PR_SET_PDEATHSIG, 0) == 0 || setsid() >= 0; }},
    {"memory files", fill_memory_files},
    {"deleted files", write_deleted},
    {"many files", write_many},
    {"huge file", write_huge},
    {"overwritten file", write_over},
    {"memory", take_memory},
    {"memory that is shared", maps_shared},
    {"tables of pages", fill_tables},
    {"threads", start_threads},
    {"never ends",
     [] {
         for (;;) pause();
         return true;
     }},
    {"end",
     [] {
         exit(victim());
         return true;
     }},
    {"abort",
     [] {
         abort();
         return true;
     }},
    {"kill itself", [] { return kill(getpid(), SIGKILL) == 0; }},
};

}  // namespace

int main(int count, char** words) {
    path = count > 2 ? words[2] : "";
    puts(attacks.at(words[1])() ? "yes" : "no");
    return 0;
}
