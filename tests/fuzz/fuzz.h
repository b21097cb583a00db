// What both fuzz targets need: refuse() and fail() throw instead of ending the program, and what
// stb allocated or stdio opened meanwhile is given back. Included before the header under test.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <set>

// refuse() and fail() end a program by std::exit(), and leave a file open.
struct Stopped {
    int status;
};
inline std::FILE*& last_file() {
    static std::FILE* file = nullptr;
    return file;
}
namespace std {
[[noreturn]] inline void throw_stopped(int status) {
    if (last_file()) fclose(last_file());
    last_file() = nullptr;
    throw Stopped{status};
}
inline FILE* remembered_fopen(const char* path, const char* mode) {
    return last_file() = fopen(path, mode);
}
inline int forgotten_fclose(FILE* file) {
    last_file() = nullptr;
    return fclose(file);
}
}  // namespace std
#define exit throw_stopped
#define fopen remembered_fopen
#define fclose forgotten_fclose

// stb's memory: nobody else gives it back when an exception passes through.
inline std::set<void*>& allocated() {
    static std::set<void*> pointers;
    return pointers;
}
inline void* tracked_calloc(size_t bytes) {
    void* const pointer = std::calloc(1, bytes);
    if (pointer) allocated().insert(pointer);
    return pointer;
}
inline void tracked_free(void* pointer) {
    allocated().erase(pointer);
    std::free(pointer);
}
inline void* tracked_realloc(void* pointer, size_t bytes) {
    void* const moved = std::realloc(pointer, bytes);
    if (moved) {
        allocated().erase(pointer);
        allocated().insert(moved);
    }
    return moved;
}
inline void free_all() {
    for (void* pointer : allocated()) std::free(pointer);
    allocated().clear();
}
#define STBI_MALLOC tracked_calloc
#define STBI_FREE tracked_free
#define STBI_REALLOC tracked_realloc
