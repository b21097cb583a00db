// Feature: cuSOLVER, sparse | `csrlsvqr`, `csrlsvchol`, `csrlsvluHost` and their forms for the host, where A is singular, `csrqrsvBatched`; orders (`csrsymamdHost`, `csrpermHost`); needs Eigen (libeigen3-dev)
// Flags: -lcusolver -lcusparse
#include <cusolverSp.h>
#include <cusparse.h>

#include <algorithm>
#include <cmath>

#include "../device_copies.h"

#define SOLVER(call) EXPECT((call) == CUSOLVER_STATUS_SUCCESS)

// The five-point star on a grid of 10 x 10: symmetric and positive definite.
constexpr int side = 10, n = side * side;

bool near(const std::vector<double>& a, const std::vector<double>& b) {
    for (size_t i = 0; i < a.size(); ++i)
        if (std::abs(a[i] - b[i]) > 1e-9) return false;
    return a.size() == b.size();
}

int main() {
    std::vector<int> offsets{0}, columns;
    std::vector<double> values, right(n), expected(n);
    for (int i = 0; i < n; ++i) expected[i] = i % 7 - 3;
    for (int row = 0; row < n; ++row) {
        const int x = row % side, y = row / side;
        const auto entry = [&](bool there, int column, double value) {
            if (!there) return;
            columns.push_back(column);
            values.push_back(value);
            right[row] += value * expected[column];
        };
        entry(y > 0, row - side, -1);
        entry(x > 0, row - 1, -1);
        entry(true, row, 4);
        entry(x + 1 < side, row + 1, -1);
        entry(y + 1 < side, row + side, -1);
        offsets.push_back(static_cast<int>(columns.size()));
    }
    const int entries = static_cast<int>(columns.size());
    int *at = on_device(offsets), *column = on_device(columns);
    double *value = on_device(values), *b = on_device(right),
           *x = on_device(std::vector<double>(2 * n));
    cusolverSpHandle_t handle;
    cusparseMatDescr_t general;
    SOLVER(cusolverSpCreate(&handle));
    EXPECT(cusparseCreateMatDescr(&general) == CUSPARSE_STATUS_SUCCESS);
    int singular = 9;
    SOLVER(cusolverSpDcsrlsvqr(handle, n, entries, general, value, at, column, b, 1e-12, 0, x,
                               &singular));
    EXPECT(singular == -1 && near(back(x, n), expected));
    SOLVER(cusolverSpDcsrlsvchol(handle, n, entries, general, value, at, column, b, 1e-12, 1, x,
                                 &singular));
    EXPECT(singular == -1 && near(back(x, n), expected));
    std::vector<double> of_host(n);
    SOLVER(cusolverSpDcsrlsvluHost(handle, n, entries, general, values.data(), offsets.data(),
                                   columns.data(), right.data(), 1e-12, 1, of_host.data(),
                                   &singular));
    EXPECT(singular == -1 && near(of_host, expected));

    // A diagonal of zeros; with a 2 in the corner one column is twice another.
    for (const double corner : {-1.0, 2.0}) {
        const std::vector<int> rows{0, 2, 3, 6}, own_columns{1, 2, 0, 0, 1, 2};
        const std::vector<double> own{2, 4, 3, 5, 1, corner}, sides{0, 9, 21};
        SOLVER(cusolverSpDcsrlsvluHost(handle, 3, 6, general, own.data(), rows.data(),
                                       own_columns.data(), sides.data(), 0, 0, of_host.data(),
                                       &singular));
        if (corner == 2) {
            EXPECT(singular == 0);
        } else {
            EXPECT(singular == -1 && near({of_host[0], of_host[1], of_host[2]}, {3, 4, -2}));
        }
    }

    // The same entries twice, the second matrix doubled: half the solution.
    std::vector<double> both = values, sides = right;
    for (double element : values) both.push_back(2 * element);
    sides.insert(sides.end(), right.begin(), right.end());
    double *d_both = on_device(both), *d_sides = on_device(sides);
    csrqrInfo_t info;
    size_t internal = 0, bytes = 0;
    SOLVER(cusolverSpCreateCsrqrInfo(&info));
    SOLVER(cusolverSpXcsrqrAnalysisBatched(handle, n, n, entries, general, at, column, info));
    SOLVER(cusolverSpDcsrqrBufferInfoBatched(handle, n, n, entries, general, d_both, at, column, 2,
                                             info, &internal, &bytes));
    void* work = nullptr;
    SUCCEEDS(cudaMalloc(&work, bytes));
    SOLVER(cusolverSpDcsrqrsvBatched(handle, n, n, entries, general, d_both, at, column, d_sides, x,
                                     2, info, work));
    std::vector<double> result = back(x, 2 * n);
    for (int i = 0; i < n; ++i)
        EXPECT(std::abs(result[i] - expected[i]) < 1e-9 &&
               std::abs(2 * result[n + i] - expected[i]) < 1e-9);

    // A in another order of rows and columns: B = A(p, p), of which the entries are found by their places.
    std::vector<int> order(n), places(entries), new_offsets = offsets, new_columns = columns;
    for (int i = 0; i < entries; ++i) places[i] = i;
    SOLVER(cusolverSpXcsrsymamdHost(handle, n, entries, general, offsets.data(), columns.data(),
                                    order.data()));
    std::vector<int> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (int i = 0; i < n; ++i) EXPECT(sorted[i] == i);
    SOLVER(cusolverSpXcsrperm_bufferSizeHost(handle, n, n, entries, general, new_offsets.data(),
                                             new_columns.data(), order.data(), order.data(),
                                             &bytes));
    std::vector<char> room(bytes);
    SOLVER(cusolverSpXcsrpermHost(handle, n, n, entries, general, new_offsets.data(),
                                  new_columns.data(), order.data(), order.data(), places.data(),
                                  room.data()));
    for (int row = 0; row < n; ++row) {
        double product = 0;  // of B with the solution in its order
        for (int i = new_offsets[row]; i < new_offsets[row + 1]; ++i)
            product += values[places[i]] * expected[order[new_columns[i]]];
        EXPECT(std::abs(product - right[order[row]]) < 1e-9);
    }

    // The third column is twice the first: singular there.
    int *at_3 = on_device(std::vector<int>{0, 3, 5, 8}),
        *column_3 = on_device(std::vector<int>{0, 1, 2, 0, 2, 0, 1, 2});
    double* value_3 = on_device(std::vector<double>{1, 5, 2, 3, 6, 4, 1, 8});
    SOLVER(cusolverSpDcsrlsvqr(handle, 3, 8, general, value_3, at_3, column_3, b, 1e-9, 0, x,
                               &singular));
    EXPECT(singular == 2);
    SOLVER(cusolverSpDestroyCsrqrInfo(info));
    SOLVER(cusolverSpDestroy(handle));
    EXPECT(cusparseDestroyMatDescr(general) == CUSPARSE_STATUS_SUCCESS);
    for (void* pointer : std::vector<void*>{at, column, value, b, x, d_both, d_sides, work, at_3,
                                            column_3, value_3})
        SUCCEEDS(cudaFree(pointer));
    std::puts("ok");
}
