// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/analysis/deep.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <limits>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "core/replay/engine/frame.h"
#include "core/replay/variants/variant.h"
#include "tests/core/replay/framecapture.h"

namespace nanscope {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;
using Matrix = std::vector<double>;

double frobenius(const Matrix& matrix)
{
    double sum = 0;
    for (const double x : matrix) {
        sum += x * x;
    }
    return std::sqrt(sum);
}

double apart(const Matrix& a, const Matrix& b)
{
    Matrix difference = a;
    std::transform(a.begin(), a.end(), b.begin(), difference.begin(), std::minus<>());
    return frobenius(difference) / frobenius(b);
}

/// a (n x n) times b (n x m).
Matrix times(const Matrix& a, const Matrix& b, std::size_t n, std::size_t m)
{
    Matrix out(n * m, 0);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < n; ++k) {
            for (std::size_t j = 0; j < m; ++j) {
                out[i * m + j] += a[i * n + k] * b[k * m + j];
            }
        }
    }
    return out;
}

/// Smallest eigenvalue of the symmetric part, by the rotations of Jacobi.
double smallestByJacobi(Matrix s, std::size_t n)
{
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            s[i * n + j] = s[j * n + i] = 0.5 * (s[i * n + j] + s[j * n + i]);
        }
    }
    for (int sweep = 0; sweep < 40; ++sweep) {
        for (std::size_t p = 0; p < n; ++p) {
            for (std::size_t q = p + 1; q < n; ++q) {
                const double angle = 0.5 * std::atan2(2 * s[p * n + q], s[q * n + q] - s[p * n + p]);
                const double c = std::cos(angle);
                const double d = std::sin(angle);
                for (std::size_t k = 0; k < n; ++k) {
                    const double x = s[k * n + p];
                    const double y = s[k * n + q];
                    s[k * n + p] = c * x - d * y;
                    s[k * n + q] = d * x + c * y;
                }
                for (std::size_t k = 0; k < n; ++k) {
                    const double x = s[p * n + k];
                    const double y = s[q * n + k];
                    s[p * n + k] = c * x - d * y;
                    s[q * n + k] = d * x + c * y;
                }
            }
        }
    }
    double smallest = s[0];
    for (std::size_t i = 1; i < n; ++i) {
        smallest = std::min(smallest, s[i * n + i]);
    }
    return smallest;
}

replay::CellRequest cellRequest(const char* variant, Precision precision)
{
    replay::CellRequest cell;
    cell.variant = variant;
    cell.precision = precision;
    cell.lowering = replay::builtInVariant(variant)->lowering;
    return cell;
}

class Deep : public testing::Test
{
protected:
    std::string write(const Shape& shape, const Matrix& input)
    {
        return writeFrameCapture(m_folder / "x.pt", shape, input);
    }

    static DeepGauges deepOf(const std::string& path, const replay::CellRequest& cell, std::int64_t batch = 0)
    {
        const auto measured = replay::measureDeep({path, cell, batch}, replay::makeCoreDevice);
        EXPECT_TRUE(measured) << (measured ? "" : sentence(measured.error()));
        return measured ? measured->deep.value_or(DeepGauges {}) : DeepGauges {};
    }

    static Cell swept(const std::string& path, const replay::CellRequest& request)
    {
        const auto device = replay::makeEigenDevice();
        return replay::replayCell(*tensorfile::openCapture(path), request, {}, *device).value_or(Cell {});
    }

    /// The result of one op as a film shows it.
    static Matrix frameOf(const std::string& path, const replay::CellRequest& cell, OpName op, int iteration)
    {
        const auto film = replay::replayFilm({path, cell, 0, {}}, replay::makeCoreDevice);
        const auto& ops = film->ops;
        const auto found = std::find_if(ops.begin(), ops.end(),
            [&](const OpTrace& trace) { return trace.op == op && trace.iteration == iteration; });
        EXPECT_NE(found, ops.end());
        const auto index = static_cast<std::size_t>(found - ops.begin());
        const auto frame = replay::FrameReplay(replay::makeCoreDevice).frame({{path, cell, 0, {}}, index, {}});
        return frame->doubles.empty() ? Matrix(frame->floats.begin(), frame->floats.end()) : frame->doubles;
    }

    TemporaryFolder m_folder;
};

TEST_F(Deep, AreTheClosedFormsOfADiagonal)
{
    const std::vector<double> sigmas {3, 2, 0.5};
    const double norm = std::sqrt(9 + 4 + 0.25);
    const auto path = write({3, 5}, diagonal(3, 5, sigmas));
    for (const char* name : {"dion-ns5", "gns-gram", "gram-no-restart"}) {
        const auto deep = deepOf(path, cellRequest(name, Precision::fp64));
        const auto& steps = replay::builtInVariant(name)->steps;
        ASSERT_THAT(deep.shares, SizeIs(3)) << name;
        ASSERT_THAT(deep.steps, SizeIs(steps.size())) << name;
        EXPECT_EQ(deep.outputRange, replay::outputRange(steps)) << name;
        for (std::size_t k = 0; k < steps.size(); ++k) {
            const auto& step = deep.steps[k];
            const auto sigmaAfter = [&](std::size_t count, double sigma) {
                return replay::applySchedule(std::span(steps).first(count), sigma / (norm + 1e-7));
            };
            double smallest = HUGE_VAL;
            for (std::size_t i = 0; i < sigmas.size(); ++i) {
                EXPECT_NEAR(deep.shares[i], sigmas[i] / norm, 1e-12) << name;
                EXPECT_NEAR(step.signalGains.at(i), std::abs(sigmaAfter(k + 1, sigmas[i])), 1e-9) << name << k;
                smallest = std::min(smallest, std::pow(sigmaAfter(k, sigmas[i]), 2));
            }
            EXPECT_EQ(step.iteration, static_cast<int>(k) + 1);
            EXPECT_NEAR(step.lambdaMin.value(), smallest, 1e-9) << name << k;
            EXPECT_EQ(step.symmetryError, 0.0) << name << k;
            EXPECT_FALSE(step.iterateDistance) << "fp64 has nothing to be held against";
            EXPECT_EQ(step.commutator.has_value(), std::string_view(name) != "dion-ns5") << name << k;
            EXPECT_LT(step.commutator.value_or(0), 1e-15) << name << k;
        }
    }
}

TEST_F(Deep, DistanceIsThatOfTheFilmsOfBothFormats)
{
    const auto path = write({16, 24}, waveValues(16 * 24));
    const auto request = cellRequest("dion-ns5", Precision::bf16);
    auto exact = request;
    exact.precision = Precision::fp64;
    const auto deep = deepOf(path, request);
    for (int k = 1; k <= 5; ++k) {
        const auto expected = apart(frameOf(path, request, OpName::update, k), frameOf(path, exact, OpName::update, k));
        EXPECT_GT(expected, 1e-4);
        EXPECT_NEAR(deep.steps.at(static_cast<std::size_t>(k) - 1).iterateDistance.value(), expected, 1e-12) << k;
    }
}

TEST_F(Deep, IterateOfAGramFormIsQTimesTheLastStart)
{
    const auto request = cellRequest("gns-gram", Precision::fp16);
    auto exact = request;
    exact.precision = Precision::fp64;
    const auto path = write({10, 18}, waveValues(180));
    const auto deep = deepOf(path, request);
    const auto reached = [&](const replay::CellRequest& cell, OpName start, int startedAt, int iteration) {
        return times(frameOf(path, cell, OpName::q, iteration), frameOf(path, cell, start, startedAt), 10, 18);
    };
    // Restarted before the third step; the last has an X of its own.
    EXPECT_NEAR(deep.steps[1].iterateDistance.value(),
        apart(reached(request, OpName::cast, 0, 2), reached(exact, OpName::cast, 0, 2)), 1e-12);
    EXPECT_NEAR(deep.steps[3].iterateDistance.value(),
        apart(reached(request, OpName::restart, 3, 4), reached(exact, OpName::restart, 3, 4)), 1e-12);
    EXPECT_NEAR(deep.steps[4].iterateDistance.value(),
        apart(frameOf(path, request, OpName::update, 5), frameOf(path, exact, OpName::update, 5)), 1e-12);
}

TEST_F(Deep, OfATallMatrixAreThoseOfItsTranspose)
{
    const auto wide = waveValues(12 * 20);
    Matrix tall(wide.size());
    for (std::size_t i = 0; i < wide.size(); ++i) {
        tall[i % 20 * 12 + i / 20] = wide[i];
    }
    for (const char* name : {"gns-gram", "deepspeed-gram", "dion-ns5"}) {
        const auto request = cellRequest(name, Precision::fp16);
        const auto one = deepOf(write({12, 20}, wide), request);
        const auto other = deepOf(write({20, 12}, tall), request);
        ASSERT_THAT(other.steps, SizeIs(one.steps.size()));
        for (std::size_t k = 0; k < one.steps.size(); ++k) {
            EXPECT_NEAR(other.steps[k].iterateDistance.value(), one.steps[k].iterateDistance.value(), 1e-9) << name;
            EXPECT_NEAR(other.steps[k].lambdaMin.value(), one.steps[k].lambdaMin.value(), 1e-9) << name;
            EXPECT_EQ(other.steps[k].commutator.has_value(), one.steps[k].commutator.has_value()) << name;
            EXPECT_THAT(other.steps[k].signalGains, SizeIs(one.steps[k].signalGains.size())) << name;
        }
    }
}

TEST_F(Deep, GramOfANumericallyLowRankMatrixLosesItsSign)
{
    Matrix input(12 * 40);
    for (std::size_t i = 0; i < input.size(); ++i) {
        const std::size_t line = i / 40;
        const auto row = static_cast<double>(line);
        const auto col = static_cast<double>(i % 40);
        input[i] =
            static_cast<float>(std::sin(row + 1) * std::cos(0.3 * col) + 0.4 * std::cos(2 * row) * std::sin(col));
    }
    const auto path = write({12, 40}, input);
    const auto request = cellRequest("gram-no-restart", Precision::bf16);
    const auto deep = deepOf(path, request);
    for (int k = 1; k <= 5; ++k) {
        const auto gram = frameOf(path, request, k == 1 ? OpName::gram : OpName::r, std::max(1, k - 1));
        const auto& step = deep.steps.at(static_cast<std::size_t>(k) - 1);
        const double expected = smallestByJacobi(gram, 12);
        EXPECT_NEAR(step.lambdaMin.value(), expected, 1e-6 * frobenius(gram)) << k;
        Matrix across(gram.size());
        for (std::size_t i = 0; i < gram.size(); ++i) {
            across[i] = gram[i % 12 * 12 + i / 12];
        }
        EXPECT_NEAR(step.symmetryError.value(), apart(across, gram), 1e-12) << k;
    }
    EXPECT_LT(deep.steps[1].lambdaMin.value(), 0);
    EXPECT_GT(deep.steps[4].commutator.value(), 1e-6);
}

TEST_F(Deep, NothingIsToldAfterTheBirth)
{
    const auto path = write({4, 6}, diagonal(4, 6, {1, 0, 0, 0}));
    auto request = cellRequest("dion-polar-express", Precision::fp16);
    // The divisor comes out at half of what it should be: beyond the cliff.
    request.epsilon = -0.5;
    const auto cell = swept(path, request);
    ASSERT_TRUE(cell.birth);
    const auto birth = static_cast<std::size_t>(cell.birth->iteration);
    ASSERT_GE(birth, 2U);
    ASSERT_LT(birth, 5U);
    const auto deep = deepOf(path, request);
    ASSERT_THAT(deep.steps, SizeIs(5));
    for (std::size_t k = 1; k <= 5; ++k) {
        const auto& step = deep.steps[k - 1];
        EXPECT_EQ(step.iterateDistance.has_value(), k < birth) << k;
        EXPECT_EQ(step.signalGains.empty(), k >= birth) << k;
        EXPECT_TRUE(k <= birth || !(step.lambdaMin || step.symmetryError)) << k;
    }
    EXPECT_TRUE(deep.steps[0].lambdaMin);
}

TEST_F(Deep, OfAnInputThatIsNotFiniteThereAreNone)
{
    auto input = waveValues(24);
    input[7] = std::numeric_limits<double>::quiet_NaN();
    const auto deep = deepOf(write({4, 6}, input), cellRequest("gns-gram", Precision::fp16));
    EXPECT_TRUE(deep.shares.empty());
    for (const auto& step : deep.steps) {
        EXPECT_FALSE(step.iterateDistance || step.lambdaMin || step.symmetryError || step.commutator);
        EXPECT_TRUE(step.signalGains.empty());
    }
}

TEST_F(Deep, AreOfTheMatrixThatIsAskedFor)
{
    auto both = diagonal(3, 5, {3, 2, 1});
    const auto second = diagonal(3, 5, {4, 0, 0});
    both.insert(both.end(), second.begin(), second.end());
    const auto path = write({2, 3, 5}, both);
    const auto request = cellRequest("dion-ns5", Precision::fp32);
    EXPECT_THAT(deepOf(path, request, 0).shares, SizeIs(3));
    const auto deep = deepOf(path, request, 1);
    EXPECT_EQ(deep.batch, 1);
    ASSERT_THAT(deep.shares, SizeIs(1));
    EXPECT_NEAR(deep.shares[0], 1, 1e-12);
    const auto missing = replay::measureDeep({path, request, 2}, replay::makeCoreDevice);
    ASSERT_FALSE(missing);
    EXPECT_THAT(missing.error().what, HasSubstr("no matrix 2"));
}

TEST_F(Deep, CancelEndsThemAndProgressCountsOps)
{
    const auto path = write({4, 6}, waveValues(24));
    JobContext job;
    std::vector<Progress> seen;
    job.progress = [&](const Progress& progress) {
        seen.push_back(progress);
        if (seen.size() == 5) {
            job.cancel.cancel();
        }
    };
    const auto stopped =
        replay::measureDeep({path, cellRequest("dion-ns5", Precision::bf16), 0}, replay::makeCoreDevice, job);
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().kind, ErrorKind::cancelled);
    ASSERT_THAT(seen, SizeIs(5));
    EXPECT_EQ(seen[4].done, 4);
    EXPECT_EQ(seen[4].total, 20);
    EXPECT_EQ(seen[4].job, "deep");
}

TEST_F(Deep, CostIsStatedAndTooMuchIsRefused)
{
    const auto request = cellRequest("dion-ns5", Precision::bf16);
    const auto small = replay::deepCost({1, 512, 1408}, request, {});
    ASSERT_TRUE(small);
    // Five steps of A, A A and B X, in bf16 and in fp64; the rest is Lanczos.
    const double replays = 2 * 5 * (2 * 2.0 * 512 * 512 * 1408 + 2.0 * 512 * 512 * 512);
    EXPECT_GT(small->flops, replays);
    EXPECT_LT(small->flops, replays + 5 * 4.0 * 512 * 512 * 160 + 1);
    EXPECT_GT(small->bytes, 5 * 512 * 1408 * 8);
    EXPECT_TRUE(replay::allowDeep(*small));
    EXPECT_THAT(replay::deepCostText(*small), AllOf(HasSubstr("under a second at 20 GFLOP/s"), HasSubstr("MiB")));

    EXPECT_THAT(replay::deepCostText(*replay::deepCost({1, 1024, 4096}, request, {})),
        HasSubstr("about 10 seconds at 20 GFLOP/s"));
    const auto large = replay::deepCost({1, 16384, 16384}, request, {});
    const auto refused = replay::allowDeep(*large);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::refused);
    EXPECT_THAT(refused.error().what, AllOf(HasSubstr("hours"), HasSubstr("20 TFLOP"), HasSubstr("fewer steps")));
    EXPECT_FALSE(replay::deepCost({1, 4, 4}, cellRequest("dion-ns5", Precision::bf16), {}).value().flops > 1e9);
    auto unknown = request;
    unknown.variant = "muon";
    EXPECT_FALSE(replay::deepCost({1, 4, 4}, unknown, {}));
}

TEST_F(Deep, MemoryAloneIsReasonEnough)
{
    EXPECT_TRUE(replay::allowDeep({replay::mostDeepFlops, replay::mostDeepBytes}));
    EXPECT_FALSE(replay::allowDeep({1, replay::mostDeepBytes + 1}));
    EXPECT_FALSE(replay::allowDeep({replay::mostDeepFlops * 1.01, 1}));
}

/// Other orders of summation are allowed: noise may come out a little larger or smaller.
void expectNear(const std::optional<double>& found, const nlohmann::json& step, const char* key, double slack)
{
    ASSERT_EQ(found.has_value(), step.contains(key)) << key;
    if (found) {
        const auto expected = step[key].get<double>();
        EXPECT_NEAR(*found, expected, slack * std::abs(expected) + 1e-9) << key;
    }
}

TEST_F(Deep, AreThoseOfTorchsReplaysAndDenseSolvers)
{
    std::ifstream file(NANSCOPE_TEST_DATA "/deep/gauges.json");
    const auto all = nlohmann::json::parse(file);
    ASSERT_THAT(all, SizeIs(8));
    for (const auto& [key, expected] : all.items()) {
        SCOPED_TRACE(key);
        const auto variant = key.find('/');
        const auto format = key.rfind('/');
        const auto request = cellRequest(
            key.substr(variant + 1, format - variant - 1).c_str(), parsePrecision(key.substr(format + 1)).value());
        const auto deep = deepOf(NANSCOPE_TEST_DATA "/replay/" + key.substr(0, variant) + ".pt", request);
        ASSERT_THAT(deep.shares, SizeIs(expected["shares"].size()));
        ASSERT_THAT(deep.steps, SizeIs(expected["steps"].size()));
        for (std::size_t k = 0; k < deep.steps.size(); ++k) {
            SCOPED_TRACE(k + 1);
            const auto& step = expected["steps"][k];
            expectNear(deep.steps[k].iterateDistance, step, "iterate_distance", 0.1);
            expectNear(deep.steps[k].lambdaMin, step, "lambda_min", 0.1);
            expectNear(deep.steps[k].symmetryError, step, "symmetry_error", 0.2);
            expectNear(deep.steps[k].commutator, step, "commutator", 0.2);
            for (std::size_t i = 0; i < deep.shares.size(); ++i) {
                EXPECT_NEAR(deep.shares[i], expected["shares"][i].get<double>(), 1e-6);
                EXPECT_NEAR(deep.steps[k].signalGains.at(i), step["signal_gains"][i].get<double>(), 0.01);
            }
        }
    }
}

TEST(WorstBatch, IsTheFirstOfThoseThatEndWorst)
{
    Cell cell;
    EXPECT_EQ(replay::worstBatch(cell), 0);
    cell.batches = {{0, Outcome::finite, {}}, {1, Outcome::inf, {}}, {2, Outcome::inf, {}}};
    EXPECT_EQ(replay::worstBatch(cell), 1);
}

TEST(SymmetryError, IsTheClosedFormOfAConstructedMatrix)
{
    EXPECT_DOUBLE_EQ(replay::symmetryErrorOf(Matrix {0, 1, -1, 0}, 2).value(), 2);
    EXPECT_DOUBLE_EQ(replay::symmetryErrorOf(Matrix {1, 2, 0, 1}, 2).value(), std::sqrt(8.0 / 6));
    EXPECT_EQ(replay::symmetryErrorOf(Matrix {1, 3, 3, 2}, 2), 0.0);
    EXPECT_DOUBLE_EQ(replay::symmetryErrorOf(Matrix {0, 1e300, -1e300, 0}, 2).value(), 2) << "squares leave the range";
    EXPECT_FALSE(replay::symmetryErrorOf(Matrix(4, 0), 2));
}

TEST(Commutator, IsTheClosedFormOfAConstructedPair)
{
    const Matrix a {1, 0, 0, 2};
    EXPECT_DOUBLE_EQ(replay::commutatorOf(a, Matrix {0, 1, 1, 0}, 2).value(), std::sqrt(2.0) / std::sqrt(10.0));
    EXPECT_EQ(replay::commutatorOf(a, Matrix {5, 0, 0, -3}, 2), 0.0);
    EXPECT_FALSE(replay::commutatorOf(a, Matrix(4, 0), 2));
}

} // namespace
} // namespace nanscope
