// The exceptions of NVIDIA's samples, which say where they were thrown.
#pragma once

#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>

template <class Standard>
class Exception : public Standard {
 public:
    using Standard::Standard;
    [[noreturn]] static void throw_it(const char* file, int line, const char* what = "") {
        throw Exception(std::string(file) + ":" + std::to_string(line) + ": " + what);
    }
    [[noreturn]] static void throw_it(const char* file, int line, const std::string& what) {
        throw_it(file, line, what.c_str());
    }
};
template <class Thrown>
void handleException(const Thrown& thrown) {
    std::cerr << thrown.what() << std::endl;
    std::exit(EXIT_FAILURE);
}
#define RUNTIME_EXCEPTION(what) Exception<std::runtime_error>::throw_it(__FILE__, __LINE__, what)
#define LOGIC_EXCEPTION(what) Exception<std::logic_error>::throw_it(__FILE__, __LINE__, what)
#define RANGE_EXCEPTION(what) Exception<std::range_error>::throw_it(__FILE__, __LINE__, what)
