// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "tests/core/diagnose/findings/cardmaker.h"

namespace nanscope {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

Series layer(int number, std::size_t quiet, const std::vector<double>& then)
{
    return seriesOf("grad_norm/layers." + std::to_string(number) + ".mlp", 1, joined(constant(quiet, 0.5), then));
}

TEST(LayerNorms, TheFirstToLeaveItsRangeIsNamedAndTheOthersRanked)
{
    // Five times a mean of 0.5 is 2.5, fifty times is 25.
    const auto run = runWith({layer(0, 30, {nan}), layer(1, 24, {2.4, 2.6, 6, 12, 24, 48, nan}),
        layer(2, 27, {40, 80, 160, nan}), layer(3, 31, {})});
    const auto finding = cardOf(run, "layer-norms");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_EQ(finding.step, 27);
    EXPECT_EQ(finding.reason,
        "the norm grad_norm/layers.1.mlp left its range first: 6 at step 27, 9.2 times its mean before; then "
        "grad_norm/layers.2.mlp at step 28 and 1 more from step 31 on")
        << "2.4 is within, and lifts the mean to 0.576 and then, with 2.6, to 0.654";
    EXPECT_THAT(finding.evidence, SizeIs(3));
    EXPECT_EQ(finding.evidence.front().text, "grad_norm/layers.1.mlp is 6 at step 27");
}

TEST(LayerNorms, ASlowRiseDoesNotCarryTheMeanAlong)
{
    std::vector<double> rise;
    for (double value = 0.6; value < 40; value *= 1.2) {
        rise.push_back(value);
    }
    const auto finding = cardOf(runWith({layer(0, 120, rise), layer(1, 120, {})}), "layer-norms");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_THAT(finding.reason, HasSubstr("no other layer did"));
}

TEST(LayerNorms, ANewLevelIsNoDeparture)
{
    const auto run = runWith({layer(0, 50, joined(constant(150, 4), constant(10, 30))), layer(1, 210, {})});
    EXPECT_EQ(stateOf(run, "layer-norms"), FindingState::clear)
        << "30 is 60 times the old mean, and 7.5 times the new one";
}

TEST(LayerNorms, WhoComesBackDidNotLeave)
{
    const auto run = runWith({layer(0, 20, {99, 0.5, 0.5, 0.5}), layer(1, 24, {})});
    EXPECT_EQ(stateOf(run, "layer-norms"), FindingState::clear);
    EXPECT_THAT(cardOf(run, "layer-norms").reason, HasSubstr("of 2 layer's gradient norms none"));
}

TEST(LayerNorms, ThoseThatLeaveTogetherTellNothing)
{
    const auto run = runWith({layer(0, 20, {nan}), layer(1, 20, {nan}), layer(2, 20, {0.5})});
    EXPECT_EQ(stateOf(run, "layer-norms"), FindingState::notCheckable);
    EXPECT_THAT(cardOf(run, "layer-norms").reason, HasSubstr("2 layers leave their range at one step, 21"));
}

TEST(LayerNorms, OneAlone)
{
    EXPECT_THAT(cardOf(runWith({layer(0, 20, {99, 99}), layer(1, 22, {})}), "layer-norms").reason,
        HasSubstr("; no other layer did"));
}

TEST(LayerNorms, WithoutThemNothingIsChecked)
{
    EXPECT_EQ(
        stateOf(runWith({seriesOf("grad_norm", 1, {1, 2}), seriesOf("grad_norm/layers.0", 1, {1})}), "layer-norms"),
        FindingState::notCheckable)
        << "one layer is no ranking";
    EXPECT_EQ(
        stateOf(runWith({seriesOf("grad_2.0_norm_total", 1, {1, 2}), seriesOf("norms.0", 1, {1})}), "layer-norms"),
        FindingState::notCheckable);
    EXPECT_EQ(stateOf(runWith({seriesOf("grad/blocks.0.attn_norm.avg", 1, joined(constant(20, 1), {99})),
                          seriesOf("grad/blocks.1.attn_norm.avg", 1, constant(21, 1))}),
                  "layer-norms"),
        FindingState::notCheckable)
        << "a mean of a layer's norm weights is no norm";
    auto unread = runWith({layer(0, 20, {nan}), layer(1, 24, {})});
    for (auto& series : unread.series) {
        series.points.clear();
    }
    EXPECT_THAT(cardOf(unread, "layer-norms").reason, HasSubstr("were not read here"));
}

} // namespace
} // namespace nanscope
