// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "program.h"
#include "workfolder.h"

using namespace nanscope::testing;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

namespace {

class RunDiff : public ::testing::Test
{
protected:
    std::string runOf(const std::string& name, const std::string& lastLoss)
    {
        fs::create_directory(m_folder / name);
        writeText(m_folder / (name + "/console.log"),
            "[default0]:Step 0: train_loss=1.5000, grad_norm=0.2500\n"
            "[default0]:Step 1: train_loss=1.2500, grad_norm=0.2500\n"
            "[default0]:Step 2: train_loss="
                + lastLoss + ", grad_norm=0.2500\n");
        return m_folder / name;
    }

    WorkFolder m_folder;
};

} // namespace

TEST_F(RunDiff, NamesTheFirstStepAndBothLines)
{
    const auto a = runOf("a", "1.0000");
    const auto b = runOf("b", "nan");
    const auto text = run({"diff", a, b});
    EXPECT_EQ(text.status, 0) << text.err;
    EXPECT_THAT(text.out, HasSubstr("loss first differs at step 2: 1 at console.log:3, against NaN at console.log:3"));
    const auto json = run({"diff", a, b, "--json"}).json();
    EXPECT_EQ(json["schema"], "nanscope.rundiff/1");
    EXPECT_EQ(json["first"]["name"], "loss");
    EXPECT_EQ(json["first"]["first"]["b"]["value"], "nan");
    EXPECT_EQ(json["first"]["differing"], 1);
}

TEST_F(RunDiff, NamesTheRankThatOnlyOneRunHas)
{
    const auto a = runOf("a", "1.0000");
    const auto b = m_folder / "b";
    fs::create_directory(b);
    writeText(b + "/console.log",
        "[default0]:Step 0: train_loss=1.5000, grad_norm=0.2500\n"
        "[default1]:Step 0: train_loss=1.5000, grad_norm=0.2500\n"
        "[default0]:Step 1: train_loss=1.2500, grad_norm=0.2500\n"
        "[default1]:Step 1: train_loss=nan, grad_norm=0.2500\n");
    const auto text = run({"diff", a, b});
    EXPECT_EQ(text.status, 0) << text.err;
    EXPECT_THAT(text.out,
        HasSubstr("; only b logs values that are not finite: loss of rank 1 is NaN at step 1 (console.log:4)\n"));
    EXPECT_THAT(text.out, HasSubstr("only b has: grad_norm of rank 1, loss of rank 1 (NaN at step 1)"));
    const auto json = run({"diff", a, b, "--json"}).json();
    EXPECT_EQ(json["non_finite_b"]["rank"], 1);
    EXPECT_EQ(json["non_finite_b"]["line"], 4);
    EXPECT_TRUE(json["non_finite_a"].is_null());
}

TEST_F(RunDiff, EqualRunsDifferNowhere)
{
    const auto a = runOf("a", "1.0000");
    EXPECT_THAT(run({"diff", a, a}).out, HasSubstr("No value differs"));
    EXPECT_THAT(run({"diff", a, a, "--shift", "100"}).out, HasSubstr("no step of any series in common"));
}

TEST_F(RunDiff, ACaptureIsNoRun)
{
    const auto mixed = run({"diff", runOf("a", "1.0000"), writeCapture(m_folder / "a.pt")});
    EXPECT_EQ(mixed.status, 2);
    EXPECT_THAT(mixed.err, HasSubstr("ne is a capture and the other is a run"));
}
