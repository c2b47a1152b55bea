// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <gmock/gmock.h>

#include "core/diagnose/compareruns.h"
#include "tests/core/diagnose/runmaker.h"

namespace nanscope {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using testing::SizeIs;

RunData runOf(const std::string& name, std::int64_t first, const std::vector<double>& values)
{
    RunData run;
    run.series = {seriesOf(name, first, values)};
    return run;
}

diagnose::Trace traceOfValues(const std::vector<double>& values)
{
    return diagnose::traceOf(runOf("loss", 1, values), "loss");
}

TEST(CompareRuns, TheFirstStepThatDiffers)
{
    const auto out =
        diagnose::compareRuns(runOf("loss", 1, {3.25, 2.5, 2.25, 2}), runOf("loss", 1, {3.25, 2.5, 2.5, 8}));
    ASSERT_THAT(out.series, SizeIs(1));
    const auto& loss = out.series[0];
    EXPECT_EQ(loss.common, 4);
    EXPECT_EQ(loss.differing, 2);
    ASSERT_TRUE(loss.first);
    EXPECT_EQ(loss.first->first.step, 3);
    EXPECT_EQ(loss.first->second.value, 2.5);
    EXPECT_EQ(loss.largest->first.step, 4);
    EXPECT_EQ(loss.largestRelative, 0.75);
    EXPECT_EQ(out.first(), &loss);
}

TEST(CompareRuns, NanEqualsNanAndNothingElse)
{
    EXPECT_EQ(diagnose::compareRuns(runOf("loss", 1, {nan, inf}), runOf("loss", 1, {nan, inf})).first(), nullptr);
    const auto out = diagnose::compareRuns(runOf("loss", 1, {2, nan, nan}), runOf("loss", 1, {2, 2, inf}));
    EXPECT_EQ(out.series[0].differing, 2);
    EXPECT_EQ(out.series[0].first->first.step, 2);
    EXPECT_FALSE(out.series[0].largest) << "NaN is no distance";
}

TEST(CompareRuns, OnlyCommonStepsAreHeldAgainstEachOther)
{
    const auto out = diagnose::compareRuns(runOf("loss", 1, {1, 2, 3, 4}), runOf("loss", 3, {3, 4, 5}));
    EXPECT_EQ(out.series[0].common, 2);
    EXPECT_EQ(out.first(), nullptr);
    const auto shifted = diagnose::compareRuns(runOf("loss", 0, {1, 2, 3}), runOf("loss", 1, {1, 2, 3}), 1);
    EXPECT_EQ(shifted.series[0].common, 3) << "one counts from 0, the other from 1";
    EXPECT_EQ(shifted.first(), nullptr);
}

/// Thirty values with four decimals, or cut to two.
std::vector<double> falling(int decimals)
{
    std::vector<double> values;
    const double scale = std::pow(10.0, decimals);
    for (int i = 0; i < 30; ++i) {
        values.push_back(std::nearbyint((3.1234 - 0.0371 * i) * scale) / scale);
    }
    return values;
}

/// As many values from `first` on, 0.001 apart.
std::vector<double> thousandths(double first)
{
    std::vector<double> values;
    for (int i = 0; i < 60; ++i) {
        values.push_back(std::nearbyint((first + 0.001 * i) * 1e4) / 1e4);
    }
    return values;
}

TEST(CompareRuns, WhatTheLastDecimalTellsApartIsNotEqual)
{
    const auto out =
        diagnose::compareRuns(runOf("grad_norm", 0, thousandths(0.4)), runOf("grad_norm", 0, thousandths(0.4004)));
    EXPECT_EQ(out.series[0].differing, 60) << "no value of the first needs the decimal that the second differs in";
    ASSERT_NE(out.first(), nullptr);
    EXPECT_EQ(out.first()->first->first.step, 0);
    EXPECT_EQ(out.first()->equalDecimals, 3);
    const auto same = diagnose::compareRuns(runOf("loss", 0, thousandths(0.4)), runOf("loss", 0, thousandths(0.4)));
    EXPECT_EQ(same.first(), nullptr);
    EXPECT_EQ(same.series[0].equalDecimals, std::nullopt) << "equal anyway";
}

TEST(CompareRuns, TellsWhereRoundingMakesTwoLogsEqual)
{
    EXPECT_EQ(diagnose::decimalsOf(traceOfValues({2.3456, 1.0, nan})), 4);
    EXPECT_EQ(diagnose::decimalsOf(traceOfValues({65536, 32768})), 0);
    EXPECT_EQ(diagnose::decimalsOf(traceOfValues({1.0 / 3})), std::nullopt);
    const auto rounded = diagnose::compareRuns(runOf("loss", 1, falling(4)), runOf("loss", 1, falling(2)));
    EXPECT_EQ(rounded.series[0].equalDecimals, 2);
    ASSERT_NE(rounded.first(), nullptr);
    EXPECT_EQ(rounded.first()->first->first.step, 1);
    auto full = falling(4);
    for (double& value : full) {
        value = static_cast<float>(value);
    }
    EXPECT_EQ(diagnose::compareRuns(runOf("loss", 1, falling(4)), runOf("loss", 1, full)).series[0].equalDecimals, 4)
        << "a file of events beside a console";
    auto other = falling(2);
    other[7] += 0.01;
    const auto apart = diagnose::compareRuns(runOf("loss", 1, falling(4)), runOf("loss", 1, other));
    EXPECT_EQ(apart.series[0].equalDecimals, std::nullopt);
    const auto third = diagnose::compareRuns(runOf("loss", 1, {1.0 / 3}), runOf("loss", 1, {1.0 / 3 + 1e-12}));
    EXPECT_NE(third.first(), nullptr);
}

TEST(CompareRuns, AFewRoundValuesAreNotRounded)
{
    const auto loss =
        diagnose::compareRuns(runOf("loss", 1, constant(50, 2.0)), runOf("loss", 1, constant(50, 2.4999)));
    ASSERT_NE(loss.first(), nullptr);
    EXPECT_EQ(loss.series[0].differing, 50);
    EXPECT_EQ(loss.series[0].equalDecimals, std::nullopt);
    EXPECT_NE(diagnose::compareRuns(runOf("lr", 1, {3e-4}), runOf("lr", 1, {3.4e-4})).first(), nullptr);
}

TEST(CompareRuns, EveryRankIsHeldAgainstItsOwn)
{
    auto a = runOf("loss", 1, {1, 2, 3});
    auto rank1 = seriesOf("loss", 1, {1, 2, 3});
    rank1.rank = 1;
    a.series.push_back(rank1);
    auto b = a;
    b.series[1].points[1].value = nan;
    b.series[1].points[1].state = PointState::nan;
    const auto out = diagnose::compareRuns(a, b);
    ASSERT_NE(out.first(), nullptr);
    EXPECT_EQ(out.first()->rank, 1);
    EXPECT_EQ(out.first()->first->first.step, 2);
    auto unranked = runOf("loss", 1, {1, 2, 4});
    unranked.series[0].rank.reset();
    EXPECT_EQ(diagnose::compareRuns(runOf("loss", 1, {1, 2, 3}), unranked).series.at(0).differing, 1) << "one of each";
    const auto lowest = diagnose::compareRuns(b, unranked);
    ASSERT_EQ(lowest.series.size(), 1U) << "a log without a rank is held against the lowest";
    EXPECT_EQ(lowest.series[0].a.rank, 0);
    EXPECT_EQ(lowest.series[0].rank, 0) << "which of the ranks it is has to be said";
    EXPECT_EQ(lowest.series[0].differing, 1);
    ASSERT_THAT(lowest.onlyA, SizeIs(1));
    EXPECT_EQ(lowest.onlyA[0].name, "loss");
    EXPECT_EQ(lowest.onlyA[0].rank, 1);
    ASSERT_TRUE(lowest.onlyA[0].bad);
    EXPECT_EQ(lowest.onlyA[0].bad->step, 2);
    ASSERT_TRUE(lowest.badA);
    EXPECT_EQ(lowest.badA->rank, 1);
    EXPECT_EQ(lowest.badA->otherRanks, 0);
    auto both = b;
    both.series[0].points = both.series[1].points;
    EXPECT_EQ(diagnose::compareRuns(both, unranked).badA->otherRanks, 1);
    EXPECT_FALSE(lowest.badB);
    EXPECT_EQ(diagnose::compareRuns(unranked, b).series.at(0).b.rank, 0);
    auto ranked = runOf("loss", 1, {1, 2, 3});
    ranked.series[0].rank = 1;
    ranked.series.push_back(ranked.series[0]);
    ranked.series[1].rank = 2;
    auto mixed = unranked;
    mixed.series.push_back(rank1);
    mixed.series[1].rank = 3;
    EXPECT_THAT(diagnose::compareRuns(mixed, ranked).series, SizeIs(1)) << "rank 3 is not rank 2";
}

TEST(CompareRuns, TheFirstBadValueIsTheLossRatherThanAClock)
{
    RunData run;
    run.series = {seriesOf("grad_norm", 1, {1, nan}), seriesOf("loss", 1, {1, nan}), seriesOf("mfu", 1, {nan, 1})};
    const auto out = diagnose::compareRuns(run, runOf("loss", 1, {1, 1}));
    ASSERT_TRUE(out.badA);
    EXPECT_EQ(out.badA->name, "loss");
    EXPECT_EQ(out.badA->rank, std::nullopt) << "the only one";
    EXPECT_EQ(out.badA->bad->step, 2);
}

TEST(CompareRuns, TheEarliestSeriesIsNamedFirst)
{
    auto a = runOf("loss", 1, {1, 2, 3});
    auto b = runOf("loss", 1, {1, 2, 4});
    a.series.push_back(seriesOf("grad_norm", 1, {1, 1, 1}));
    b.series.push_back(seriesOf("grad_norm", 1, {1, 2, 1}));
    a.series.push_back(seriesOf("tokens_per_second", 1, {7, 7, 7}));
    b.series.push_back(seriesOf("tokens_per_second", 1, {8, 8, 8}));
    a.series.push_back(seriesOf("z_loss", 1, {7}));
    b.series.push_back(seriesOf("mfu", 1, {7}));
    const auto out = diagnose::compareRuns(a, b);
    ASSERT_NE(out.first(), nullptr);
    EXPECT_EQ(out.first()->name, "grad_norm");
    EXPECT_THAT(out.series, SizeIs(2)) << "clocks are not compared";
    EXPECT_THAT(out.onlyA, ElementsAre(Field(&diagnose::LoneSeries::name, "z_loss")));
    EXPECT_THAT(out.onlyB, ElementsAre(Field(&diagnose::LoneSeries::name, "mfu")));
}

TEST(CompareRuns, SettingsThatDiffer)
{
    RunData a;
    RunData b;
    a.settings = {{"lr", "3e-4", {}, "a.log", 1}, {"seed", "1", {}, "a.log", 2}, {"only", "x", {}, "a.log", 3}};
    b.settings = {{"lr", "6e-4", {}, "b.log", 1}, {"seed", "2", {}, "b.log", 2}, {"seed", "1", {}, "b.log", 9}};
    const auto out = diagnose::compareRuns(a, b);
    ASSERT_THAT(out.settings, SizeIs(2));
    EXPECT_EQ(out.settings[0].name, "lr");
    EXPECT_EQ(out.settings[0].b->value, "6e-4");
    EXPECT_EQ(out.settings[1].name, "only");
    EXPECT_FALSE(out.settings[1].b);
    EXPECT_EQ(out.sameSettings, 1) << "the last word counts";
    b.settings.clear();
    EXPECT_THAT(diagnose::compareRuns(a, b).settings, IsEmpty())
        << "a log without its configuration differs in nothing known";
}

TEST(CompareRuns, TellsWhichRunShowsNoSettings)
{
    auto a = runOf("loss", 1, {1});
    auto b = a;
    EXPECT_EQ(diagnose::settingsSentence(diagnose::compareRuns(a, b), "x", "y").substr(0, 56),
        "Settings are not compared: neither x nor y records any; ");
    a.settings = {{"lr", "1e-3", {}, "config.json", 2}};
    EXPECT_EQ(diagnose::compareRuns(a, b).settingsOfA, 1);
    EXPECT_EQ(diagnose::settingsSentence(diagnose::compareRuns(a, b), "x", "y").substr(0, 43),
        "Settings are not compared: y records none; ");
    EXPECT_EQ(diagnose::settingsSentence(diagnose::compareRuns(b, a), "x", "y").substr(0, 43),
        "Settings are not compared: x records none; ");
    b.settings = a.settings;
    EXPECT_EQ(
        diagnose::settingsSentence(diagnose::compareRuns(a, b), "x", "y"), "The one setting of both runs is equal");
    b.settings.push_back({"seed", "1", {}, "config.json", 3});
    b.settings.push_back({"bf16", "true", {}, "config.json", 4});
    EXPECT_EQ(diagnose::settingsSentence(diagnose::compareRuns(a, b), "x", "y"), "2 settings differ, 1 is equal");
    a.settings.push_back({"seed", "2", {}, "config.json", 3});
    EXPECT_EQ(diagnose::settingsSentence(diagnose::compareRuns(a, b), "x", "y"), "2 settings differ, 1 is equal");
    a.settings[1].value = "1";
    EXPECT_EQ(diagnose::settingsSentence(diagnose::compareRuns(a, b), "x", "y"), "1 setting differs, 2 are equal");
}

} // namespace
} // namespace nanscope
