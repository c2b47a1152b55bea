// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "core/model/verdict.h"
#include "core/report/document/console.h"
#include "core/report/input/reportinput.h"
#include "core/report/render/markdown.h"
#include "handmade.h"

using namespace nanscope;
namespace markdown = nanscope::report::markdown;
using testing::HasSubstr;
using testing::Not;

namespace {

/// Drops code blocks and spans the way a renderer does: a run of backticks ends
/// at the next run of that length.
std::string withoutCode(const std::string& markdown)
{
    std::string rest;
    for (std::size_t at = 0; at < markdown.size();) {
        const auto run = std::min(markdown.find_first_not_of('`', at), markdown.size()) - at;
        if (run == 0 || (at > 0 && markdown[at - 1] == '\\')) {
            rest += markdown[at++];
            continue;
        }
        auto close = at + run;
        std::size_t length = 0;
        do {
            close = markdown.find('`', close + length);
            length = close == std::string::npos
                ? run
                : std::min(markdown.find_first_not_of('`', close), markdown.size()) - close;
        } while (length != run);
        at = close == std::string::npos ? markdown.size() : close + run;
    }
    return rest;
}

} // namespace

TEST(MarkdownText, RunningTextIsInert)
{
    EXPECT_EQ(markdown::plain("<script>alert(1)</script>"), "&lt;script\\>alert(1)&lt;/script\\>");
    EXPECT_EQ(markdown::plain("a|b*c_d[e](f)"), "a\\|b\\*c\\_d\\[e\\](f)");
    EXPECT_EQ(markdown::plain("@octocat"), "@<!-- -->octocat");
}

TEST(MarkdownText, FenceIsLongerThanAnyRunInside)
{
    EXPECT_EQ(markdown::block({"a"}), "```\na\n```\n");
    EXPECT_EQ(markdown::block({"````sh", "rm"}), "`````\n````sh\nrm\n`````\n");
}

TEST(MarkdownText, CodeSpansHoldBackticks)
{
    EXPECT_EQ(markdown::code("x.pt"), "`x.pt`");
    EXPECT_EQ(markdown::code("a`b"), "``a`b``");
    EXPECT_EQ(markdown::code("`"), "`` ` ``");
}

TEST(MarkdownText, PipesStayInsideTheirCell)
{
    EXPECT_EQ(markdown::tableRow({markdown::code("x|y"), markdown::plain("p|q")}), "| `x\\|y` | p\\|q |\n");
}

TEST(MarkdownText, LineBreaksOfALogEndNothing)
{
    auto input = handmade::reportInput();
    input.run.events[0].text = "one\n```\ntwo";
    EXPECT_THAT(report::markdownReport(input), HasSubstr("one ``` two\n"));
    input.diagnosis.captures[0].summary = "one\n# two";
    EXPECT_THAT(report::markdownReport(input), HasSubstr("One \\# two."));
}

TEST(Console, ShowsWhatWasReadAroundTheBirth)
{
    const auto input = handmade::run();
    const auto lines = report::consoleAround(input, input.captures[0].file, 8, 6);
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_EQ(lines[0], "console.log:21  [rank 0] step 5: loss=0.9958");
    EXPECT_THAT(lines[1], HasSubstr("console.log:22  [rank 0] [dion NaN capture]"));
    EXPECT_EQ(lines[2], "console.log:23  [rank 0] step 6: loss=nan");
    EXPECT_EQ(report::consoleAround(input, input.captures[0].file, 0, 1).size(), 2U);
    EXPECT_TRUE(report::consoleAround({}, "x", 1, 1).empty());
}

TEST(Markdown, HasItsSectionsInOrderAndTheAppendixFolded)
{
    const auto report = report::markdownReport(handmade::reportInput());
    const auto fold = report.find("\n<details>\n<summary>Appendix</summary>\n");
    ASSERT_NE(fold, std::string::npos);
    std::size_t at = 0;
    for (const auto section : report::allReportSections()) {
        const auto found = report.find("\n**" + std::string(report::title(section)), at);
        if (found != std::string::npos) {
            EXPECT_EQ(found > fold, report::inAppendix(section)) << report::name(section);
            at = found;
        }
    }
    EXPECT_EQ(report.find("**Redactions"), at + 1);
}

TEST(Markdown, WhatFollowsAListOrATableStandsApartFromIt)
{
    auto input = handmade::reportInput();
    input.diagnosis.observed.rate = FailureRate {3, 4.2};
    const auto report = report::markdownReport(input);
    EXPECT_THAT(report, HasSubstr("|\n\nSwept or replayed for a film: "));
    EXPECT_THAT(report, HasSubstr("\n\nNot done yet, most informative first:\n1. "));
}

TEST(Markdown, StatesTheFactsOfTheBirth)
{
    const auto report = report::markdownReport(handmade::reportInput());
    for (const auto* part : {"# [NaN] non-finite Newton-Schulz output, shape 1x160x96, bf16, rank 0",
             "**implementation (kernel or launch order)**", "for 2, against 1, neither 1", "25 captures, 1 birth",
             "gns-standard or gns-gram", "between the log lines of steps 5 and 6", "`console.log:22`",
             "1,024 NaN in rows 32–63 × columns 64–95", "0x7fc0 × 1,024", "8 of 8 finite", "5.1 %",
             "step 3 gram [12,5] 384 NaN", "run 1 h with use", "loss=0.9958", "nanscope sweep tile --capture",
             "24 downstream"}) {
        EXPECT_THAT(report, HasSubstr(part));
    }
}

TEST(Markdown, HidesWhoAndWhereUnlessToldNotTo)
{
    const auto report = report::markdownReport(handmade::reportInput());
    EXPECT_THAT(report, Not(HasSubstr("alice")));
    EXPECT_THAT(report, HasSubstr("nanscope report <home>/runs/tile -o out.md"));
    EXPECT_THAT(report, HasSubstr("home paths 2"));
    const auto open = report::markdownReport(handmade::reportInput(), {false});
    EXPECT_THAT(open, HasSubstr("/home/alice/runs/tile"));
    EXPECT_THAT(open, HasSubstr("none (--no-redact)"));
}

TEST(Markdown, HostileTextDoesNothing)
{
    auto input = handmade::reportInput();
    const std::string hostile = "```\n</details><script>x</script> | @all "
                                "![i](http://x) [l](javascript:x)";
    input.run.events[0].text = hostile;
    input.diagnosis.captures[0].summary = hostile;
    input.diagnosis.captures[0].speaksFor[0].source = hostile;
    input.diagnosis.captures[1].capture = hostile;
    const auto text = withoutCode(report::markdownReport(input));
    EXPECT_THAT(text, HasSubstr("&lt;script"));
    EXPECT_THAT(text, Not(HasSubstr("<script")));
    EXPECT_EQ(text.find("</details"), text.size() - std::string("</details>\n").size()) << "the report's own";
    EXPECT_THAT(text, Not(HasSubstr("[l](")));
    EXPECT_THAT(text, Not(HasSubstr("![i")));
    EXPECT_THAT(text, Not(HasSubstr("@all")));
    EXPECT_THAT(text, Not(HasSubstr("```")));
}

TEST(Markdown, StaysUnderTheLimitOfAnIssueBodyAndSaysSo)
{
    auto input = handmade::reportInput();
    for (int i = 0; i < 5000; ++i) {
        CaptureVerdict verdict;
        verdict.capture = "dion_nan_capture_number_" + std::to_string(i) + ".pt";
        verdict.role = Role::downstream;
        input.diagnosis.captures.push_back(verdict);
    }
    input.commandLine.assign(100000, 'x');
    const auto report = report::markdownReport(input);
    EXPECT_LE(report.size(), 65536U);
    EXPECT_GT(report.size(), 50000U);
    EXPECT_THAT(report, HasSubstr("more captures left out to stay under 65,536 characters"));
}

TEST(Markdown, OversizedEvidenceStillLeavesAReport)
{
    auto input = handmade::reportInput();
    input.diagnosis.captures[0].speaksAgainst.assign(2000, {std::string(1000, 'y'), "replay"});
    const auto report = report::markdownReport(input);
    EXPECT_LE(report.size(), 65536U);
    EXPECT_THAT(report, HasSubstr("**Result.**"));
    EXPECT_THAT(report, HasSubstr("**Redactions.**"));
    EXPECT_THAT(report, HasSubstr("1 part left out"));
}

TEST(Markdown, RunWithoutCapturesSaysSo)
{
    report::ReportInput input;
    input.run.name = "empty";
    const auto report = report::markdownReport(input);
    EXPECT_THAT(report, HasSubstr("no capture to judge"));
    EXPECT_THAT(report, HasSubstr("Without a capture nothing can be replayed"));
}
