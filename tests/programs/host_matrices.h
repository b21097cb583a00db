// Matrices on the host for the programs about cuBLAS and cuSOLVER: columns first, computed as they are defined.
#pragma once

#include <cstdint>

#include "device_copies.h"

template <class T>
struct Matrix {
    int rows, columns;
    std::vector<T> values;
    Matrix(int rows, int columns)
        : rows(rows), columns(columns), values(static_cast<size_t>(rows) * columns) {}
    T& operator()(int row, int column) {
        return values[static_cast<size_t>(row) + static_cast<size_t>(column) * rows];
    }
    const T& operator()(int row, int column) const {
        return values[static_cast<size_t>(row) + static_cast<size_t>(column) * rows];
    }
};

// Small whole numbers, so that products and sums are exact in any order.
template <class T>
Matrix<T> some_matrix(int rows, int columns, unsigned int seed) {
    Matrix<T> result(rows, columns);
    for (T& value : result.values) {
        seed = seed * 1664525u + 1013904223u;
        value = static_cast<T>(static_cast<int>(seed >> 29) - 3);
    }
    return result;
}
template <class T>
Matrix<T> transposed(const Matrix<T>& A) {
    Matrix<T> result(A.columns, A.rows);
    for (int row = 0; row < A.rows; ++row)
        for (int column = 0; column < A.columns; ++column) result(column, row) = A(row, column);
    return result;
}
template <class T>
Matrix<T> product(const Matrix<T>& A, const Matrix<T>& B) {
    Matrix<T> result(A.rows, B.columns);
    for (int row = 0; row < A.rows; ++row)
        for (int column = 0; column < B.columns; ++column)
            for (int i = 0; i < A.columns; ++i) result(row, column) += A(row, i) * B(i, column);
    return result;
}
// a A + b B
template <class T>
Matrix<T> sum(T a, const Matrix<T>& A, T b, const Matrix<T>& B) {
    Matrix<T> result = A;
    for (size_t i = 0; i < result.values.size(); ++i)
        result.values[i] = a * A.values[i] + b * B.values[i];
    return result;
}
template <class T>
Matrix<T> symmetric(int n, unsigned int seed) {
    Matrix<T> A = some_matrix<T>(n, n, seed);
    for (int row = 0; row < n; ++row)
        for (int column = 0; column < row; ++column) A(column, row) = A(row, column);
    return A;
}
// One half of a square matrix, with the diagonal; what is outside becomes `other`.
template <class T>
Matrix<T> half_of(Matrix<T> A, bool upper, T other = T{}) {
    for (int row = 0; row < A.rows; ++row)
        for (int column = 0; column < A.columns; ++column)
            if (upper ? row > column : row < column) A(row, column) = other;
    return A;
}
template <class T>
bool operator==(const Matrix<T>& A, const Matrix<T>& B) {
    return A.rows == B.rows && A.columns == B.columns && A.values == B.values;
}
template <class T>
T* on_device(const Matrix<T>& A) {
    return on_device(A.values);
}
template <class T>
Matrix<T> back(const T* device, int rows, int columns) {
    Matrix<T> result(rows, columns);
    result.values = back(device, result.values.size());
    return result;
}
