// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "core/diagnose/findings.h"

namespace nanscope {
namespace {

Event eventOf(EventKind kind, std::int64_t line, std::optional<int> rank = {}, std::optional<std::int64_t> step = {})
{
    Event event;
    event.kind = kind;
    event.rank = rank;
    event.step = step;
    event.text = "text of line " + std::to_string(line);
    event.source = "console.log";
    event.line = line;
    return event;
}

TEST(Findings, AQuietRunHasNone)
{
    EXPECT_TRUE(findingsOf({}).empty());
}

TEST(Findings, ConsequencesAndNanLossesAreNoCards)
{
    RunData run;
    for (const auto kind : {EventKind::captureDumped, EventKind::nanLoss, EventKind::optimizerStop,
             EventKind::traceback, EventKind::terminated, EventKind::collective, EventKind::other}) {
        run.events.push_back(eventOf(kind, 1));
    }
    EXPECT_TRUE(findingsOf(run).empty());
}

TEST(Findings, HardwareComesFirstWhateverTheOrderOfTheLog)
{
    RunData run;
    run.events = {
        eventOf(EventKind::diagnosticFailed, 3), eventOf(EventKind::infrastructure, 5), eventOf(EventKind::machine, 9)};
    const auto findings = findingsOf(run);
    ASSERT_EQ(findings.size(), 3U);
    EXPECT_EQ(findings[0].id, "machine");
    EXPECT_EQ(findings[0].severity, "error");
    EXPECT_EQ(findings[1].id, "infrastructure");
    EXPECT_EQ(findings[1].severity, "warning");
    EXPECT_EQ(findings[2].id, "diagnostic-failed");
    EXPECT_EQ(findings[2].severity, "info");
    for (const auto& finding : findings) {
        EXPECT_EQ(finding.state, FindingState::fired);
        EXPECT_FALSE(finding.advice.empty());
        EXPECT_FALSE(finding.title.empty());
    }
}

TEST(Findings, AFailedCheckerIsNeverReportedAsNan)
{
    RunData run;
    run.events = {eventOf(EventKind::diagnosticFailed, 3)};
    const auto finding = findingsOf(run).front();
    EXPECT_NE(finding.title.find("did not find NaN"), std::string::npos);
    EXPECT_NE(finding.advice.front().find("no evidence of NaN"), std::string::npos);
}

TEST(Findings, EvidenceLeadsBackToTheLineAndRepeatsStopAtThree)
{
    RunData run;
    for (std::int64_t line = 10; line < 1010; ++line) {
        run.events.push_back(eventOf(EventKind::machine, line, 2, 7));
    }
    const auto findings = findingsOf(run);
    ASSERT_EQ(findings.size(), 1U);
    ASSERT_EQ(findings[0].evidence.size(), 3U);
    EXPECT_EQ(findings[0].evidence[0].file, "console.log");
    EXPECT_EQ(findings[0].evidence[0].line, 10);
    EXPECT_EQ(findings[0].evidence[2].line, 12);
    EXPECT_EQ(findings[0].evidence[0].text, "text of line 10");
}

TEST(Findings, RankAndStepAreThoseOfTheFirstLine)
{
    RunData run;
    run.events = {eventOf(EventKind::machine, 1, 3, 41), eventOf(EventKind::machine, 2, 0, 42)};
    const auto finding = findingsOf(run).front();
    EXPECT_EQ(finding.rank, 3);
    EXPECT_EQ(finding.step, 41);

    run.events = {eventOf(EventKind::machine, 1), eventOf(EventKind::machine, 2, 0, 42)};
    EXPECT_FALSE(findingsOf(run).front().rank) << "a line without a rank is not given another line's";
}

} // namespace
} // namespace nanscope
