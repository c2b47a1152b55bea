// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/reproduce/reducedcapture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <random>

#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <fmt/format.h>
#include <openssl/sha.h>

#include "core/base/try.h"
#include "core/platform/platform.h"
#include "core/replay/program/formats.h"

namespace nanscope::reproduce {

namespace {

using Matrix = Eigen::MatrixXd;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr std::int64_t mostRows = 2048; // of the shorter side: a few seconds

Matrix gaussian(std::int64_t rows, std::int64_t cols, std::mt19937_64& random)
{
    std::normal_distribution<double> normal;
    return Matrix::NullaryExpr(rows, cols, [&] { return normal(random); });
}

/// Columns that are orthonormal, the first of them an axis where asked for; rows >= cols.
Matrix orthonormal(std::int64_t rows, std::int64_t cols, std::mt19937_64& random, TwinDirections directions)
{
    Matrix start = gaussian(rows, cols, random);
    if (directions == TwinDirections::largestAlongAxes) {
        start.col(0) =
            Eigen::VectorXd::Unit(rows, static_cast<Eigen::Index>(random() % static_cast<std::uint64_t>(rows)));
    }
    const Eigen::HouseholderQR<Matrix> qr(start);
    return qr.householderQ() * Matrix::Identity(rows, cols);
}

/// From the eigenvalues of A A^T: what lies below its rounding is not known, and taken as zero.
Eigen::VectorXd singularValues(const Matrix& wide)
{
    const Matrix gram = wide * wide.transpose();
    Eigen::VectorXd squares = Eigen::SelfAdjointEigenSolver<Matrix>(gram, Eigen::EigenvaluesOnly).eigenvalues();
    constexpr double millionthSquared = 1e-12;
    const double least = millionthSquared * squares.maxCoeff();
    return squares.unaryExpr([least](double square) { return square <= least ? 0.0 : std::sqrt(square); });
}

} // namespace

Result<std::vector<double>> syntheticTwin(
    std::span<const double> matrix, std::int64_t rows, std::int64_t cols, std::uint64_t seed, TwinDirections directions)
{
    const bool finite = std::all_of(matrix.begin(), matrix.end(), [](double x) { return std::isfinite(x); });
    if (!finite || matrix.empty()) {
        return failure(ErrorKind::refused, "a matrix that is not finite has no singular values to share");
    }
    if (std::min(rows, cols) > mostRows) {
        return failure(ErrorKind::refused, "the matrix is too large for a synthetic twin");
    }
    const Eigen::Map<const RowMajor> input(matrix.data(), rows, cols);
    const double unit = std::max(input.cwiseAbs().maxCoeff(), std::numeric_limits<double>::min());
    const bool tall = rows > cols;
    const Matrix wide = (tall ? Matrix(input.transpose()) : Matrix(input)) / unit;
    std::mt19937_64 random(seed);
    const Matrix left = orthonormal(wide.rows(), wide.rows(), random, directions);
    const Matrix right = orthonormal(wide.cols(), wide.rows(), random, directions);
    Eigen::VectorXd values = singularValues(wide);
    if (directions == TwinDirections::largestAlongAxes) {
        values.reverseInPlace();
    }
    const Matrix twin = unit * (left * values.asDiagonal() * right.transpose());

    std::vector<double> result(matrix.size());
    Eigen::Map<RowMajor> out(result.data(), rows, cols);
    if (tall) {
        out = twin.transpose();
    } else {
        out = twin;
    }
    return result;
}

namespace fs = std::filesystem;

namespace {

bool damaged(const Scan& input, const Scan& output)
{
    return !output.finite() || input.allZero() != output.allZero();
}

std::vector<std::int64_t> damagedElements(const Capture& capture)
{
    std::vector<std::int64_t> elements;
    const auto count = capture.output ? std::min(capture.input.batches.size(), capture.output->batches.size()) : 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (damaged(capture.input.batches[i], capture.output->batches[i])) {
            elements.push_back(static_cast<std::int64_t>(i));
        }
    }
    return elements.empty() ? std::vector<std::int64_t> {0} : elements;
}

/// A stack stays one and a single matrix stays that: a function may take another way for either.
Shape shapeOfPart(const Shape& whole, const MatrixShape& part)
{
    return whole.size() <= 2 ? whole : Shape {part.batch, part.rows, part.cols};
}

Result<void> readElement(
    const tensorfile::Tensor& tensor, std::int64_t element, tensorfile::TensorToWrite& to, std::vector<double>& values)
{
    const auto bits = TRY(tensor.readBits(element));
    to.bytes.insert(to.bytes.end(), bits.begin(), bits.end());
    std::vector<double> numbers(static_cast<std::size_t>(tensor.matrices().elements()));
    TRY(tensor.read(element, std::span(numbers)));
    values.insert(values.end(), numbers.begin(), numbers.end());
    return {};
}

} // namespace

Result<ReducedCapture> reduceCapture(const tensorfile::CaptureFile& file, const Capture& scanned, std::size_t limit)
{
    ReducedCapture result;
    const auto whole = file.input.matrices();
    const bool withOutput = file.output && file.output->shape() == file.input.shape();
    const auto perElement = static_cast<std::size_t>(whole.elements())
        * (sizeOf(file.input.dtype()) + (withOutput ? sizeOf(file.output->dtype()) : 0));
    if (!isFloating(file.input.dtype()) || perElement == 0) {
        return failure(ErrorKind::unsupported, "the captured input holds no matrix of floating-point numbers");
    }
    if (perElement > limit) {
        return failure(ErrorKind::refused, "one captured matrix alone is larger than a bundle may be");
    }
    result.elements = damagedElements(scanned);
    result.elements.resize(std::min(result.elements.size(), limit / perElement));
    result.captured = whole.batch;
    result.shape = {static_cast<std::int64_t>(result.elements.size()), whole.rows, whole.cols};
    result.epsilon = file.capture.epsilon;
    result.input = {"input", file.input.dtype(), shapeOfPart(file.input.shape(), result.shape), {}};
    if (withOutput) {
        result.output = tensorfile::TensorToWrite {"output", file.output->dtype(), result.input.shape, {}};
    }
    for (const auto element : result.elements) {
        TRY(readElement(file.input, element, result.input, result.inputValues));
        if (withOutput) {
            TRY(readElement(*file.output, element, *result.output, result.outputValues));
        }
    }
    return result;
}

Result<ReducedCapture> syntheticCapture(ReducedCapture capture, std::uint64_t seed, TwinDirections directions)
{
    const auto precision = replay::precisionOf(capture.input.dtype);
    if (!precision) {
        return failure(ErrorKind::unsupported, "there is no synthetic twin in this number format");
    }
    const auto size = static_cast<std::size_t>(capture.shape.elements());
    std::vector<double> values;
    for (std::size_t i = 0; i < capture.elements.size(); ++i) {
        const auto matrix = std::span(capture.inputValues).subspan(i * size, size);
        auto twin = TRY(syntheticTwin(matrix, capture.shape.rows, capture.shape.cols, seed + i, directions));
        std::transform(twin.begin(), twin.end(), std::back_inserter(values),
            [&](double value) { return replay::roundTo(*precision, value); });
    }
    capture.input.bytes.resize(values.size() * sizeOf(capture.input.dtype));
    replay::encode(capture.input.dtype, values, capture.input.bytes.data());
    capture.inputValues = std::move(values);
    capture.output.reset();
    capture.twin = directions;
    return capture;
}

Result<std::vector<std::byte>> captureBytes(const ReducedCapture& capture)
{
    std::vector<std::pair<std::string, tensorfile::ValueToWrite>> entries {{"input", capture.input}};
    if (capture.output) {
        entries.emplace_back("output", *capture.output);
    }
    entries.emplace_back("shape", capture.input.shape);
    entries.emplace_back("dtype", fmt::format("torch.{}", torchName(capture.input.dtype)));
    if (capture.epsilon) {
        entries.emplace_back("epsilon", *capture.epsilon);
    }
    return tensorfile::ptBytes(entries);
}

std::string sha256(std::span<const std::byte> bytes)
{
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest {};
    SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
    std::string text;
    for (const auto byte : digest) {
        text += fmt::format("{:02x}", byte);
    }
    return text;
}

} // namespace nanscope::reproduce
