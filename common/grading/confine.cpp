// Runs one program that nobody trusts: bounded in time, memory, processes and files, without a
// network, with a view of the files that it needs and no others. It takes no new privileges: it uses
// namespaces where the system lets a user have them, otherwise Landlock, and always resource limits
// and a seccomp filter. `confine --help` lists the options, `confine --probe` says what works here.
//
// Three processes stand between the caller and the program:
//   front       what the caller waits for; ends as the program ends, by the same status or signal
//   supervisor  watches, and ends everything that was started, daemons too; outlives a killed front
//   init        the first process of a PID namespace (where there is one): its end is everybody's end
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
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
#include <new>
#include <string>
#include <system_error>
#include <vector>

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int own_failure = 125;
constexpr int64_t mebi = 1 << 20;

enum class Level { limits, landlock, namespaces };
constexpr const char* level_names[] = {"limits", "landlock", "namespaces"};

struct Options {
    Level level = Level::namespaces;
    std::vector<std::string> readable, writable;
    int64_t seconds = 0;            // 0: no limit
    int64_t processor_seconds = 0;  // of one process
    int64_t memory_mib = 2048;      // of all processes together
    int64_t processes = 100;        // and threads
    int64_t file_mib = 128;
    int64_t folder_mib = 512;  // of what lies in the writable folders
    int64_t files = 1'000;
    int user = -1;  // whom root becomes
    bool gpu = false;
    bool probe = false;
    char** program = nullptr;
};

// What the processes tell each other.
struct Shared {
    volatile int status;  // of the program, as wait() gives it
    volatile bool ended;
};
Shared* shared = nullptr;

[[noreturn]] void fail(const std::string& what) {
    const int error = errno;
    dprintf(2, "confine: %s%s%s\n", what.c_str(), error ? ": " : "", error ? strerror(error) : "");
    _exit(own_failure);
}

void require(bool holds, const std::string& what) {
    if (!holds) fail(what);
}

bool write_text(const char* path, const std::string& text) {
    const int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) return false;
    const bool written = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    close(file);
    return written;
}

// --- a view of the files by a mount namespace ----------------------------------------------------

#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442  // the same number on x86-64 and 64-bit Arm
#endif

// A bind mount with everything below it; `attributes` are MOUNT_ATTR_... of mount_setattr.
void bind_mount(const std::string& from, const std::string& to, uint64_t attributes) {
    struct {
        uint64_t set, clear, propagation, user_namespace;
    } change = {attributes, 0, 0, 0};
    require(mount(from.c_str(), to.c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0,
            "cannot show " + to);
    constexpr int recursive = 0x8000;  // AT_RECURSIVE
    require(
        syscall(SYS_mount_setattr, AT_FDCWD, to.c_str(), recursive, &change, sizeof change) == 0,
        "cannot protect " + to);
}

constexpr uint64_t attribute_read_only = 1, attribute_no_setuid = 2, attribute_no_devices = 4;

// Makes `path` of the old root visible in the new one: as a link where it is one, else by a mount.
void show(const std::string& old_root, const std::string& new_root, const std::string& path,
          uint64_t attributes, bool again = false) {
    struct stat state;
    const std::string from = old_root + path, to = new_root + path;
    if (lstat(from.c_str(), &state) != 0) return;  // not every system has every folder
    if (!again && access(to.c_str(), F_OK) == 0) return;
    std::error_code ignored;
    fs::create_directories(fs::path(to).parent_path(), ignored);
    if (S_ISLNK(state.st_mode)) {
        const fs::path target = fs::read_symlink(from, ignored);
        fs::create_symlink(target, to, ignored);
        const fs::path absolute = (fs::path(path).parent_path() / target).lexically_normal();
        show(old_root, new_root, absolute.string(), attributes);
        return;
    }
    if (S_ISDIR(state.st_mode)) {
        fs::create_directory(to, ignored);
    } else {
        close(open(to.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
    }
    bind_mount(from, to, attributes);
}

void mount_memory(const std::string& path, const char* options) {
    mkdir(path.c_str(), 0755);
    require(mount("tmpfs", path.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, options) == 0,
            "cannot mount a temporary folder");
}

std::vector<std::string> devices(const Options& options) {
    std::vector<std::string> paths = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                      "/dev/urandom"};
    if (!options.gpu) return paths;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator("/dev", ignored)) {
        if (entry.path().filename().string().rfind("nvidia", 0) == 0) paths.push_back(entry.path());
    }
    paths.push_back("/dev/dxg");  // the card under WSL 2
    return paths;
}

// Replaces the root by an empty folder in which only what the options name is shown.
void restrict_view(const Options& options) {
    const std::string here = fs::current_path().string();
    const auto shown_devices = devices(options);
    require(unshare(CLONE_NEWNS) == 0, "cannot have a view of its own");
    require(mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0, "cannot part mounts");
    mount_memory("/tmp", "mode=0755,size=16m");
    require(mkdir("/tmp/old", 0755) == 0 && mkdir("/tmp/new", 0755) == 0, "cannot make folders");
    require(mount("/tmp/new", "/tmp/new", nullptr, MS_BIND, nullptr) == 0, "cannot make a root");
    require(chdir("/tmp") == 0 && syscall(SYS_pivot_root, ".", "old") == 0,
            "cannot leave the root");
    require(chdir("/") == 0, "cannot enter the root");

    const std::string old_root = "/old", new_root = "/new";
    mount_memory(new_root + "/tmp", "mode=1777,size=256m");
    // Links come last: /lib must not show /usr/lib before /usr is there as a whole.
    for (const bool links : {false, true}) {
        for (const std::string& path : options.readable) {
            if (fs::is_symlink(old_root + path) != links) continue;
            show(old_root, new_root, path, attribute_read_only | attribute_no_setuid);
        }
    }
    for (const std::string& path : options.writable) {
        show(old_root, new_root, path, attribute_no_setuid | attribute_no_devices, true);
    }
    mount_memory(new_root + "/dev", "mode=0755,size=1m");
    mount_memory(new_root + "/dev/shm", "mode=1777,size=64m");
    for (const std::string& path : shown_devices) {
        show(old_root, new_root, path, attribute_no_setuid);
    }
    const std::string proc = new_root + "/proc";
    mkdir(proc.c_str(), 0555);
    // Inside a container that hides parts of /proc a new one is refused; the old one then serves.
    if (mount("proc", proc.c_str(), "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0) {
        bind_mount(old_root + "/proc", proc, attribute_read_only);
    }
    if (options.gpu) show(old_root, new_root, "/sys", attribute_read_only);

    require(chdir("/new") == 0 && syscall(SYS_pivot_root, ".", ".") == 0, "cannot enter the view");
    require(umount2(".", MNT_DETACH) == 0 && chdir("/") == 0, "cannot hide the rest");
    require(
        mount(nullptr, "/", nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID, nullptr) == 0,
        "cannot protect the root");
    require(chdir(here.c_str()) == 0, "cannot enter " + here);
}

// A user namespace makes an ordinary user master of the other namespaces, and of nothing else.
void enter_namespaces() {
    const unsigned user = geteuid(), group = getegid();
    const int kinds = CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;
    if (user == 0) {
        require(unshare(kinds) == 0, "cannot have namespaces");
        return;
    }
    require(unshare(CLONE_NEWUSER | kinds) == 0, "cannot have namespaces");
    const auto map = [](unsigned id) {
        return std::to_string(id) + " " + std::to_string(id) + " 1";
    };
    require(write_text("/proc/self/setgroups", "deny") &&
                write_text("/proc/self/uid_map", map(user)) &&
                write_text("/proc/self/gid_map", map(group)),
            "cannot map the user");
}

// --- a view of the files by Landlock -------------------------------------------------------------

// Stated here, because headers of older systems have none or a part of it. The numbers of the calls
// are the same everywhere.
namespace landlock {

constexpr long create_ruleset = 444, add_rule = 445, restrict_self = 446;
constexpr uint64_t execute = 1, write_file = 2, read_file = 4, read_folder = 8, truncate = 1 << 14;
constexpr uint64_t of_files = execute | write_file | read_file | truncate;

struct Ruleset {
    uint64_t files, network, scoped;
};

struct __attribute__((packed)) Beneath {
    uint64_t allowed;
    int32_t parent;
};

long version() { return syscall(create_ruleset, nullptr, 0, 1); }

uint64_t handled_rights() {
    const uint64_t of_version[] = {0x1fff, 0x3fff, 0x7fff};  // links across folders, truncation
    return of_version[std::clamp(version(), 1L, 3L) - 1];
}

void allow(int ruleset, const std::string& path, uint64_t rights) {
    const int file = open(path.c_str(), O_PATH | O_CLOEXEC);
    if (file < 0) return;  // not every system has every folder
    struct stat state;
    if (fstat(file, &state) == 0 && !S_ISDIR(state.st_mode)) rights &= of_files;
    const Beneath rule = {rights & handled_rights(), file};
    require(syscall(add_rule, ruleset, 1, &rule, 0) == 0, "Landlock does not take " + path);
    close(file);
}

void restrict_view(const Options& options) {
    const long known = version();
    require(known > 0, "this kernel has no Landlock");
    // From version 6 on it also keeps signals and abstract sockets inside.
    const Ruleset rules = {handled_rights(), 0, 3};
    const size_t size = known >= 6 ? sizeof rules : known >= 4 ? 16 : 8;
    const int ruleset = static_cast<int>(syscall(create_ruleset, &rules, size, 0));
    require(ruleset >= 0, "Landlock does not start");
    for (const auto& path : options.readable)
        allow(ruleset, path, execute | read_file | read_folder);
    for (const auto& path : options.writable) allow(ruleset, path, ~0ULL);
    for (const auto& path : devices(options)) allow(ruleset, path, read_file | write_file);
    allow(ruleset, "/proc", read_file | read_folder);
    if (options.gpu) allow(ruleset, "/sys", read_file | read_folder);
    require(syscall(restrict_self, ruleset, 0) == 0, "Landlock does not hold");
    close(ruleset);
}

}  // namespace landlock

// --- what no program may ask of the kernel -------------------------------------------------------

#if defined(__x86_64__)
constexpr uint32_t architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t architecture = AUDIT_ARCH_AARCH64;
#else
#error "confine knows x86-64 and 64-bit Arm"
#endif

class Filter {
 public:
    Filter() {
        load(offsetof(seccomp_data, arch));
        add(BPF_JMP | BPF_JEQ | BPF_K, architecture, 1, 0);
        add(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
        load(offsetof(seccomp_data, nr));
#if defined(__x86_64__)
        add(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1);  // the calls of x32 bear other numbers
        add(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
#endif
    }

    void refuse(long call, uint32_t error = EPERM) {
        add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, 1);
        add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error);
    }

    // Refused if the first argument has one of these bits.
    void refuse_bits(long call, uint32_t bits) {
        add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, 4);
        load(offsetof(seccomp_data, args));
        add(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
        add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
        add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }

    // Refused unless the first argument is one of these two.
    void refuse_unless(long call, uint32_t value, uint32_t other) {
        add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, 5);
        load(offsetof(seccomp_data, args));
        add(BPF_JMP | BPF_JEQ | BPF_K, value, 2, 0);
        add(BPF_JMP | BPF_JEQ | BPF_K, other, 1, 0);
        add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
        add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }

    void install() {
        add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
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

// Sockets lead to the network, and so does io_uring. In a namespace of users the program could gain what
// it has given up. Without a PID namespace the program could also
// reach the processes of the user who grades: then it may signal itself only, and look into nobody.
void filter_calls(Level level) {
    Filter filter;
    constexpr long io_uring_setup = 425, pidfd_send_signal = 424, pidfd_getfd = 438, clone3 = 435;
    filter.refuse_unless(SYS_socket, AF_UNIX, AF_NETLINK);
    filter.refuse(io_uring_setup);
    filter.refuse(SYS_unshare);
    filter.refuse(SYS_setns);
    filter.refuse_bits(SYS_clone, CLONE_NEWUSER);
    filter.refuse(clone3, ENOSYS);  // its flags lie in memory; the C library then takes clone
    if (level != Level::namespaces) {
        const uint32_t self = static_cast<uint32_t>(getpid());
        for (const long call : {SYS_kill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo}) {
            filter.refuse_unless(call, self, self);
        }
        for (const long call : {long{SYS_tkill}, pidfd_send_signal, pidfd_getfd, long{SYS_ptrace},
                                long{SYS_process_vm_readv}, long{SYS_process_vm_writev}}) {
            filter.refuse(call);
        }
        filter.refuse_unless(SYS_prlimit64, 0, self);
    }
    filter.install();
}

// --- limits --------------------------------------------------------------------------------------

void limit(int resource, int64_t value) {
    const rlim_t wished = static_cast<rlim_t>(value);
    rlimit now;
    require(getrlimit(static_cast<__rlimit_resource>(resource), &now) == 0, "cannot read a limit");
    now.rlim_max = std::min(now.rlim_max, wished);
    now.rlim_cur = now.rlim_max;
    require(setrlimit(static_cast<__rlimit_resource>(resource), &now) == 0, "cannot set a limit");
}

int64_t threads_of(const std::string& process) {
    struct stat state;
    return stat((process + "/task").c_str(), &state) == 0 ? static_cast<int64_t>(state.st_nlink) - 2
                                                          : 0;
}

// The kernel counts the processes of a user, and apart from them those of a user namespace (Linux
// 5.14) or of a user whom nobody else is. Where neither is there, what runs already comes on top.
int64_t process_limit(const Options& options) {
    if (options.level == Level::namespaces || options.user >= 0) return options.processes;
    int64_t running = 0;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
        struct stat state;
        const std::string path = entry.path();
        if (isdigit(path[6]) && stat(path.c_str(), &state) == 0 && state.st_uid == getuid()) {
            running += std::max<int64_t>(1, threads_of(path));
        }
    }
    return running + options.processes;
}

void set_limits(const Options& options) {
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, options.file_mib * mebi);
    limit(RLIMIT_NOFILE, 256);
    limit(RLIMIT_NPROC, process_limit(options));
    if (options.processor_seconds) limit(RLIMIT_CPU, options.processor_seconds);
    // Address space is cheap, and a CUDA driver reserves all there is: a card excludes this limit.
    if (!options.gpu) limit(RLIMIT_DATA, 2 * options.memory_mib * mebi);
    write_text("/proc/self/oom_score_adj", "1000");  // if memory runs out, this one goes first
    [[maybe_unused]] const int level = nice(5);
}

void drop_privileges(const Options& options) {
    if (options.user >= 0) {
        const auto id = static_cast<unsigned>(options.user);
        require(
            setgroups(0, nullptr) == 0 && setresgid(id, id, id) == 0 && setresuid(id, id, id) == 0,
            "cannot become another user");
    }
    // From here on no program that is started may gain anything; capabilities end with exec.
    require(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "cannot give up privileges");
}

[[noreturn]] void become_program(const Options& options) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    set_limits(options);
    drop_privileges(options);
    if (options.level == Level::landlock) landlock::restrict_view(options);
    if (options.level != Level::namespaces) setenv("TMPDIR", fs::current_path().c_str(), 1);
    filter_calls(options.level);
    execvp(options.program[0], options.program);
    fail(std::string("cannot start ") + options.program[0]);
}

// --- watching ------------------------------------------------------------------------------------

std::vector<pid_t> children_of(pid_t process) {
    std::vector<pid_t> children;
    const std::string tasks = "/proc/" + std::to_string(process) + "/task";
    std::error_code error;
    for (fs::directory_iterator task(tasks, error), end; !error && task != end;
         task.increment(error)) {
        std::ifstream list(task->path() / "children");
        for (pid_t child; list >> child;) children.push_back(child);
    }
    return children;
}

struct Usage {
    int64_t tasks = 0, memory_bytes = 0, folder_bytes = 0, files = 0;
};

// Adds a process and all that it has started.
void add_usage(pid_t process, Usage& usage, int depth = 0) {
    const std::string folder = "/proc/" + std::to_string(process);
    int64_t size = 0, resident = 0;
    std::ifstream(folder + "/statm") >> size >> resident;
    usage.memory_bytes += resident * sysconf(_SC_PAGESIZE);
    usage.tasks += std::max<int64_t>(1, threads_of(folder));
    if (depth > 1000) return;
    for (const pid_t child : children_of(process)) add_usage(child, usage, depth + 1);
}

constexpr int deepest_folder = 32;

void add_folder(const std::string& path, const Options& options, Usage& usage) {
    std::error_code error;
    fs::recursive_directory_iterator entry(path, error), end;
    for (; !error && entry != end && usage.files <= options.files; entry.increment(error)) {
        struct stat state;
        if (lstat(entry->path().c_str(), &state) != 0) continue;
        usage.folder_bytes += state.st_blocks * 512;
        usage.files += entry.depth() > deepest_folder ? options.files : 1;
    }
}

// Which limit is broken, in words; empty if none.
std::string broken_limit(const Options& options, pid_t first, Clock::time_point started) {
    Usage usage;
    for (const pid_t child : children_of(first)) add_usage(child, usage);
    const auto count = [](int64_t number) { return std::to_string(number); };
    if (options.seconds && Clock::now() - started > std::chrono::seconds(options.seconds)) {
        return "not finished after " + count(options.seconds) + " seconds";
    }
    if (usage.tasks >= options.processes) {
        return "more than " + count(options.processes) + " processes and threads";
    }
    if (usage.memory_bytes > options.memory_mib * mebi) {
        return "more than " + count(options.memory_mib) + " MiB of memory";
    }
    for (const auto& path : options.writable) add_folder(path, options, usage);
    if (usage.folder_bytes > options.folder_mib * mebi) {
        return "more than " + count(options.folder_mib) + " MiB of files";
    }
    if (usage.files > options.files) return "too many files, or too deep a tree of them";
    return "";
}

// Ends whatever has this process above it. A process that forks meanwhile is met in the next round,
// and a stopped one forks no more.
void end_descendants() {
    for (int round = 0; round < 10'000; round++) {
        std::vector<pid_t> open = children_of(getpid());
        if (open.empty()) return;
        for (size_t i = 0; i < open.size() && i < 100'000; i++) {
            kill(open[i], SIGSTOP);
            const auto below = children_of(open[i]);
            open.insert(open.end(), below.begin(), below.end());
        }
        for (const pid_t process : open) kill(process, SIGKILL);
        usleep(1000);
        while (waitpid(-1, nullptr, WNOHANG) > 0) continue;
    }
}

// Leaves plain files and folders, which whoever judges may read; links, pipes and sockets go.
void tidy_folder(const std::string& path) {
    std::error_code error;
    chmod(path.c_str(), 0755);
    std::vector<fs::path> doomed;
    for (fs::recursive_directory_iterator entry(path, error), end; !error && entry != end;
         entry.increment(error)) {
        struct stat state;
        if (lstat(entry->path().c_str(), &state) != 0) continue;
        if (S_ISDIR(state.st_mode)) {
            chmod(entry->path().c_str(), 0755);
        } else if (S_ISREG(state.st_mode)) {
            chmod(entry->path().c_str(), 0644 | (state.st_mode & 0111));
        } else {
            doomed.push_back(entry->path());
        }
    }
    for (const auto& link : doomed) fs::remove(link, error);
}

void own_folder(const std::string& path, int user) {
    const auto id = static_cast<unsigned>(user);
    std::error_code error;
    require(lchown(path.c_str(), id, id) == 0, "cannot hand over " + path);
    for (const auto& entry : fs::recursive_directory_iterator(path, error)) {
        require(lchown(entry.path().c_str(), id, id) == 0,
                "cannot hand over " + entry.path().string());
    }
}

// --- the three processes -------------------------------------------------------------------------

void note_end(int status) {
    shared->status = status;
    shared->ended = true;
}

// The first process of the namespace: adopts orphans, and its end is the end of all.
[[noreturn]] void be_init(const Options& options) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    restrict_view(options);
    const pid_t program = fork();
    require(program >= 0, "cannot fork");
    if (program == 0) become_program(options);
    int status = 0;
    for (pid_t ended; (ended = wait(&status)) != program;) require(ended > 0, "lost the program");
    note_end(status);
    _exit(0);
}

[[noreturn]] void supervise(const Options& options, pid_t front) {
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (getppid() != front) _exit(own_failure);
    sigset_t awaited;
    sigemptyset(&awaited);
    for (const int number : {SIGTERM, SIGCHLD}) sigaddset(&awaited, number);
    sigprocmask(SIG_BLOCK, &awaited, nullptr);
    if (options.user >= 0) {
        for (const auto& path : options.writable) own_folder(path, options.user);
    }
    const bool apart = options.level == Level::namespaces;
    if (apart) enter_namespaces();

    const auto started = Clock::now();
    const pid_t child = fork();
    require(child >= 0, "cannot fork");
    if (child == 0 && apart) be_init(options);
    if (child == 0) become_program(options);

    std::string broken;
    int64_t nap_ms = 5;
    bool ended = false;
    while (!ended && broken.empty()) {
        const timespec nap = {0, nap_ms * 1'000'000};
        const int number = sigtimedwait(&awaited, nullptr, &nap);
        if (number == SIGTERM) break;  // the front is gone: nobody waits for an answer
        int status = 0;
        for (pid_t process; (process = waitpid(-1, &status, WNOHANG)) > 0;) {
            if (process != child) continue;
            ended = true;
            if (!apart || status != 0) note_end(status);
        }
        if (!ended && number < 0) {
            broken = broken_limit(options, apart ? child : getpid(), started);
            nap_ms = std::min<int64_t>(nap_ms * 2, 80);
        }
    }
    end_descendants();
    for (const auto& path : options.writable) tidy_folder(path);
    if (!broken.empty()) {
        dprintf(2, "confine: %s: ended\n", broken.c_str());
        note_end(SIGKILL);
    }
    _exit(0);
}

// Ends as the program has ended.
int be_front(pid_t supervisor) {
    while (waitpid(supervisor, nullptr, 0) < 0 && errno == EINTR) continue;
    errno = 0;
    require(shared->ended, "the supervisor was ended");
    const int status = shared->status;
    if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
    const rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
    return 128 + WTERMSIG(status);
}

// --- the command line ----------------------------------------------------------------------------

constexpr const char* usage =
    "Usage: confine [OPTION]... -- PROGRAM [ARGUMENT]...\n"
    "       confine --probe [OPTION]...\n"
    "Runs a program that nobody trusts; ends as it ends, or with 125 and a sentence.\n"
    "  --level LEVEL       namespaces (default), landlock, or limits\n"
    "  --read PATH         what the program may see (repeatable); the rest is hidden\n"
    "  --write PATH        a folder that it may write to as well (repeatable)\n"
    "  --here              the folder where it is started is such a folder\n"
    "  --seconds N         it is ended after so long; --processor-seconds N counts work alone\n"
    "  --memory MIB        of all its processes (2048)     --processes N   and threads (100)\n"
    "  --file-size MIB     of one file (128)               --folder-size MIB   of all files (512)\n"
    "  --user N            whom root becomes\n"
    "  --gpu               the cards are shown, and no limit stands in the driver's way\n"
    "  --probe             try this level: end with 0 if it holds here, otherwise say what does "
    "not\n";

[[noreturn]] void refuse(const std::string& sentence) {
    fprintf(stderr, "confine: %s (confine --help lists the options)\n", sentence.c_str());
    exit(2);
}

int64_t number_from(const char* option, const char* text) {
    char* end = nullptr;
    const int64_t number = strtoll(text, &end, 10);
    if (end == text || *end || number < 0 || number > 1'000'000'000) {
        refuse(std::string(option) + " takes a number, not " + text);
    }
    return number;
}

Level level_from(const std::string& name) {
    for (int i = 0; i < 3; i++) {
        if (name == level_names[i]) return static_cast<Level>(i);
    }
    refuse("there is no level " + name);
}

Options parse(int count, char** words) {
    Options options;
    int i = 1;
    for (; i < count && strcmp(words[i], "--") != 0; i++) {
        const std::string word = words[i];
        if (word == "--help") {
            fputs(usage, stdout);
            exit(0);
        }
        if (word == "--gpu" || word == "--probe" || word == "--here") {
            if (word == "--here") options.writable.push_back(fs::current_path());
            options.gpu = options.gpu || word == "--gpu";
            options.probe = options.probe || word == "--probe";
            continue;
        }
        if (i + 1 >= count) refuse(word + " is unknown, or needs a value");
        const char* value = words[++i];
        if (word == "--level")
            options.level = level_from(value);
        else if (word == "--read")
            options.readable.push_back(value);
        else if (word == "--write")
            options.writable.push_back(value);
        else if (word == "--seconds")
            options.seconds = number_from("--seconds", value);
        else if (word == "--processor-seconds")
            options.processor_seconds = number_from("--processor-seconds", value);
        else if (word == "--memory")
            options.memory_mib = number_from("--memory", value);
        else if (word == "--processes")
            options.processes = number_from("--processes", value);
        else if (word == "--file-size")
            options.file_mib = number_from("--file-size", value);
        else if (word == "--folder-size")
            options.folder_mib = number_from("--folder-size", value);
        else if (word == "--user")
            options.user = static_cast<int>(number_from("--user", value));
        else
            refuse("unknown option " + word);
    }
    static char true_program[] = "true";
    static char* nothing[] = {true_program, nullptr};
    if (i + 1 < count)
        options.program = words + i + 1;
    else if (options.probe)
        options.program = nothing;
    else
        refuse("no program is named");
    return options;
}

}  // namespace

int main(int count, char** words) {
    const Options options = parse(count, words);
    if (geteuid() != 0 && options.user >= 0) refuse("only root may become another user");
    if (geteuid() == 0 && options.user <= 0) refuse("root has to become another user: --user N");
    void* const pages =
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    require(pages != MAP_FAILED, "no memory");
    shared = new (pages) Shared{};
    const pid_t front = getpid();
    const pid_t supervisor = fork();
    require(supervisor >= 0, "cannot fork");
    if (supervisor == 0) supervise(options, front);
    return be_front(supervisor);
}
