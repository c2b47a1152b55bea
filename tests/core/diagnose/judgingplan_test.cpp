// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "core/diagnose/diagnose.h"
#include "core/diagnose/judgingplan.h"
#include "core/model/verdict.h"
#include "core/tensorfile/capture/capturefile.h"
#include "tests/core/diagnose/healthycall.h"
#include "tests/core/session/temporaryfolder.h"

namespace nanscope {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class JudgingPlans : public testing::Test
{
protected:
    /// A birth, which is judged by its stored shape.
    void add(const std::string& name, const Shape& told)
    {
        const auto input = test::waves(test::smallRows * test::smallCols, 0);
        auto output = test::healthyOutput("gns-gram", input, test::smallRows, test::smallCols);
        output[5] = std::numeric_limits<double>::quiet_NaN();
        const auto path = m_folder / name;
        EXPECT_TRUE(tensorfile::writePt(path,
            {{"input", test::floatTensor({input}, test::smallRows, test::smallCols)},
                {"output", test::floatTensor({output}, test::smallRows, test::smallCols)}}));
        auto file = tensorfile::openCapture(path);
        ASSERT_TRUE(file && tensorfile::scanCapture(*file));
        file->capture.id = static_cast<std::int64_t>(m_run.captures.size()) + 1;
        file->capture.timestampMs = file->capture.id;
        file->capture.input.shape = told;
        m_run.captures.push_back(file->capture);
    }

    TemporaryFolder m_folder;
    RunData m_run;
};

TEST_F(JudgingPlans, SaysHowMuchAndHowLong)
{
    add("a.pt", {1, 4096, 11008});
    const auto one = diagnose::judgingPlan({{&m_run.captures.front()}}, {});
    EXPECT_TRUE(one.isLong());
    EXPECT_EQ(one.captures, 1);
    EXPECT_LT(one.usualOperations, one.mostOperations);
    const auto named = diagnose::judgingPlan({{&m_run.captures.front(), true}}, {});
    EXPECT_LT(named.usualOperations, one.usualOperations);
    auto told = one;
    EXPECT_EQ(told.usualSeconds(), 0) << "no speed is known";
    EXPECT_THAT(diagnose::textOf(told, "cpu"), AllOf(HasSubstr("4096 × 11008"), HasSubstr("FLOP at most")));
    told.rate = 1e11;
    EXPECT_GT(told.usualSeconds(), 60);
    EXPECT_GT(told.mostSeconds(), told.usualSeconds());
    EXPECT_THAT(diagnose::textOf(told, "cuda:0"),
        AllOf(HasSubstr("1 capture"), HasSubstr("minutes as a rule"), HasSubstr("100 GFLOP/s measured on cuda:0")));
    told.rate = 1e15;
    EXPECT_GT(told.usualSeconds(), 10) << "the host compares outputs wherever they are made";
    const auto progress = diagnose::progressOf(told, "cuda:0");
    EXPECT_EQ(progress.phase, "planned");
    EXPECT_EQ(progress.unit, "seconds");
    EXPECT_NEAR(static_cast<double>(progress.total), told.usualSeconds(), 1);
}

TEST_F(JudgingPlans, ShareCapturesAmongDevicesAndNoneOfThem)
{
    add("a.pt", {1, 4096, 4096});
    const diagnose::CaptureToReplay each {&m_run.captures.front()};
    auto plan = diagnose::judgingPlan({each, each, each, each}, {});
    plan.rate = 1e11;
    const auto alone = plan.usualSeconds();
    plan.devices = 2;
    EXPECT_NEAR(plan.usualSeconds(), alone / 2, 1e-9 * alone);
    EXPECT_THAT(diagnose::textOf(plan, "cpu"), HasSubstr("measured on cpu for each of 2 devices"));
    plan.devices = 100;
    EXPECT_NEAR(plan.usualSeconds(), alone / 4, 1e-9 * alone) << "no capture is shared";
}

TEST_F(JudgingPlans, AreToldBeforeLongWorkAlone)
{
    add("a.pt", {1, test::smallRows, test::smallCols});
    add("b.pt", {1, test::smallRows, test::smallCols});
    std::vector<std::int64_t> told;
    diagnose::DiagnoseOptions options;
    options.planned = [&](const diagnose::JudgingPlan& plan, const std::string& device) {
        told.push_back(plan.captures);
        EXPECT_GT(plan.rate, 0);
        EXPECT_EQ(device, "cpu");
    };
    const auto first = diagnose::diagnose(m_run, options);
    ASSERT_TRUE(first);
    EXPECT_THAT(told, testing::IsEmpty());
    m_run.captures[0].input.shape = {1, 4096, 4096};
    m_run.captures[1].input.shape = {1, 4096, 4096};
    ASSERT_TRUE(diagnose::diagnose(m_run, options));
    EXPECT_THAT(told, testing::ElementsAre(2));
    auto half = *first;
    half.captures[1].facts.replayed = false;
    options.stopped = std::make_shared<const Diagnosis>(half);
    ASSERT_TRUE(diagnose::diagnose(m_run, options));
    EXPECT_THAT(told, testing::ElementsAre(2, 1)) << "the other was replayed before";
}

} // namespace
} // namespace nanscope
