// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Finding cards on a log, as the command line tells them.
#include <gmock/gmock.h>

#include <algorithm>

#include "program.h"
#include "workfolder.h"

using namespace nanscope::testing;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

namespace {

/// A loss of 2 with five of 5 at steps 121 to 125.
std::string spikingLog()
{
    std::string text;
    for (int step = 1; step <= 150; ++step) {
        const std::string loss = step > 120 && step <= 125 ? "5.0000" : "2.0000";
        text += "[rank 0] INFO     [step " + std::to_string(step) + "] loss=" + loss
            + " | lr=1.00e-04 | grad_norm=1.000 | tok/s=1,000 | mfu=40.0% | mem=7.1/80GB | step_time=1.25s\n";
    }
    return text;
}

std::string stateOf(const Finished& done, const std::string& id)
{
    const auto json = done.json();
    const auto& findings = json["findings"];
    const auto found = std::find_if(findings.begin(), findings.end(), [&](const auto& f) { return f["id"] == id; });
    return found == findings.end() ? "none" : (*found)["state"].template get<std::string>();
}

} // namespace

TEST(Findings, AreToldWithReasonRuleAndFirstAdvice)
{
    const WorkFolder folder;
    writeText(folder / "train.log", spikingLog());
    const auto done = run({"diagnose", folder.path().string()});
    ASSERT_EQ(done.status, 0) << done.err;
    EXPECT_THAT(done.out, HasSubstr("warning       P12 Loss spikes"));
    EXPECT_THAT(done.out, HasSubstr("The loss is 5 at step 121, limit 4; back below at step 126 (high confidence)."));
    EXPECT_THAT(done.out, HasSubstr("train.log:121  loss is 5 at step 121"));
    EXPECT_THAT(done.out, HasSubstr("rule: loss at least 2 times the mean of the last 100"));
    EXPECT_THAT(done.out, HasSubstr("try: a longer warmup"));
    EXPECT_THAT(done.out, ContainsRegex("  clear +[0-9]+ problems that were looked for\n"));
    EXPECT_THAT(done.out, ContainsRegex("  not checkable +[0-9]+ for want of data"));
}

TEST(Findings, WhatCameInDamagedInOneStepIsToldOnce)
{
    const WorkFolder folder;
    for (const auto* name : {"a", "b", "c", "d", "e"}) {
        writeCapture(folder / (std::string(name) + "_step7.pt"), {24, 40, true, true, *name * 1e-9});
    }
    const auto done = run({"diagnose", folder.path().string()});
    EXPECT_THAT(done.out, HasSubstr("upstream  a_step7.pt"));
    EXPECT_THAT(
        done.out, ContainsRegex("  also +b_step7.pt .rank 0., c_step7.pt .rank 0., d_step7.pt .rank 0. and 1 more"));
    EXPECT_THAT(done.out, Not(HasSubstr("upstream  b_step7.pt")));
    // Of one the helper noted that the gradient was bad, of the other that all was finite when the step began.
    constexpr auto* noted = R"({"state": [{"grad_finite": GRADIENT, "state_finite_before": true}],
        "state_of": {"parameters": 1, "listed": 1, "transposes": true}, "weights_before": {"looked_at": 1, "bad": 0}})";
    for (const auto& [name, finite] : {std::pair("a_step7", "false"), {"b_step7", "true"}}) {
        auto text = std::string(noted);
        text.replace(text.find("GRADIENT"), 8, finite);
        writeText(folder / (std::string(name) + ".json"), text);
    }
    const auto apart = run({"diagnose", folder.path().string()}).out;
    EXPECT_THAT(apart, HasSubstr("a gradient was"));
    EXPECT_THAT(apart, HasSubstr("upstream  b_step7.pt"));
}

TEST(Findings, AnotherRuleAndSilenceAreGivenByName)
{
    const WorkFolder folder;
    writeText(folder / "train.log", spikingLog());
    const auto path = folder.path().string();
    EXPECT_EQ(stateOf(run({"diagnose", path, "--json"}), "P12"), "fired");
    EXPECT_EQ(stateOf(run({"diagnose", path, "--json", "--spike-rule", "megatron"}), "P12"), "clear");
    const auto silenced = run({"diagnose", path, "--silence", "P12,P18"});
    EXPECT_THAT(silenced.out, Not(HasSubstr("P12 Loss spikes")));
    EXPECT_THAT(silenced.out, HasSubstr("  silenced      Loss spikes\n"));
    EXPECT_EQ(stateOf(run({"diagnose", path, "--json", "--silence", "P12"}), "P12"), "silenced");
}

namespace {

std::string badFrom(int bad)
{
    std::string text;
    for (int step = 1; step <= bad + 3; ++step) {
        text += "[rank 0] INFO     [step " + std::to_string(step) + "] loss=" + (step < bad ? "2.0000" : "nan")
            + " | lr=1.00e-04 | grad_norm=1.000 | tok/s=1,000 | mfu=40.0% | mem=7.1/80GB | step_time=1.25s\n";
    }
    return text;
}

} // namespace

TEST(Findings, SeveralRunsShowTogetherWhatNoneDoesAlone)
{
    const WorkFolder folder;
    std::filesystem::create_directories(folder / "one");
    std::filesystem::create_directories(folder / "two");
    writeText(folder / "one/train.log", badFrom(55));
    writeText(folder / "two/train.log", badFrom(55));
    const auto one = folder / "one";
    const auto two = folder / "two";
    const auto done = run({"diagnose", one, two});
    ASSERT_EQ(done.status, 0) << done.err;
    EXPECT_THAT(done.out, HasSubstr("one: no captures; loss is NaN at step 55 (train.log:55), and no number after it"));
    EXPECT_THAT(done.out, HasSubstr("two: no captures; loss is NaN at step 55 (train.log:55), and no number after it"));
    EXPECT_THAT(done.out, HasSubstr("over the 2 runs"));
    EXPECT_THAT(done.out, HasSubstr("2 runs have the same first bad step, 55"));
    EXPECT_THAT(done.out, HasSubstr("one/train.log:55"));
    const auto json = run({"diagnose", one, two, "--json"}).json();
    EXPECT_EQ(json["schema"], "nanscope.diagnoses/1");
    EXPECT_EQ(json["runs"].size(), 2U);
    EXPECT_EQ(json["across"][0]["id"], "P11");
    EXPECT_EQ(json["across"][0]["state"], "fired");
    EXPECT_EQ(run({"diagnose", one, "--json"}).json()["schema"], "nanscope.diagnosis/1") << "one run is as before";
}

TEST(Findings, ASessionKeepsOneRun)
{
    const WorkFolder folder;
    writeText(folder / "a.log", badFrom(5));
    const auto path = folder / "a.log";
    const auto done = run({"diagnose", path, path, "--session", folder / "x.nanscope"});
    EXPECT_EQ(done.status, 2);
    EXPECT_THAT(done.err, HasSubstr("--session keeps one run"));
}

TEST(Findings, LogsOfSeveralRunsHaveARowEach)
{
    const WorkFolder folder;
    writeText(folder / "alpha.log", badFrom(55));
    writeText(folder / "beta.log", badFrom(70));
    const auto done = run({"diagnose", folder.path().string()});
    EXPECT_THAT(done.out, HasSubstr("alpha.log: loss is NaN at step 55 (alpha.log:55), and no number after it"));
    EXPECT_THAT(done.out, HasSubstr("beta.log: loss is NaN at step 70 (beta.log:70), and no number after it"));
    EXPECT_EQ(run({"diagnose", folder.path().string(), "--json"}).json()["logs"].size(), 2U);
}
