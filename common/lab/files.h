// Files: what keeps one from being read or written, and files that are whole, or not there.
#pragma once
#ifdef LAB_COMPILED
#pragma interface  // compiled once, in cpu/course.cpp
#endif

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "words.h"

namespace lab {

// The folder that a path lies in: "." for a bare name.
inline std::string folder_of(const std::string& path) {
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

// Why the file cannot be read, or "". Asked before it is opened: opening a pipe waits for a writer.
inline std::string reading_problem(const std::string& path) {
    struct stat status;
    if (stat(path.c_str(), &status) != 0) return std::strerror(errno);
    if (S_ISDIR(status.st_mode)) return "it is a folder";
    if (!S_ISREG(status.st_mode)) return "it is not a regular file";
    if (access(path.c_str(), R_OK) != 0) return std::strerror(errno);
    return "";
}

// What a file is that begins with these bytes, and what to do about it, if it is of a kind that no reader
// of text or arrays takes; "" otherwise.
inline std::string foreign_file(const std::string& start) {
    const struct {
        const char *mark, *words;  // in a mark ? stands for any byte
    } kinds[] = {
        {"\x1F\x8B", "it is compressed by gzip; unpack it with gunzip"},
        {"\x1F\x9D", "it is compressed by compress; unpack it with gunzip"},
        {"BZh?1AY&SY", "it is compressed by bzip2; unpack it with bunzip2"},
        {"\xFD\x37zXZ", "it is compressed by xz; unpack it with unxz"},
        {"\x28\xB5\x2F\xFD", "it is compressed by zstd; unpack it with unzstd"},
        {"\x04\x22\x4D\x18", "it is compressed by lz4; unpack it with unlz4"},
        {"7z\xBC\xAF\x27\x1C", "it is a 7z archive; unpack it with 7z x"},
        {"PK\3\4", "it is a zip archive, as .npz files are; unpack it with unzip"},
        {"PK\5\6", "it is an empty zip archive; make it anew"},
        {"\xFF\xFE", "it is text in UTF-16; save it as UTF-8"},
        {"\xFE\xFF", "it is text in UTF-16; save it as UTF-8"},
        {"MATLAB 5.0 MAT-file",
         "it is a MATLAB file; in Python, scipy.io.loadmat reads it and numpy.save writes .npy"},
        {"\x89HDF\r\n", "it is an HDF5 file; in Python, h5py reads it and numpy.save writes .npy"},
    };
    for (const auto& kind : kinds) {
        const size_t length = std::strlen(kind.mark);
        bool same = start.size() >= length;
        for (size_t i = 0; same && i < length; ++i) {
            same = kind.mark[i] == '?' || kind.mark[i] == start[i];
        }
        if (same) return kind.words;
    }
    const bool is_tar = start.size() > 262 && start.compare(257, 5, "ustar") == 0;
    return is_tar ? "it is a tar archive; unpack it with tar -xf" : "";
}

// Where a link leads; the path itself when it is no link, or leads nowhere.
inline std::string link_target(const std::string& path) {
    struct stat status;
    if (lstat(path.c_str(), &status) != 0 || !S_ISLNK(status.st_mode)) return path;
    char* const target = realpath(path.c_str(), nullptr);
    const std::string found = target ? target : path;
    std::free(target);
    return found;
}

// One spelling for all paths that lead to a file: "a.npy", "./a.npy", a link to it.
inline std::string plain_path(const std::string& path) {
    const std::string target = link_target(path), name = target.substr(target.rfind('/') + 1);
    char* const folder = realpath(folder_of(target).c_str(), nullptr);
    const std::string found = folder ? std::string(folder) + '/' + name : target;
    std::free(folder);
    return found;
}

// Why no file can be put there, in place of one that may be there now; or "".
inline std::string writing_problem(const std::string& path) {
    struct stat status;
    const std::string folder = folder_of(link_target(path));
    if (path.empty()) return "the name is empty";
    if (stat(path.c_str(), &status) == 0) {
        if (S_ISDIR(status.st_mode)) return "it is a folder";
        if (!S_ISREG(status.st_mode)) return "it is not a regular file";
        if (access(path.c_str(), W_OK) != 0) return std::strerror(errno);
    } else if (errno == ELOOP || errno == ENAMETOOLONG) {
        return std::strerror(errno);
    } else if (path.back() == '/') {
        return "there is no such folder";
    } else if (lstat(path.c_str(), &status) == 0) {
        return "it is a link that leads nowhere";
    }
    if (access((folder + "/.").c_str(), W_OK | X_OK) == 0) return "";
    return "its folder " + quoted(folder) + ": " + std::strerror(errno);
}

// A file as an option of the command line names it.
struct NamedFile {
    std::string option, given, path;  // path: as plain_path() spells it
    bool written;
};

// What one option writes, no other option reads or writes: the original would be lost.
inline void require_own_files(const std::vector<NamedFile>& files) {
    for (auto later = files.begin(); later != files.end(); ++later) {
        for (auto file = files.begin(); file != later; ++file) {
            if (file->path != later->path || !(file->written || later->written)) continue;
            const char *first = file->option.c_str(), *second = later->option.c_str();
            const std::string path = quoted(later->given);
            if (file->written && later->written) {
                refuse("--%s and --%s both write %s; give them two names", first, second,
                       path.c_str());
            }
            if (file->written) std::swap(first, second);
            refuse("--%s would replace %s, which --%s reads; choose another name", second,
                   path.c_str(), first);
        }
    }
}

// A file under a name of its own, beside the one that it shall become. It is removed when it is
// given up, and also when a signal (Ctrl+C) ends the program meanwhile. One at a time.
class UnfinishedFile {
 public:
    explicit UnfinishedFile(const std::string& folder) {
        sigset_t ending, before;  // no signal between the file's beginning and the handlers
        sigemptyset(&ending);
        for (int i = 0; i < ending_signals; ++i) sigaddset(&ending, signal_number(i));
        sigprocmask(SIG_BLOCK, &ending, &before);
        begin(folder);
        sigprocmask(SIG_SETMASK, &before, nullptr);
    }
    ~UnfinishedFile() {
        if (!file_) return;
        unlink(path_.c_str());  // finds nothing once the file has its name
        current() = nullptr;
        for (int i = 0; i < ending_signals; ++i) signal(signal_number(i), before_[i]);
    }
    UnfinishedFile(const UnfinishedFile&) = delete;
    UnfinishedFile& operator=(const UnfinishedFile&) = delete;

    std::FILE* file() const { return file_; }  // nullptr: errno says why
    const std::string& path() const { return path_; }

 private:
    void begin(const std::string& folder) {
        for (int attempt = 0; attempt < 100 && !file_; ++attempt) {
            path_ = folder + format("/.unfinished-%d-%d", int(getpid()), attempt);
            file_ = std::fopen(path_.c_str(), "wbx");  // x: fails when it exists
            if (!file_ && errno != EEXIST) return;
        }
        if (!file_) return;
        current() = path_.c_str();
        for (int i = 0; i < ending_signals; ++i) {
            before_[i] = signal(signal_number(i), end_by_signal);
            if (before_[i] == SIG_IGN) signal(signal_number(i), SIG_IGN);  // nohup
        }
    }

    static constexpr int ending_signals = 3;
    static int signal_number(int i) { return i == 0 ? SIGINT : i == 1 ? SIGTERM : SIGHUP; }
    static const char* volatile& current() {
        static const char* volatile path = nullptr;
        return path;
    }
    static void end_by_signal(int number) {
        if (current()) unlink(current());
        signal(number, SIG_DFL);
        raise(number);
    }

    std::string path_;
    std::FILE* file_ = nullptr;
    void (*before_[ending_signals])(int) = {};
};

struct Bytes {
    const void* start;
    size_t count;
};

// Writes the pieces, one behind the other, to a file that appears under its name only when it is
// complete; a link stays, and its target is replaced. Returns 0 or the system's number of the error.
inline int write_file(const std::string& path, std::initializer_list<Bytes> pieces) {
    const std::string target = link_target(path);
    const UnfinishedFile unfinished(folder_of(target));
    std::FILE* const file = unfinished.file();
    if (!file) return errno;
    size_t bytes = 0;
    bool written = true;
    for (const Bytes& piece : pieces) {
        bytes += piece.count;
        if (piece.count == 0) continue;
        written = written && std::fwrite(piece.start, 1, piece.count, file) == piece.count;
    }
    written = written && std::fflush(file) == 0;
    const int problem = written ? 0 : errno;  // closing may change errno
    if (std::fclose(file) != 0 && problem == 0) return errno;
    if (problem != 0) return problem;
    struct stat status;
    if (stat(unfinished.path().c_str(), &status) != 0) return errno;
    if (size_t(status.st_size) != bytes) return EIO;
    return std::rename(unfinished.path().c_str(), target.c_str()) == 0 ? 0 : errno;
}

}  // namespace lab
