// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// Whole runs through diagnose(): finite tiles that are wrong, beside damage, and values out of earlier dumps.
#include <cmath>
#include <cstring>
#include <functional>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "core/diagnose/damage/outliertiles.h"
#include "core/diagnose/diagnose.h"
#include "core/model/verdict.h"
#include "core/replay/program/formats.h"
#include "tests/core/diagnose/healthycall.h"
#include "tests/core/diagnose/says.h"
#include "tests/core/session/temporaryfolder.h"

namespace nanscope {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t staleRows = 64;
constexpr std::int64_t staleCols = 96;
constexpr std::size_t staleSize = staleRows * staleCols;

using test::Matrix;

Matrix chirps(double phase)
{
    Matrix values(staleSize);
    for (std::size_t i = 0; i < staleSize; ++i) {
        const auto x = static_cast<double>(i);
        values[i] =
            replay::roundTo(Precision::bf16, std::sin(1.7 * x + phase) + 0.5 * std::cos(0.013 * x * x + phase * x));
    }
    return values;
}

Matrix gramOutput(const Matrix& input)
{
    return test::healthyOutput("gns-gram", input, staleRows, staleCols);
}

tensorfile::TensorToWrite staleTensor(const Matrix& values)
{
    return test::floatTensor({values}, staleRows, staleCols);
}

void fill(Matrix& matrix, const diagnose::Region& region, const std::function<double(std::size_t)>& value)
{
    for (auto r = region.rowBegin; r < region.rowEnd; ++r) {
        for (auto c = region.colBegin; c < region.colEnd; ++c) {
            const auto i = static_cast<std::size_t>(r * staleCols + c);
            matrix[i] = value(i);
        }
    }
}

/// In place of the result, and in no proportion to it: not what a term or a factor of the user's own leaves.
double foreign(std::size_t i)
{
    return 0.3 * std::sin(2.3 * static_cast<double>(i));
}

constexpr diagnose::Region staleTile {32, 48, 64, 80};
constexpr diagnose::Region lastTile {48, 64, 80, 96};

class StaleTiles : public testing::Test
{
protected:
    std::string add(int pid, const Matrix& input, const Matrix& output)
    {
        auto name = fmt::format("dion_nan_capture_rank0_shape1x64x96_pid{}_{}.pt", pid, 1000 + m_run.captures.size());
        EXPECT_TRUE(tensorfile::writePt(
            m_folder / name, {{"input", staleTensor(input)}, {"output", staleTensor(output)}, {"epsilon", 1e-8}}));
        auto file = tensorfile::openCapture(m_folder / name);
        EXPECT_TRUE(file && tensorfile::scanCapture(*file));
        file->capture.id = static_cast<std::int64_t>(m_run.captures.size()) + 1;
        m_run.captures.push_back(file->capture);
        return name;
    }

    /// On the capture that was added last.
    CaptureVerdict verdict()
    {
        const auto diagnosis = diagnose::diagnose(m_run);
        EXPECT_TRUE(diagnosis) << (diagnosis ? "" : sentence(diagnosis.error()));
        for (const auto& one : diagnosis->captures) {
            if (one.captureId == std::ssize(m_run.captures)) {
                return one;
            }
        }
        ADD_FAILURE() << "no verdict";
        return {};
    }

    TemporaryFolder m_folder;
    RunData m_run;
};

TEST_F(StaleTiles, ATileOutOfAnEarlierDumpNamesTheDump)
{
    const auto before = gramOutput(chirps(1));
    const auto name = add(7, chirps(1), before);
    auto output = gramOutput(chirps(2));
    fill(output, staleTile, [&](std::size_t i) { return before[i]; });
    add(7, chirps(2), output);
    const auto v = verdict();
    EXPECT_EQ(v.rule, RuleId::offInPlaces) << "an old value may be kept on purpose";
    EXPECT_THAT(v.speaksFor,
        Contains(AllOf(Field(&EvidenceLine::source, "bytes"),
            Field(&EvidenceLine::text,
                HasSubstr("from [32, 64] on, stand at the same place in the output of " + name)))));
}

TEST_F(StaleTiles, AnotherProcessLeftNothingInThisOnesMemory)
{
    const auto before = gramOutput(chirps(1));
    add(6, chirps(1), before);
    auto output = gramOutput(chirps(2));
    fill(output, staleTile, [&](std::size_t i) { return before[i]; });
    add(7, chirps(2), output);
    const auto v = verdict();
    EXPECT_EQ(v.rule, RuleId::offInPlaces);
    EXPECT_THAT(v.speaksFor, Not(says("stale")));
}

TEST_F(StaleTiles, AnEarlierDumpThatIsAlikeIsNoSource)
{
    // The same call twice, wrong in the same place each time: a fault, and not the memory of the first.
    auto output = gramOutput(chirps(2));
    fill(output, staleTile, foreign);
    add(7, chirps(2), output);
    add(7, chirps(2), output);
    const auto v = verdict();
    EXPECT_EQ(v.rule, RuleId::offInPlaces) << "both ended alike, so nothing was another output";
    EXPECT_THAT(v.speaksFor, Not(says("stale")));
}

TEST_F(StaleTiles, TheSameInputWithoutTheWrongTileIsAnotherOutput)
{
    const auto good = gramOutput(chirps(2));
    add(7, chirps(2), good);
    auto output = good;
    fill(output, staleTile, foreign);
    add(7, chirps(2), output);
    const auto v = verdict();
    EXPECT_EQ(v.blame, Blame::undecided) << "a mask or an old value may have changed in between";
    EXPECT_THAT(v.notTestable, says("was given the same bits"));
}

TEST_F(StaleTiles, AWrongTileBesideNanIsALineMore)
{
    auto output = gramOutput(chirps(2));
    fill(output, lastTile, [](std::size_t) { return NAN; });
    add(7, chirps(2), output);
    m_run.captures.back().nothingElse = true;
    const auto plain = verdict();
    EXPECT_EQ(plain.blame, Blame::implementation) << plain.summary;
    EXPECT_THAT(plain.speaksFor, Not(says("beside the damage")));
    const auto before = gramOutput(chirps(1));
    fill(output, staleTile, [&](std::size_t i) { return before[i]; });
    m_run.captures.clear();
    const auto name = add(7, chirps(1), before);
    add(7, chirps(2), output);
    m_run.captures.back().nothingElse = true;
    const auto v = verdict();
    EXPECT_EQ(v.blame, Blame::implementation) << v.summary;
    EXPECT_EQ(v.summary, plain.summary) << "the verdict stands without it";
    EXPECT_THAT(v.speaksFor,
        says("beside the damage 1 finite tile of 16 × 16 is not what any replay gives either: around [32, 64], up to"));
    EXPECT_THAT(v.speaksFor, Contains(Field(&EvidenceLine::text, testing::ContainsRegex("up to [0-9]+ % off$"))));
    EXPECT_THAT(v.speaksFor, says("stand at the same place in the output of " + name));
}

} // namespace
} // namespace nanscope
