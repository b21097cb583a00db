// Bounds one program that nobody trusts. Two uses, which the grader puts one behind the other, with
// bubblewrap between them where that runs:
//   confine watch  [OPTION]... -- COMMAND  starts the command and ends it when it breaks a limit
//   confine inside [OPTION]... -- PROGRAM  gives up what the program does not need, and becomes it
// `confine --help` lists the options.
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <sched.h>
#include <signal.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <system_error>
#include <vector>

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int own_failure = 125;
constexpr int64_t mebi = 1 << 20;
constexpr int most_files = 1'000, most_tasks = 100, most_open_files = 128;

struct Options {
    std::vector<std::string> readable, writable;
    int64_t seconds = 0;            // 0: no limit
    int64_t processor_seconds = 0;  // of one process
    int64_t memory_mib = 2048;      // of all processes together
    int64_t file_mib = 128;
    int64_t folder_mib = 512;  // of all that is written
    bool landlock = false, tools = false, gpu = false;
    std::string at = ".";  // where it is started
    char** command = nullptr;
};

[[noreturn]] void fail(const std::string& what) {
    const int error = errno;
    dprintf(2, "confine: %s%s%s\n", what.c_str(), error ? ": " : "", error ? strerror(error) : "");
    _exit(own_failure);
}

void require(bool holds, const std::string& what) {
    if (!holds) fail(what);
}

// --- a view of the files by Landlock -------------------------------------------------------------

// Stated here, because headers of older systems have none or a part of it. The numbers of the calls
// are the same everywhere.
namespace landlock {

constexpr long create_ruleset = 444, add_rule = 445, restrict_self = 446;
constexpr uint64_t execute = 1, write_file = 2, read_file = 4, read_folder = 8, truncate = 1 << 14;
constexpr uint64_t remove_file = 1 << 5, make_file = 1 << 8;
constexpr uint64_t of_files = execute | write_file | read_file | truncate;

struct __attribute__((packed)) Beneath {
    uint64_t allowed;
    int32_t parent;
};

uint64_t handled_rights(long version) {
    const uint64_t of_version[] = {0x1fff, 0x3fff, 0x7fff};  // links across folders, truncation
    return of_version[std::clamp(version, 1L, 3L) - 1];
}

void restrict_view(const Options& options) {
    const long version = syscall(create_ruleset, nullptr, 0, 1);
    require(version > 0, "this kernel has no Landlock");
    const uint64_t handled = handled_rights(version);
    const int ruleset = static_cast<int>(syscall(create_ruleset, &handled, sizeof handled, 0));
    require(ruleset >= 0, "Landlock does not start");
    const auto allow = [&](const std::string& path, uint64_t rights) {
        const int file = open(path.c_str(), O_PATH | O_CLOEXEC);
        if (file < 0) return;  // not every system has every folder
        struct stat state;
        if (fstat(file, &state) == 0 && !S_ISDIR(state.st_mode)) rights &= of_files;
        const Beneath rule = {rights & handled, file};
        require(syscall(add_rule, ruleset, 1, &rule, 0) == 0, "Landlock does not take " + path);
        close(file);
    };
    const uint64_t folders =
        options.tools ? ~0ULL : of_files | read_folder | remove_file | make_file;
    for (const auto& path : options.readable) allow(path, execute | read_file | read_folder);
    for (const auto& path : options.writable) allow(path, folders);
    for (const char* path :
         {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}) {
        allow(path, read_file | write_file);
    }
    // Its own process and the machine's memory, and no other process.
    for (const char* path : {"/proc/self", "/proc/meminfo", "/proc/cpuinfo", "/proc/sys/vm"}) {
        allow(path, read_file | read_folder);
    }
    require(syscall(restrict_self, ruleset, 0) == 0, "Landlock does not hold");
    close(ruleset);
}

}  // namespace landlock

// --- the calls that a program may make -----------------------------------------------------------

#if defined(__x86_64__)
constexpr uint32_t architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t architecture = AUDIT_ARCH_AARCH64;
#else
#error "confine knows x86-64 and 64-bit Arm"
#endif

// clang-format off

// What a program of a lab needs: memory, threads, plain files, the time. No other process, no socket,
// no pipe, no folder, no mode or owner of a file, nothing that outlives the program but files.
constexpr long calls_of_programs[] = {
    SYS_brk, SYS_mmap, SYS_munmap, SYS_mprotect, SYS_mremap, SYS_madvise, SYS_futex, SYS_rseq, SYS_exit,
    SYS_exit_group, SYS_set_tid_address, SYS_set_robust_list, SYS_sched_yield, SYS_sched_getaffinity,
    SYS_getpid, SYS_gettid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_uname, SYS_sysinfo,
    SYS_getrusage, SYS_times, SYS_getrandom, SYS_clock_gettime, SYS_clock_getres, SYS_gettimeofday,
    SYS_nanosleep, SYS_clock_nanosleep, SYS_restart_syscall, SYS_rt_sigaction, SYS_rt_sigprocmask,
    SYS_rt_sigreturn, SYS_sigaltstack, SYS_getcwd, SYS_openat, SYS_close, SYS_read, SYS_write, SYS_readv,
    SYS_writev, SYS_pread64, SYS_pwrite64, SYS_lseek, SYS_fstat, SYS_newfstatat, SYS_statx, SYS_faccessat,
    439 /* faccessat2 */, SYS_readlinkat, SYS_unlinkat, SYS_renameat, SYS_ftruncate, SYS_fsync,
    SYS_fadvise64, SYS_getdents64, SYS_dup, SYS_dup3, SYS_execve,
#if defined(__x86_64__)
    SYS_arch_prctl, SYS_open, SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_unlink, SYS_rename,
    SYS_dup2, SYS_time,
#endif
};

// What a compiler needs besides: it starts others, and makes folders.
constexpr long calls_of_tools[] = {
    SYS_wait4, SYS_waitid, SYS_pipe2, SYS_getppid, SYS_mkdirat, SYS_fchmod, SYS_fchmodat, SYS_umask, SYS_chdir,
    SYS_fchdir, SYS_utimensat, SYS_copy_file_range, SYS_sendfile, SYS_getgroups, SYS_statfs, SYS_fstatfs,
    SYS_ioctl, SYS_fcntl, SYS_getpgid, SYS_fgetxattr, SYS_getxattr, SYS_lgetxattr, SYS_symlinkat, SYS_linkat,
    SYS_truncate, SYS_flock, SYS_renameat2, SYS_rt_sigsuspend, SYS_ppoll, SYS_pselect6,
#if defined(__x86_64__)
    SYS_fork, SYS_vfork, SYS_pipe, SYS_mkdir, SYS_rmdir, SYS_chmod, SYS_getpgrp, SYS_poll, SYS_select,
    SYS_symlink, SYS_link,
#endif
};

// What a card's driver needs besides: sockets that it listens at, and none that it could connect.
constexpr long calls_of_drivers[] = {
    SYS_ppoll, SYS_pipe2, SYS_eventfd2, SYS_mlock, SYS_munlock, SYS_get_mempolicy,
    SYS_set_mempolicy, SYS_mbind, SYS_statfs, SYS_fstatfs, SYS_bind, SYS_listen, SYS_setsockopt,
    SYS_sched_get_priority_max, SYS_sched_get_priority_min,
#if defined(__x86_64__)
    SYS_poll,
#endif
};
// clang-format on

class Filter {
 public:
    Filter() {
        load(offsetof(seccomp_data, arch));
        add(BPF_JMP | BPF_JEQ | BPF_K, architecture, 1, 0);
        add(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
        load(offsetof(seccomp_data, nr));
    }

    void answer(long call, uint32_t what = SECCOMP_RET_ALLOW) {
        add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, 1);
        add(BPF_RET | BPF_K, what);
    }

    // Allowed if one argument has one of these values, or, the other way round, none of them.
    void judge(long call, int argument, const std::vector<uint32_t>& values, bool allowed = true) {
        constexpr uint32_t allow = SECCOMP_RET_ALLOW, refuse = SECCOMP_RET_ERRNO | EPERM;
        const auto count = static_cast<uint8_t>(values.size());
        add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, count + 3);
        load(offsetof(seccomp_data, args) + 8 * argument);
        for (uint8_t i = 0; i < count; ++i) {
            add(BPF_JMP | BPF_JEQ | BPF_K, values[i], count - i);
        }
        add(BPF_RET | BPF_K, allowed ? refuse : allow);
        add(BPF_RET | BPF_K, allowed ? allow : refuse);
    }

    // Allowed if one of these bits of an argument is set or, with `wanted` off, none of them.
    void judge_bits(long call, int argument, uint32_t bits, bool wanted) {
        add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, 4);
        load(offsetof(seccomp_data, args) + 8 * argument);
        add(BPF_JMP | BPF_JSET | BPF_K, bits, wanted ? 1 : 0, wanted ? 0 : 1);
        add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
        add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }

    void install() {
        add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
        const sock_fprog program = {static_cast<unsigned short>(code_.size()), code_.data()};
        require(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0,
                "seccomp does not start");
    }

 private:
    void add(uint16_t operation, uint32_t value, uint8_t if_true = 0, uint8_t if_false = 0) {
        code_.push_back({operation, if_true, if_false, value});
    }
    void load(size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset)); }

    std::vector<sock_filter> code_;
};

// Whatever is not named is refused. A namespace is made by nobody.
void filter_calls(const Options& options) {
    Filter filter;
    const auto self = static_cast<uint32_t>(getpid());
    constexpr uint32_t namespaces = 0x7e020000;
    // Shared memory that a program has dropped from its view stays, and counts nowhere. A card's
    // driver and linkers need it.
    if (!options.tools && !options.gpu) filter.judge_bits(SYS_mmap, 3, MAP_SHARED, false);
    for (const long call : calls_of_programs) filter.answer(call);
    constexpr long clone3 = 435;
    filter.answer(clone3, SECCOMP_RET_ERRNO | ENOSYS);  // the C library then takes clone
    if (options.tools) {
        for (const long call : calls_of_tools) filter.answer(call);
        filter.judge_bits(SYS_clone, 0, namespaces, false);
    }
    if (options.gpu) {
        for (const long call : calls_of_drivers) filter.answer(call);
        filter.judge(SYS_socket, 0, {AF_UNIX});
        filter.judge(SYS_ioctl, 1, {FIOSETOWN, SIOCSPGRP}, false);
        filter.judge(SYS_fcntl, 1, {F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETLEASE, F_NOTIFY}, false);
    }
    filter.judge_bits(SYS_clone, 0, CLONE_THREAD, true);
    filter.judge(SYS_kill, 0, {self});
    filter.judge(SYS_tgkill, 0, {self});
    filter.judge(SYS_prlimit64, 0, {0, self});
    filter.judge(SYS_ioctl, 1, {TCGETS});
    filter.judge(SYS_fcntl, 1, {F_GETFD, F_SETFD, F_GETFL, F_DUPFD, F_DUPFD_CLOEXEC});
    filter.install();
}

// --- inside --------------------------------------------------------------------------------------

void limit(int resource, int64_t value) {
    const rlim_t wished = static_cast<rlim_t>(value);
    rlimit now;
    require(getrlimit(static_cast<__rlimit_resource>(resource), &now) == 0, "cannot read a limit");
    now.rlim_cur = now.rlim_max = std::min(now.rlim_max, wished);
    require(setrlimit(static_cast<__rlimit_resource>(resource), &now) == 0, "cannot set a limit");
}

constexpr const char* user_variable = "CONFINE_USER";  // from watch to inside

void end_with_parent() {
    require(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0, "cannot end with what has started it");
}

// What root runs becomes the user that the folder has been handed over to.
void become_user() {
    const char* const name = getenv(user_variable);
    const unsigned user = name ? static_cast<unsigned>(atoi(name)) : 0;
    require(user != 0, "root has to become another user, whom confine watch names");
    unsetenv(user_variable);
    require(setgroups(0, nullptr) == 0 && setresgid(user, user, user) == 0 &&
                setresuid(user, user, user) == 0,
            "cannot become another user");
    end_with_parent();  // which a new user forgets
}

[[noreturn]] void become_program(const Options& options) {
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, options.file_mib * mebi);
    limit(RLIMIT_NOFILE, most_open_files);
    if (options.processor_seconds) limit(RLIMIT_CPU, options.processor_seconds);
    // Address space is cheap, and a CUDA driver reserves all there is: a card excludes this limit.
    if (!options.gpu) limit(RLIMIT_DATA, 2 * options.memory_mib * mebi);
    for (int file = 3; file < most_open_files; ++file) close(file);
    std::ofstream("/proc/self/oom_score_adj") << 1000;  // if memory runs out, this one goes first
    if (geteuid() == 0) become_user();
    require(chdir(options.at.c_str()) == 0, "cannot enter " + options.at);
    require(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "cannot give up privileges");
    if (options.landlock) landlock::restrict_view(options);
    filter_calls(options);
    execvp(options.command[0], options.command);
    fail(std::string("cannot start ") + options.command[0]);
}

// --- watching ------------------------------------------------------------------------------------

struct Usage {
    int64_t tasks = 0, memory_bytes = 0, written_bytes = 0;
};

// Adds a process and all that it has started.
void add_usage(const std::string& process, Usage& usage) {
    const std::string folder = "/proc/" + process;
    std::ifstream memory(folder + "/status");
    for (std::string line; std::getline(memory, line);) {
        for (const char* name : {"VmRSS:", "VmSwap:", "VmPTE:"}) {  // the tables of its pages, too
            if (line.rfind(name, 0) == 0) {
                usage.memory_bytes += 1024 * strtoll(line.c_str() + strlen(name), nullptr, 10);
            }
        }
    }
    std::ifstream counters(folder + "/io");
    int64_t written = 0, most = 0;  // a disk that is memory has its writes in wchar alone
    for (std::string name; counters >> name >> written;) {
        if (name == "write_bytes:" || name == "wchar:") most = std::max(most, written);
    }
    usage.written_bytes += most;
    std::error_code error;
    for (fs::directory_iterator task(folder + "/task", error), end; !error && task != end;
         task.increment(error)) {
        usage.tasks++;
        std::ifstream list(task->path() / "children");
        for (std::string child; list >> child && usage.tasks < 10'000;) add_usage(child, usage);
    }
}

int64_t files_in(const std::string& folder) {
    std::error_code error;
    int64_t count = 0;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
        count++;
    }
    return count;
}

// Which limit is broken, in words; empty if none. What is written counts from the first byte on, so no
// file escapes that is deleted meanwhile.
std::string broken_limit(const Options& options, pid_t first, Clock::time_point started,
                         unsigned user) {
    Usage usage;
    setfsgid(user);  // in a container root may not look into the processes of others, and they may
    setfsuid(user);
    add_usage(std::to_string(first), usage);
    setfsuid(geteuid());
    setfsgid(getegid());
    const auto more_than = [](int64_t number, const char* what) {
        return "more than " + std::to_string(number) + what;
    };
    if (options.seconds && Clock::now() - started > std::chrono::seconds(options.seconds)) {
        return "not finished after " + std::to_string(options.seconds) + " seconds";
    }
    if (usage.tasks > most_tasks) return more_than(most_tasks, " processes and threads");
    if (usage.memory_bytes > options.memory_mib * mebi) {
        return more_than(options.memory_mib, " MiB of memory");
    }
    if (usage.written_bytes > options.folder_mib * mebi) {
        return more_than(options.folder_mib, " MiB of files");
    }
    for (const auto& folder : options.writable) {
        if (files_in(folder) > most_files) return more_than(most_files, " files");
    }
    return "";
}

// Whom root becomes: somebody whom nobody else is, a new one for each program. Containers know no
// users beyond 65535.
unsigned another_user() { return 20'000 + static_cast<unsigned>(getpid()) % 40'000; }

void hand_over(const std::string& folder, unsigned user) {
    std::error_code error;
    require(lchown(folder.c_str(), user, user) == 0, "cannot hand over " + folder);
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        require(lchown(entry.path().c_str(), user, user) == 0, "cannot hand over a file");
    }
}

[[noreturn]] void start(const Options& options, pid_t watcher) {
    setpgid(0, 0);
    [[maybe_unused]] const int level = nice(5);
    end_with_parent();
    if (getppid() != watcher) _exit(own_failure);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    execvp(options.command[0], options.command);
    fail(std::string("cannot start ") + options.command[0]);
}

// Ends as the command has ended; bubblewrap and shells say 128 + n for signal n.
int end_as(int status) {
    const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    if (code > 128 && code <= 128 + SIGSYS) {
        signal(code - 128, SIG_DFL);
        raise(code - 128);
    }
    return code;
}

int watch(const Options& options) {
    limit(RLIMIT_CORE, 0);
    sigset_t awaited;
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGCHLD);
    sigprocmask(SIG_BLOCK, &awaited, nullptr);
    const unsigned user = geteuid() == 0 ? another_user() : 0;
    if (user) {
        setenv(user_variable, std::to_string(user).c_str(), 1);
        for (const auto& folder : options.writable) hand_over(folder, user);
    }
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    const auto started = Clock::now();
    const pid_t watcher = getpid(), child = fork();
    require(child >= 0, "cannot fork");
    if (child == 0) start(options, watcher);
    setpgid(child, child);

    std::string broken;
    int status = 0;
    int64_t nap_ms = 5;
    while (waitpid(child, &status, WNOHANG) == 0 && broken.empty()) {
        const timespec nap = {0, nap_ms * 1'000'000};
        if (sigtimedwait(&awaited, nullptr, &nap) >= 0) continue;
        broken = broken_limit(options, child, started, user ? user : geteuid());
        nap_ms = std::min<int64_t>(nap_ms * 2, 20);
    }
    kill(-child, SIGKILL);  // nobody has been able to leave this group
    while (waitpid(-1, nullptr, 0) > 0) continue;
    if (broken.empty()) return end_as(status);
    dprintf(2, "confine: %s: ended\n", broken.c_str());
    return end_as(SIGKILL);
}

// --- the command line ----------------------------------------------------------------------------

constexpr const char* usage =
    "Usage: confine watch  [OPTION]... -- COMMAND [ARGUMENT]...\n"
    "       confine inside [OPTION]... -- PROGRAM [ARGUMENT]...\n"
    "       confine try PATH\n"
    "watch starts a command, as another user if root asks, and ends it when it breaks a limit;\n"
    "inside gives up what a program does not need, and becomes it; try, started there, ends with 0 "
    "if\n"
    "the file cannot be read, no process be started and no network be reached. 125: confine has "
    "failed.\n"
    "  --write PATH        a folder that it may write to (repeatable); --here: the current one\n"
    "  --memory MIB        of all its processes (2048)\n"
    "watch:\n"
    "  --seconds N         it is ended after so long\n"
    "  --folder-size MIB   of all that it writes (512)\n"
    "inside:\n"
    "  --at FOLDER         where it is started\n"
    "  --read PATH         what it may see (repeatable), if --landlock hides the rest\n"
    "  --processor-seconds N, --file-size MIB   of one process, of one file (128)\n"
    "  --tools             it is a compiler, which starts others\n"
    "  --gpu               it talks to a card's driver\n";

[[noreturn]] void refuse(const std::string& sentence) {
    fprintf(stderr, "confine: %s (confine --help lists the options)\n", sentence.c_str());
    exit(2);
}

int64_t number_from(const std::string& option, const char* text) {
    char* end = nullptr;
    const int64_t number = strtoll(text, &end, 10);
    if (end == text || *end || number < 0 || number > 1'000'000'000) {
        refuse(option + " takes a number, not " + text);
    }
    return number;
}

Options parse(int count, char** words) {
    Options options;
    const std::map<std::string, bool*> flags = {
        {"--landlock", &options.landlock}, {"--tools", &options.tools}, {"--gpu", &options.gpu}};
    const std::map<std::string, int64_t*> numbers = {
        {"--seconds", &options.seconds},
        {"--processor-seconds", &options.processor_seconds},
        {"--memory", &options.memory_mib},
        {"--file-size", &options.file_mib},
        {"--folder-size", &options.folder_mib}};
    const std::map<std::string, std::vector<std::string>*> lists = {{"--read", &options.readable},
                                                                    {"--write", &options.writable}};
    int i = 2;
    for (; i < count && strcmp(words[i], "--") != 0; i++) {
        const std::string word = words[i];
        if (word == "--here") {
            options.writable.push_back(fs::current_path());
        } else if (word == "--at" && i + 1 < count) {
            options.at = words[++i];
        } else if (flags.count(word)) {
            *flags.at(word) = true;
        } else if (i + 1 >= count || !(numbers.count(word) || lists.count(word))) {
            refuse(word + " is unknown, or needs a value");
        } else if (numbers.count(word)) {
            *numbers.at(word) = number_from(word, words[++i]);
        } else {
            lists.at(word)->push_back(words[++i]);
        }
    }
    if (i + 1 >= count) refuse("no program is named");
    options.command = words + i + 1;
    return options;
}

// Does confinement hold where this runs?
int try_to_break_out(const char* path) {
    if (open(path, O_RDONLY) >= 0) fail(std::string(path) + " can be read");
    if (fork() >= 0) fail("a process can be started");
    if (socket(AF_INET, SOCK_STREAM, 0) >= 0) fail("the network can be reached");
    return 0;
}

}  // namespace

int main(int count, char** words) {
    const std::string use = count > 1 ? words[1] : "--help";
    if (use == "watch") return watch(parse(count, words));
    if (use == "inside") become_program(parse(count, words));
    if (use == "try" && count == 3) return try_to_break_out(words[2]);
    if (use != "--help") refuse("watch, inside or try is wanted, not " + use);
    fputs(usage, stdout);
    return 0;
}
