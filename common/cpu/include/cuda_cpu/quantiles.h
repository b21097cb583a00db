// The inverses of the error functions and of the normal distribution, which the host's library does not have.
#pragma once

// By Halley's method from Winitzki's approximation, on the side where erfc is small and exact.
inline double erfcinv(double y) {
    if (y == 1.0) return 0.0;
    if (!(y >= 0.0 && y <= 2.0)) return std::numeric_limits<double>::quiet_NaN();
    if (y > 1.0) return -erfcinv(2.0 - y);
    if (y == 0.0) return std::numeric_limits<double>::infinity();
    constexpr double a = 0.147, two_over_pi = 0.63661977236758134, root_pi = 1.7724538509055160;
    const double log = std::log(y * (2.0 - y)), part = two_over_pi / a + 0.5 * log;
    double x = std::sqrt(std::sqrt(part * part - log / a) - part);
    for (int i = 0; i < 4; ++i) {
        const double step = (std::erfc(x) - y) / (-2.0 / root_pi * std::exp(-x * x));
        x -= step / (1.0 + x * step);
    }
    return x;
}
inline double erfinv(double x) {
    // Where x is small 1 - x has lost what counts: one step of Newton's method puts it right.
    const double start = erfcinv(1.0 - x);
    if (!(std::abs(x) < 0.5)) return start;
    return start - (std::erf(start) - x) * 0.88622692545275801 * std::exp(start * start);
}
inline double normcdfinv(double p) { return -1.4142135623730951 * erfcinv(2.0 * p); }
inline float erfcinvf(float y) { return static_cast<float>(erfcinv(double{y})); }
inline float erfinvf(float x) { return static_cast<float>(erfinv(double{x})); }
inline float normcdfinvf(float p) { return static_cast<float>(normcdfinv(double{p})); }
