// cuSOLVER's sparse part: LU of a matrix of Eigen's. Eigen's own takes the compiler 4 seconds.
#pragma once

#include <cmath>
#include <utility>
#include <vector>

namespace cuda_cpu {

// LU with partial pivoting, column by column, after Gilbert and Peierls: a column is solved with those of L that it
// meets, in an order in which each comes after those that change it. The columns have Eigen's order.
template <class Number>
class SparseLu {
    using Matrix = Eigen::SparseMatrix<Number>;
    using Vector = Eigen::Matrix<Number, Eigen::Dynamic, 1>;

 public:
    explicit SparseLu(const Matrix& A)
        : n_(static_cast<int>(A.cols())), step_of_(n_, -1), seen_(n_, -1), column_(n_) {
        Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> order;
        Eigen::COLAMDOrdering<int>()(A, order);
        column_of_.resize(n_);
        for (int i = 0; i < n_; ++i) column_of_[order.indices()[i]] = i;
        for (int step = 0; step < n_ && !is_singular; ++step) factorise(A, step);
    }
    Vector solve(Vector b) const {
        Vector y(n_), x(n_);
        for (int step = 0; step < n_; ++step) {
            y[step] = b[row_of_[step]];
            for (const auto& [row, factor] : L_[step]) b[row] -= factor * y[step];
        }
        for (int step = n_; step-- > 0;) {
            x[column_of_[step]] = y[step] /= pivots_[step];
            for (const auto& [earlier, factor] : U_[step]) y[earlier] -= factor * y[step];
        }
        return x;
    }
    bool is_singular = false;

 private:
    using Column = std::vector<std::pair<int, Number>>;

    void factorise(const Matrix& A, int step) {
        using Entry = typename Matrix::InnerIterator;
        std::vector<int> reached;  // rows, each behind those that it changes
        for (Entry entry(A, column_of_[step]); entry; ++entry) reach(entry.row(), step, reached);
        for (Entry entry(A, column_of_[step]); entry; ++entry) column_[entry.row()] = entry.value();
        Column of_U, of_L;
        int pivot = -1;
        for (auto row = reached.rbegin(); row != reached.rend(); ++row) {
            const Number value = std::exchange(column_[*row], Number(0));
            if (step_of_[*row] >= 0) {
                of_U.push_back({step_of_[*row], value});
                for (const auto& [other, factor] : L_[step_of_[*row]])
                    column_[other] -= factor * value;
            } else {
                of_L.push_back({*row, value});
                if (pivot < 0 || std::abs(value) > std::abs(of_L[pivot].second))
                    pivot = static_cast<int>(of_L.size()) - 1;
            }
        }
        is_singular = pivot < 0 || of_L[pivot].second == Number(0);
        if (is_singular) return;
        row_of_.push_back(of_L[pivot].first);
        pivots_.push_back(of_L[pivot].second);
        step_of_[row_of_.back()] = step;
        of_L.erase(of_L.begin() + pivot);
        for (auto& one : of_L) one.second /= pivots_.back();
        L_.push_back(std::move(of_L));
        U_.push_back(std::move(of_U));
    }
    // Adds a row, and before it all that it changes.
    void reach(int start, int step, std::vector<int>& reached) {
        std::vector<std::pair<int, size_t>> path;
        const auto enter = [&](int row) {
            if (std::exchange(seen_[row], step) != step) path.push_back({row, 0});
        };
        enter(start);
        while (!path.empty()) {
            const int row = path.back().first;
            if (step_of_[row] >= 0 && path.back().second < L_[step_of_[row]].size()) {
                enter(L_[step_of_[row]][path.back().second++].first);
            } else {
                reached.push_back(row);
                path.pop_back();
            }
        }
    }

    int n_;
    std::vector<int> step_of_, seen_;      // by rows: where it was the pivot's, or -1
    std::vector<int> row_of_, column_of_;  // by steps
    std::vector<Number> column_, pivots_;
    std::vector<Column> L_, U_;
};

}  // namespace cuda_cpu
