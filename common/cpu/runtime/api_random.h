// The direction vectors of cuRAND's Sobol sequences, from Boost's table of primitive polynomials.
#pragma once

#include <memory>
#include <random>

#if __has_include(<boost/random/detail/sobol_table.hpp>)
#include <boost/random/detail/sobol_table.hpp>
#endif

#include "../include/cuda_cpu/libraries/library.h"
#include "../include/cuda_cpu/random_directions.h"

namespace cuda_cpu {

SobolVectors& sobol_vectors() {
#if __has_include(<boost/random/detail/sobol_table.hpp>)
    using Table = boost::random::detail::qrng_tables::sobol;
    static const std::unique_ptr<SobolVectors> vectors = [] {
        auto made = std::make_unique<SobolVectors>();
        std::mt19937_64 random(20080521);
        for (unsigned int dimension = 0; dimension < sobol_dimensions; ++dimension) {
            unsigned long long* const v = made->of_64[dimension];
            // The first dimension is that of van der Corput; for the others the table has m_1 to m_s, and
            // p(z) tells which of the s vectors before make the next.
            const unsigned int p = dimension == 0 ? 1 : Table::polynomial(dimension - 1);
            const int degree = 31 - __builtin_clz(p);
            for (int i = 0; i < 64; ++i) {
                if (dimension == 0 || i < degree) {
                    const unsigned long long m =
                        dimension == 0 ? 1
                                       : Table::minit(dimension - 1, static_cast<unsigned int>(i));
                    v[i] = m << (63 - i);
                    continue;
                }
                v[i] = v[i - degree] ^ (v[i - degree] >> degree);
                for (int k = 1; k < degree; ++k)
                    if ((p >> (degree - k) & 1) != 0) v[i] ^= v[i - k];
            }
            for (int i = 0; i < 32; ++i)
                made->of_32[dimension][i] = static_cast<unsigned int>(v[i] >> 32);
            made->scramble_64[dimension] = random();
            made->scramble_32[dimension] =
                static_cast<unsigned int>(made->scramble_64[dimension] >> 32);
        }
        return made;
    }();
    return *vectors;
#else
    refuse_call("cuRAND", "Sobol sequences without Boost.Random's headers (libboost-dev)");
#endif
}

}  // namespace cuda_cpu
