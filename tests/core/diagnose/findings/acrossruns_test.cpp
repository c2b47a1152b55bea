// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/findings/acrossruns.h"

#include "tests/core/diagnose/findings/cardmaker.h"

namespace nanscope {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

RunData badFrom(std::size_t step, double rate = 1e-3)
{
    return runWith({seriesOf("loss", 1, joined(constant(step - 1, 2), constant(5, nan))),
        seriesOf("lr", 1, constant(step + 4, rate))});
}

Finding across(const std::string& id, const std::vector<const RunData*>& runs)
{
    std::vector<diagnose::NamedRun> named;
    for (const auto* run : runs) {
        named.push_back({std::string(1, static_cast<char>('a' + named.size())), run});
    }
    for (auto& finding : diagnose::findingsAcross(named)) {
        if (finding.id == id) {
            return std::move(finding);
        }
    }
    ADD_FAILURE() << "no card " << id;
    return {};
}

TEST(AcrossRuns, TheSameFirstBadStepOfTwoRuns)
{
    const auto first = badFrom(55);
    const auto second = badFrom(55);
    const auto other = badFrom(70);
    const auto finding = across("P11", {&first, &other, &second});
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_THAT(finding.reason, HasSubstr("2 runs have the same first bad step, 55"));
    ASSERT_THAT(finding.evidence, SizeIs(2));
    EXPECT_EQ(finding.evidence[0].file, "a/train.log");
    EXPECT_EQ(finding.evidence[1].file, "c/train.log");
    EXPECT_EQ(finding.evidence[1].line, 154);
    EXPECT_EQ(stateOf(first, "P11"), FindingState::notCheckable) << "one run alone cannot tell";
}

TEST(AcrossRuns, TheConfigurationTellsARateThatIsNotLogged)
{
    auto first = runWith({seriesOf("loss", 1, joined(constant(54, 2), constant(5, nan)))}, {}, {setting("lr", "3e-4")});
    auto second =
        runWith({seriesOf("loss", 1, joined(constant(60, 2), constant(5, nan)))}, {}, {setting("lr", "1e-4")});
    EXPECT_EQ(across("P17", {&first, &second}).state, FindingState::fired);
    EXPECT_THAT(across("P17", {&first, &second}).reason, HasSubstr("0.0003 at step 55, 0.0001 at step 61"));
    second.settings = first.settings;
    EXPECT_EQ(across("P17", {&first, &second}).state, FindingState::notCheckable) << "one rate";
}

TEST(AcrossRuns, StepsThatDifferAreNotOneBatch)
{
    const auto first = badFrom(55);
    const auto second = badFrom(56);
    const auto well = runWith({seriesOf("loss", 1, constant(90, 2))});
    EXPECT_EQ(across("P11", {&first, &second}).state, FindingState::clear);
    EXPECT_THAT(across("P11", {&first, &second}).reason, HasSubstr("a at step 55, b at step 56"));
    EXPECT_EQ(across("P11", {&first, &well}).state, FindingState::notCheckable);
}

TEST(AcrossRuns, ARunThatStartsBadSpeaksOfItsCheckpoint)
{
    const auto first = runWith({seriesOf("loss", 1, {nan, nan})});
    const auto second = runWith({seriesOf("loss", 1, {nan, nan})});
    EXPECT_EQ(across("P11", {&first, &second}).state, FindingState::notCheckable);
}

TEST(AcrossRuns, EveryLearningRateGoesBadEarly)
{
    const auto high = badFrom(90, 1e-3);
    const auto low = badFrom(120, 3e-4);
    const auto finding = across("P17", {&high, &low});
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_EQ(finding.confidence, "low");
    EXPECT_THAT(finding.reason, HasSubstr("0.001 at step 90, 0.0003 at step 120"));
    const auto same = badFrom(100, 1e-3);
    EXPECT_EQ(across("P17", {&high, &same}).state, FindingState::notCheckable) << "one rate tried twice";
    const auto lasting = badFrom(500, 3e-4);
    EXPECT_EQ(across("P17", {&high, &lasting}).state, FindingState::clear);
    const auto brief = runWith({seriesOf("loss", 1, constant(90, 2)), seriesOf("lr", 1, constant(90, 1e-4))});
    EXPECT_EQ(across("P17", {&high, &brief}).state, FindingState::notCheckable) << "it ended before it could go bad";
}

} // namespace
} // namespace nanscope
