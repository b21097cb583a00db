// What the values should be: the report's serial algorithm, and the same polynomial by another road with the
// bound that rounding has.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

// The report's serial algorithm: for every point the sum over j of y_j times the product over i.
inline void basis_on_cpu(const std::vector<double>& node_x, const std::vector<double>& node_y,
                         const double* abscissae, double* values, int64_t points) {
    const size_t nodes = node_x.size();
    for (int64_t s = 0; s < points; s++) {
        double sum = 0.0;
        for (size_t j = 0; j < nodes; j++) {
            double product = 1.0;
            for (size_t i = 0; i < nodes; i++) {
                if (i != j) product *= (abscissae[s] - node_x[i]) / (node_x[j] - node_x[i]);
            }
            sum += node_y[j] * product;
        }
        values[s] = sum;
    }
}

// What a value should be, and how far rounding alone may carry a right program from it.
struct Expected {
    double value;
    double terms;  // sum of |y_j L_j(x)|: by so much a relative error of the y_j is magnified
    double bound;  // for products of differences: a few n roundings of `terms`
    double phases_bound;  // for the report's x / t - z, which cancels when x is far from 0
};

// The same polynomial in long double and by another road: products of the differences before and
// behind each node, with no division and no weight times a whole product.
class Reference {
 public:
    Reference(const std::vector<double>& x, const std::vector<double>& y) : x_(x), y_(y) {
        const auto ends = std::minmax_element(x.begin(), x.end());
        const long double width = static_cast<long double>(*ends.second) - *ends.first;
        factor_ = width > 0 ? 4 / width : 1;  // so that long products stay near 1
        denominators_.assign(x.size(), 1.0L);
        for (size_t j = 0; j < x.size(); j++) {
            for (size_t i = 0; i < x.size(); i++) {
                if (i != j) denominators_[j] *= difference(x[j], i);
            }
        }
    }

    Expected at(double x) const {
        const size_t nodes = x_.size();
        std::vector<long double> behind(nodes + 1, 1.0L);
        for (size_t i = nodes; i-- > 0;) behind[i] = behind[i + 1] * difference(x, i);
        long double all_shares = 0;
        for (size_t i = 0; i < nodes; i++) all_shares += share(x, i);
        long double before = 1, sum = 0, magnitude = 0, cancelled = 0;
        for (size_t j = 0; j < nodes; j++) {
            const long double term = y_[j] * (before * behind[j + 1] / denominators_[j]);
            sum += term;
            magnitude += std::fabs(term);
            cancelled += std::fabs(term) * (all_shares - share(x, j));
            before *= difference(x, j);
        }
        const double unit = 0x1p-53;
        const double basis = magnitude * unit * (5.0 * nodes + 10) + 1e-320;
        const double phases = basis + 4 * unit * static_cast<double>(cancelled);
        return {static_cast<double>(sum), static_cast<double>(magnitude), basis, phases};
    }

 private:
    long double difference(double x, size_t i) const {
        return (static_cast<long double>(x) - x_[i]) * factor_;
    }

    // How much larger than the difference the quotients x / t and x_i / t are together.
    long double share(double x, size_t i) const {
        const long double distance = std::fabs(difference(x, i)) / factor_;
        return distance > 0 ? (std::fabs(x) + std::fabs(x_[i])) / distance : 0;
    }

    std::vector<double> x_, y_;
    std::vector<long double> denominators_;
    long double factor_;
};
