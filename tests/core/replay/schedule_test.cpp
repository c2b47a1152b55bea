// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fstream>
#include <set>
#include <span>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/replay/variants/variant.h"

namespace nanscope {
namespace {

nlohmann::json scalars()
{
    std::ifstream file(NANSCOPE_TEST_DATA "/replay/scalars.json");
    return nlohmann::json::parse(file);
}

struct Pair
{
    const char* variant;
    const char* schedule;
};

class Schedules : public testing::TestWithParam<Pair>
{ };

TEST_P(Schedules, AgreeWithAnIndependentScan)
{
    const auto* variant = replay::builtInVariant(GetParam().variant);
    ASSERT_NE(variant, nullptr);
    const auto expected = scalars().at(GetParam().schedule);
    const auto& steps = variant->steps;
    ASSERT_EQ(steps.size(), expected.at("steps").get<std::size_t>());

    double slope = 1;
    for (const auto& step : steps) {
        slope *= step[0];
    }
    EXPECT_NEAR(slope, expected.at("slope0").get<double>(), 1e-9 * slope);
    EXPECT_NEAR(replay::applySchedule(steps, 1.0), expected.at("output_at_1").get<double>(), 1e-12);
    const auto [low, high] = replay::outputRange(steps);
    EXPECT_NEAR(low, expected.at("output_min").get<double>(), 2e-6);
    EXPECT_NEAR(high, expected.at("output_max").get<double>(), 2e-6);

    const auto limits = replay::divergenceLimits(steps);
    ASSERT_EQ(limits.size(), steps.size());
    EXPECT_NEAR(limits[0], expected.at("limit").get<double>(), 2e-6);
    for (std::size_t k = 0; k < limits.size(); ++k) {
        EXPECT_NEAR(limits[k], expected.at("per_step").at(k).at("limit").get<double>(), 2e-6) << "step " << k + 1;
    }
}

TEST(Schedule, EveryLimitIsTheFirstThatAScanFinds)
{
    constexpr int samples = 20000;
    for (const auto& variant : replay::variants()) {
        const std::span<const replay::Coefficients> steps = variant.steps;
        const auto limits = replay::divergenceLimits(steps);
        const auto largest = replay::largestOnEntry(steps);
        std::vector<double> scanned(steps.size(), 0);
        for (int i = 1; i <= samples; ++i) {
            double sigma = static_cast<double>(i) / samples;
            for (std::size_t k = 0; k < steps.size(); ++k) {
                scanned[k] = std::max(scanned[k], std::abs(sigma));
                sigma = replay::applySchedule(steps.subspan(k, 1), sigma);
            }
        }
        for (std::size_t k = 0; k < steps.size(); ++k) {
            // A scan steps over the peaks of many steps.
            EXPECT_GE(largest[k], scanned[k] * (1 - 1e-12)) << variant.name << " step " << k + 1;
            EXPECT_NEAR(largest[k], scanned[k], 2e-4 * scanned[k]) << variant.name << " step " << k + 1;
            const auto rest = steps.subspan(k);
            for (int i = 1; i < samples; ++i) {
                const double below = limits[k] * i / samples;
                ASSERT_LE(std::abs(replay::applySchedule(rest, below)), 1.5) << variant.name << " step " << k + 1;
            }
            EXPECT_GT(std::abs(replay::applySchedule(rest, limits[k] * (1 + 1e-9))), 1.5)
                << variant.name << " step " << k + 1;
        }
    }
}

TEST(Schedule, StepsThatNeverDivergeHaveALimitFarOff)
{
    const std::vector<replay::Coefficients> halving {{0.5, 0, 0}, {0.5, 0, 0}};
    EXPECT_NEAR(replay::divergenceLimits(halving)[0], 6, 1e-9);
    EXPECT_NEAR(replay::divergenceLimits(halving)[1], 3, 1e-9);
    const std::vector<replay::Coefficients> nothing {{0, 0, 0}};
    EXPECT_GT(replay::divergenceLimits(nothing)[0], 1e5);
    const std::vector<replay::Coefficients> cubic {{1.5, -0.5, 0}};
    EXPECT_NEAR(replay::largestOnEntry(cubic)[0], 1, 0);
    EXPECT_NEAR(replay::applySchedule(cubic, replay::divergenceLimits(cubic)[0]), -1.5, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Published, Schedules,
    testing::Values(Pair {"keller-jordan", "keller-jordan"}, Pair {"dion-ns5", "you"},
        Pair {"dion-polar-express", "polar-express-2e-2"}, Pair {"gns-gram", "gns"}),
    [](const auto& info) {
        std::string name = info.param.schedule;
        std::replace(name.begin(), name.end(), '-', '_');
        return name;
    });

TEST(Variants, NamesAreUniqueAndSourcesGiven)
{
    std::set<std::string_view> names;
    for (const auto& variant : replay::variants()) {
        EXPECT_TRUE(names.insert(variant.name).second) << variant.name;
        EXPECT_FALSE(variant.source.empty()) << variant.name;
        EXPECT_FALSE(variant.family.empty()) << variant.name;
    }
}

} // namespace
} // namespace nanscope
