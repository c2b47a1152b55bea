// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/triage/triage.h"

#include <cmath>

#include <gmock/gmock.h>

#include "core/diagnose/diagnose.h"
#include "core/model/verdict.h"
#include "tests/core/diagnose/healthycall.h"
#include "tests/core/session/temporaryfolder.h"

namespace nanscope {
namespace {

using testing::HasSubstr;

using test::Matrix;

bool isAsked(const tensorfile::CaptureFile& file, const Capture& scanned, const RunData& run)
{
    CaptureVerdict verdict;
    verdict.role = Role::upstream;
    diagnose::doubtInput(verdict, file, scanned, run);
    return verdict.rule == RuleId::inputMayBeResult;
}

class Overwritten : public testing::Test
{
protected:
    tensorfile::CaptureFile saved(const Matrix& input, const Matrix& output)
    {
        const auto path = m_folder / "x.pt";
        EXPECT_TRUE(tensorfile::writePt(path,
            {{"input", test::floatTensor({input}, test::smallRows, test::smallCols)},
                {"output", test::floatTensor({output}, test::smallRows, test::smallCols)}}));
        auto file = tensorfile::openCapture(path);
        EXPECT_TRUE(file && tensorfile::scanCapture(*file));
        file->capture.id = 1;
        return *file;
    }

    static Matrix withBadRow()
    {
        auto values = test::waves(test::smallRows * test::smallCols, 0);
        std::fill_n(values.begin(), test::smallCols, NAN);
        return values;
    }

    TemporaryFolder m_folder;
};

TEST_F(Overwritten, AFiniteRestThatIsHandedOnIsNoResultOfAnIteration)
{
    const auto file = saved(withBadRow(), withBadRow());
    EXPECT_TRUE(isAsked(file, file.capture, {}));
    RunData run;
    run.captures = {file.capture};
    const auto v = diagnose::diagnose(run)->captures[0];
    EXPECT_EQ(v.blame, Blame::undecided) << v.summary;
    EXPECT_EQ(v.role, Role::birth);
    EXPECT_THAT(v.question, HasSubstr("cloned before the call"));
    EXPECT_FALSE(v.facts.damage.text.empty());
}

TEST_F(Overwritten, NanInAndNanOutIsUpstream)
{
    const Matrix allNan(test::smallRows * test::smallCols, NAN);
    const auto file = saved(withBadRow(), allNan);
    EXPECT_FALSE(isAsked(file, file.capture, {}));
}

TEST_F(Overwritten, AllNanTwiceIsUpstreamWhereALogHasNan)
{
    const Matrix allNan(test::smallRows * test::smallCols, NAN);
    const auto file = saved(allNan, allNan);
    RunData run;
    EXPECT_TRUE(isAsked(file, file.capture, run));
    Series loss;
    loss.nan = 1;
    run.series.push_back(loss);
    EXPECT_FALSE(isAsked(file, file.capture, run));
}

TEST_F(Overwritten, ARestOfNormOneMayBeTheNormalisedInput)
{
    auto unit = withBadRow();
    double squares = 0;
    for (std::size_t i = test::smallCols; i < unit.size(); ++i) {
        squares += unit[i] * unit[i];
    }
    // One row in sixteen is gone.
    const double factor = std::sqrt(15.0 / 16 / squares);
    std::ranges::transform(unit, unit.begin(), [factor](auto value) { return factor * value; });
    auto twice = unit;
    std::ranges::transform(twice, twice.begin(), [](auto value) { return 2 * value; });
    const Matrix allNan(test::smallRows * test::smallCols, NAN);
    const auto verdictOn = [&](const Matrix& input, const std::string& function) {
        RunData run;
        run.captures = {saved(input, allNan).capture};
        run.captures[0].scene.function = function;
        return diagnose::diagnose(run)->captures[0];
    };
    const auto asked = verdictOn(unit, {});
    EXPECT_EQ(asked.rule, RuleId::inputMayBeResult) << asked.summary;
    EXPECT_EQ(asked.blame, Blame::undecided);
    EXPECT_THAT(asked.question, HasSubstr("cloned before the call"));
    EXPECT_EQ(verdictOn(twice, {}).blame, Blame::upstream);
    Matrix zeros(unit.size(), 0);
    zeros[3] = NAN;
    EXPECT_EQ(verdictOn(zeros, {}).rule, RuleId::inputMayBeResult) << "divided by an infinite norm in place";
    EXPECT_EQ(verdictOn(unit, "dion:newton_schulz").blame, Blame::upstream) << "the helper copies it before";
}

TEST_F(Overwritten, OneMemoryForBothIsWhatTheCallLeft)
{
    const Matrix allNan(test::smallRows * test::smallCols, NAN);
    auto file = saved(allNan, allNan);
    file.output = file.input;
    EXPECT_TRUE(isAsked(file, file.capture, {}));
    file.wrapped = true;
    EXPECT_TRUE(isAsked(file, file.capture, {})) << "what clones its input leaves two";
    auto alike = saved(allNan, allNan);
    alike.wrapped = true;
    EXPECT_FALSE(isAsked(alike, alike.capture, {})) << "the wrapper clones its input first";
}

} // namespace
} // namespace nanscope
