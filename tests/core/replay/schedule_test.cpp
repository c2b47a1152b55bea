// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fstream>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/replay/variant.h"

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
    const auto variant = findVariant(GetParam().variant);
    ASSERT_TRUE(variant);
    const auto expected = scalars().at(GetParam().schedule);
    const auto& steps = (*variant)->steps;
    ASSERT_EQ(steps.size(), expected.at("steps").get<std::size_t>());

    double slope = 1;
    for (const auto& step : steps) {
        slope *= step[0];
    }
    EXPECT_NEAR(slope, expected.at("slope0").get<double>(), 1e-9 * slope);
    EXPECT_NEAR(applySchedule(steps, 1.0), expected.at("output_at_1").get<double>(), 1e-12);
    const auto [low, high] = outputRange(steps);
    EXPECT_NEAR(low, expected.at("output_min").get<double>(), 2e-6);
    EXPECT_NEAR(high, expected.at("output_max").get<double>(), 2e-6);

    const auto limits = divergenceLimits(steps);
    ASSERT_EQ(limits.size(), steps.size());
    EXPECT_NEAR(limits[0], expected.at("limit").get<double>(), 2e-6);
    for (std::size_t k = 0; k < limits.size(); ++k) {
        EXPECT_NEAR(limits[k], expected.at("per_step").at(k).at("limit").get<double>(), 2e-6) << "step " << k + 1;
    }
}

INSTANTIATE_TEST_SUITE_P(Published, Schedules,
    testing::Values(Pair {"keller-jordan", "keller-jordan"}, Pair {"dion-ns5", "you"},
        Pair {"dion-polar-express", "polar-express-2e-2"}, Pair {"gns-gram", "gns"}),
    [](const auto& info) {
        std::string name = info.param.schedule;
        std::replace(name.begin(), name.end(), '-', '_');
        return name;
    });

TEST(Variants, UnknownNamesAreAnsweredWithTheNearest)
{
    const auto found = findVariant("gns-grm");
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().kind, ErrorKind::usage);
    EXPECT_NE(found.error().what.find("gns-gram"), std::string::npos) << found.error().what;
}

TEST(Variants, NamesAreUniqueAndSourcesGiven)
{
    std::set<std::string_view> names;
    for (const auto& variant : variants()) {
        EXPECT_TRUE(names.insert(variant.name).second) << variant.name;
        EXPECT_FALSE(variant.source.empty()) << variant.name;
        EXPECT_FALSE(variant.family.empty()) << variant.name;
    }
}

} // namespace
} // namespace nanscope
