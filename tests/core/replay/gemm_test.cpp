// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <gtest/gtest.h>

#include "core/replay/device/gemm.h"

namespace nanscope {
namespace {

/// Small whole numbers, so that every order of summation gives the same exact result.
template <class T>
std::vector<T> wholeNumbers(std::int64_t count, std::uint32_t seed)
{
    std::vector<T> values;
    for (std::int64_t i = 0; i < count; ++i) {
        seed = seed * 1664525U + 1013904223U;
        values.push_back(static_cast<T>(static_cast<int>(seed >> 28U) - 8));
    }
    return values;
}

template <class T>
T at(const std::vector<T>& matrix, std::int64_t row, std::int64_t col, std::int64_t rows, std::int64_t cols, bool flip)
{
    return matrix[static_cast<std::size_t>(flip ? col * rows + row : row * cols + col)];
}

template <class T>
void expectExact(std::int64_t rows, std::int64_t cols, std::int64_t inner, int threads)
{
    const auto a = wholeNumbers<T>(rows * inner, 1);
    const auto b = wholeNumbers<T>(inner * cols, 2);
    for (const bool transposeA : {false, true}) {
        for (const bool transposeB : {false, true}) {
            std::vector<T> out(static_cast<std::size_t>(rows * cols), T {-1});
            replay::gemm(
                replay::GemmShape<T> {a.data(), b.data(), out.data(), rows, cols, inner, transposeA, transposeB},
                threads);
            for (std::int64_t r = 0; r < rows; ++r) {
                for (std::int64_t c = 0; c < cols; ++c) {
                    T sum = 0;
                    for (std::int64_t k = 0; k < inner; ++k) {
                        sum += at(a, r, k, rows, inner, transposeA) * at(b, k, c, inner, cols, transposeB);
                    }
                    ASSERT_EQ(out[static_cast<std::size_t>(r * cols + c)], sum)
                        << rows << "x" << inner << "x" << cols << " at " << r << "," << c << " " << transposeA
                        << transposeB;
                }
            }
        }
    }
}

TEST(Gemm, IsExactOnWholeNumbersOfEveryShapeAndTransposition)
{
    for (const std::int64_t rows : {1, 3, 17}) {
        for (const std::int64_t cols : {1, 7, 33}) {
            for (const std::int64_t inner : {1, 5, 40}) {
                expectExact<float>(rows, cols, inner, 1);
                expectExact<double>(rows, cols, inner, 1);
            }
        }
    }
}

TEST(Gemm, SharesLargeProductsOverThreadsWithoutLosingRows)
{
    // Beyond ten million operations rows are shared out; five do not divide 161.
    expectExact<float>(161, 170, 190, 5);
    expectExact<double>(161, 170, 190, 2);
}

template <class T>
std::vector<T> sines(std::int64_t count, double pace)
{
    std::vector<T> values;
    for (std::int64_t i = 0; i < count; ++i) {
        values.push_back(static_cast<T>(std::sin(static_cast<double>(i) * pace)));
    }
    return values;
}

template <class T>
void expectEqualBits(std::int64_t rows, std::int64_t cols, std::int64_t inner)
{
    const auto a = sines<T>(rows * inner, 1.7);
    const auto b = sines<T>(inner * cols, 0.3);
    for (const bool transposeA : {false, true}) {
        for (const bool transposeB : {false, true}) {
            const auto product = [&](int threads) {
                std::vector<T> out(static_cast<std::size_t>(rows * cols));
                replay::gemm({a.data(), b.data(), out.data(), rows, cols, inner, transposeA, transposeB}, threads);
                return out;
            };
            const auto one = product(1);
            for (const int threads : {1, 2, 3, 8}) {
                EXPECT_EQ(product(threads), one) << rows << "x" << cols << ", " << threads << " threads";
            }
        }
    }
}

TEST(Gemm, EqualInputsGiveEqualBitsOnAnyNumberOfThreads)
{
    expectEqualBits<float>(180, 190, 200);
    expectEqualBits<float>(100, 1003, 300);
    expectEqualBits<float>(1003, 101, 300);
    expectEqualBits<double>(90, 403, 300);
    expectEqualBits<double>(403, 91, 300);
}

TEST(Gemm, NonFiniteOperandsSpreadAsInArithmetic)
{
    const std::vector<double> a {1, NAN, 2, 3};
    const std::vector<double> b {1, 2, 3, 4};
    std::vector<double> out(4);
    replay::gemm(replay::GemmShape<double> {a.data(), b.data(), out.data(), 2, 2, 2, false, false}, 1);
    EXPECT_TRUE(std::isnan(out[0]));
    EXPECT_TRUE(std::isnan(out[1]));
    EXPECT_EQ(out[2], 11);
    EXPECT_EQ(out[3], 16);

    const std::vector<double> zeroAndInf {0, INFINITY};
    replay::gemm(replay::GemmShape<double> {zeroAndInf.data(), zeroAndInf.data(), out.data(), 1, 1, 2, false, true}, 1);
    EXPECT_TRUE(std::isinf(out[0]));
    replay::gemm(
        replay::GemmShape<double> {zeroAndInf.data() + 1, zeroAndInf.data(), out.data(), 1, 1, 1, false, false}, 1);
    EXPECT_TRUE(std::isnan(out[0])) << "inf times zero is not skipped";
}

TEST(Gemm, NamesWhatItUses)
{
    const auto set = replay::gemmInstructionSet();
    EXPECT_TRUE(set == "avx512" || set == "avx2" || set == "baseline") << set;
}

TEST(Gemm, LargeOnesAreExactBlockByBlockAndStopWhenCancelled)
{
    constexpr std::int64_t size = 2000;
    const std::vector<float> a(size * size, 1);
    const std::vector<float> b(size * size, 2);
    std::vector<float> out(size * size, -1);
    const replay::GemmShape<float> shape {a.data(), b.data(), out.data(), size, size, size};
    replay::gemm(shape, 2);
    EXPECT_EQ(out, std::vector<float>(size * size, 2 * size));

    CancelToken cancel;
    cancel.cancel();
    out.assign(out.size(), -1);
    replay::gemm(shape, 2, cancel);
    EXPECT_EQ(out, std::vector<float>(size * size, -1)) << "no block is begun";
}

template <class T>
void expectSymmetric(std::int64_t size, std::int64_t inner, int threads)
{
    const auto a = wholeNumbers<T>(size * inner, 5);
    for (const bool transposeA : {false, true}) {
        std::vector<T> whole(static_cast<std::size_t>(size * size));
        auto half = whole;
        replay::GemmShape<T> shape {a.data(), a.data(), whole.data(), size, size, inner, transposeA, !transposeA};
        replay::gemm(shape, 1);
        shape.out = half.data();
        replay::gemmSymmetric(shape, threads);
        EXPECT_EQ(half, whole) << size << ", " << inner << ", " << transposeA;
        EXPECT_TRUE(replay::isSymmetric(std::span<const T>(half), size)) << size;
        std::vector<T> square(half.size());
        auto halfSquare = square;
        replay::gemm(replay::GemmShape<T> {half.data(), half.data(), square.data(), size, size, size}, 1);
        replay::gemmSymmetric(
            replay::GemmShape<T> {half.data(), half.data(), halfSquare.data(), size, size, size}, threads);
        EXPECT_EQ(halfSquare, square) << size << ", " << inner;
    }
}

TEST(Gemm, OfASymmetricProductHalfIsEnough)
{
    for (const std::int64_t size : {1, 63, 64, 65, 255, 256, 257, 530}) {
        for (const int threads : {1, 3}) {
            expectSymmetric<float>(size, 20, threads);
            expectSymmetric<double>(size, 3, threads);
        }
    }
}

TEST(Gemm, ASymmetricProductIsTheSameOnAnyNumberOfThreads)
{
    constexpr std::int64_t size = 700;
    std::vector<float> a;
    for (std::int64_t i = 0; i < size * 90; ++i) {
        a.push_back(std::sin(static_cast<float>(i) * 1.7F));
    }
    std::vector<float> one(static_cast<std::size_t>(size * size));
    auto four = one;
    replay::gemmSymmetric(replay::GemmShape<float> {a.data(), a.data(), one.data(), size, size, 90, false, true}, 1);
    replay::gemmSymmetric(replay::GemmShape<float> {a.data(), a.data(), four.data(), size, size, 90, false, true}, 4);
    EXPECT_EQ(one, four);
    for (std::int64_t r = 0; r < size; ++r) {
        for (std::int64_t c = 0; c < r; ++c) {
            ASSERT_EQ(one[static_cast<std::size_t>(r * size + c)], one[static_cast<std::size_t>(c * size + r)])
                << r << ", " << c;
        }
    }
}

/// Of long sums the strips are cut once more.
TEST(Gemm, ALongSymmetricProductIsCutAndTellsHowFarItIs)
{
    constexpr std::int64_t size = 600;
    constexpr std::int64_t inner = 40000;
    std::vector<float> a(static_cast<std::size_t>(size * inner));
    for (std::size_t i = 0; i < a.size(); ++i) {
        a[i] = std::sin(static_cast<float>(i % 9973) * 1.7F);
    }
    std::vector<float> whole(static_cast<std::size_t>(size * size));
    auto half = whole;
    auto byThree = whole;
    replay::GemmShape<float> shape {a.data(), a.data(), whole.data(), size, size, inner, false, true};
    replay::gemm(shape, 1);
    shape.out = byThree.data();
    replay::gemmSymmetric(shape, 3);
    shape.out = half.data();
    std::vector<double> told;
    replay::gemmSymmetric(shape, 1, {}, [&](double share) { told.push_back(share); });
    EXPECT_EQ(half, byThree);
    EXPECT_TRUE(replay::isSymmetric(std::span<const float>(half), size));
    for (std::size_t i = 0; i < whole.size(); ++i) {
        ASSERT_NEAR(half[i], whole[i], 1) << i << ": sums of as many have other roundings in another order";
    }
    EXPECT_GT(told.size(), 3U) << "more than there are strips";
    EXPECT_TRUE(std::ranges::is_sorted(told));
    EXPECT_LE(told.back(), 1);
    CancelToken cancel;
    std::size_t parts = 0;
    replay::gemmSymmetric(shape, 1, cancel, [&](double) {
        ++parts;
        cancel.cancel();
    });
    EXPECT_EQ(parts, 1U) << "no other is begun";
}

TEST(Gemm, OneElementOrANanIsEnoughNotToBeSymmetric)
{
    std::vector<double> matrix(static_cast<std::size_t>(130 * 130), 2);
    EXPECT_TRUE(replay::isSymmetric(matrix, 130));
    for (const std::size_t beside : {1, 65, 128}) {
        matrix[(beside + 1) * 130 + beside] = 3;
        EXPECT_FALSE(replay::isSymmetric(matrix, 130)) << beside;
        matrix[(beside + 1) * 130 + beside] = 2;
    }
    matrix[129 * 130 + 3] = 3;
    EXPECT_FALSE(replay::isSymmetric(matrix, 130));
    matrix[3 * 130 + 129] = 3;
    EXPECT_TRUE(replay::isSymmetric(matrix, 130));
    matrix[3 * 130 + 129] = matrix[129 * 130 + 3] = std::nan("");
    EXPECT_FALSE(replay::isSymmetric(matrix, 130));
}

} // namespace
} // namespace nanscope
