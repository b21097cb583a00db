// Arguments of a program as NVIDIA's samples take them, -name=value or --name=value; used where the samples' own headers
// are not given with -I.
#pragma once

#include <strings.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif
#define STRCASECMP strcasecmp
#define STRNCASECMP strncasecmp
#define STRCPY(target, bytes, source) strcpy(target, source)
#define FOPEN(file, name, mode) (file = fopen(name, mode))
#define FOPEN_FAIL(result) ((result) == nullptr)
#define SSCANF sscanf
#define SPRINTF sprintf

// The first character of `text` that is not `delimiter`.
inline int stringRemoveDelimiter(char delimiter, const char* text) {
    int start = 0;
    while (text[start] == delimiter) ++start;
    return text[start] == '\0' ? 0 : start;
}
inline int getFileExtension(char* name, char** extension) {
    char* const dot = std::strrchr(name, '.');
    *extension = dot == nullptr ? nullptr : dot + 1;
    return dot == nullptr ? 0 : static_cast<int>(dot + 1 - name);
}

namespace cuda_cpu {
// What follows -name=, "" for -name alone, null where there is neither.
inline const char* sample_argument(int argc, const char** argv, const char* name) {
    const size_t length = std::strlen(name);
    for (int i = 1; i < argc; ++i) {
        const char* const word = argv[i] + stringRemoveDelimiter('-', argv[i]);
        if (word == argv[i] || strncasecmp(word, name, length) != 0) continue;
        if (word[length] == '=') return word + length + 1;
        if (word[length] == '\0') return word + length;
    }
    return nullptr;
}
}  // namespace cuda_cpu

inline bool checkCmdLineFlag(const int argc, const char** argv, const char* name) {
    return cuda_cpu::sample_argument(argc, argv, name) != nullptr;
}
template <class T>
bool getCmdLineArgumentValue(const int argc, const char** argv, const char* name, T* value) {
    const char* const text = cuda_cpu::sample_argument(argc, argv, name);
    if (text == nullptr || *text == '\0') return false;
    std::istringstream(text) >> *value;
    return true;
}
inline int getCmdLineArgumentInt(const int argc, const char** argv, const char* name) {
    int value = 0;
    getCmdLineArgumentValue(argc, argv, name, &value);
    return value;
}
inline float getCmdLineArgumentFloat(const int argc, const char** argv, const char* name) {
    float value = 0;
    getCmdLineArgumentValue(argc, argv, name, &value);
    return value;
}
inline bool getCmdLineArgumentString(const int argc, const char** argv, const char* name,
                                     char** value) {
    const char* const text = cuda_cpu::sample_argument(argc, argv, name);
    *value = const_cast<char*>(text != nullptr && *text != '\0' ? text : nullptr);
    return *value != nullptr;
}
// Where a file of a sample lies: here, in data, or beside the program. To be freed; null if it is nowhere.
inline char* sdkFindFilePath(const char* file, const char* program) {
    std::string folder = program == nullptr ? "" : program;
    folder.erase(folder.find_last_of('/') + 1);
    for (const std::string& place :
         {std::string(), std::string("data/"), std::string("../data/"), folder, folder + "data/"}) {
        struct stat facts;
        const std::string path = place + file;
        if (stat(path.c_str(), &facts) == 0) return strdup(path.c_str());
    }
    return nullptr;
}
