// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// The page must show what a stranger's log says and do nothing of it.
#include <algorithm>

#include <gmock/gmock.h>

#include "core/model/verdict.h"
#include "core/report/input/reportinput.h"
#include "handmade.h"
#include "wellformed.h"

using namespace nanscope;
using nanscope::handmade::Markup;
using nanscope::handmade::readMarkup;
using testing::HasSubstr;
using testing::Not;

namespace {

const std::string hostile = std::string("</style></title></code><script>alert(1)</script><img src=x onerror=y> \" ' & ")
    + '\0' + "\x1b[31m \xff\xfe \xed\xa0\x80 \u202Egnp.exe http://evil.example/x javascript:x";

report::ReportInput hostileInput()
{
    auto input = handmade::reportInput();
    auto& verdict = input.diagnosis.captures[0];
    auto& capture = input.run.captures[0];
    input.run.name = hostile;
    input.run.root = hostile;
    input.diagnosis.headline = hostile;
    input.commandLine = hostile;
    verdict.summary = hostile;
    verdict.kind = hostile;
    verdict.question = hostile;
    verdict.next = {{{}, hostile, hostile, {}, {}}};
    verdict.facts.damage.text = hostile;
    verdict.variant.names = {hostile};
    verdict.variant.runnerUpName = hostile;
    verdict.members[0] = {hostile, hostile, 8, 8, 0, 5.1, 0.8, 11, hostile};
    for (auto* lines : {&verdict.speaksFor, &verdict.speaksAgainst, &verdict.notTestable}) {
        *lines = {{hostile, hostile}};
    }
    capture.file = hostile;
    capture.identity = hostile;
    verdict.capture = hostile;
    input.diagnosis.captures[1].capture = hostile;
    input.diagnosis.findings[0] = {
        hostile, FindingState::fired, hostile, hostile, 6, 0, {{hostile, 1, hostile}}, {hostile}};
    input.run.series[0].source = hostile;
    input.run.events[0] = {1, EventKind::captureDumped, 0, 5, hostile, hostile, hostile, 3};
    input.run.rejected = {{hostile, hostile}};
    auto& cell = input.cells[0];
    cell.capture = hostile;
    cell.variant = hostile;
    cell.device = hostile;
    cell.environment.engine = hostile;
    auto failed = cell;
    failed.error = hostile;
    input.cells.push_back(failed);
    input.outputTiles = handmade::flatMap(8, 8, 1);
    return input;
}

std::vector<std::string> idsOf(const Markup& page)
{
    std::vector<std::string> ids;
    for (const auto& attribute : page.attributes) {
        if (attribute.element == "section" && attribute.name == "id") {
            ids.push_back(attribute.value);
        }
    }
    return ids;
}

report::ReportInput picturedInput()
{
    auto input = handmade::reportInput();
    input.outputTiles = handmade::flatMap(160, 96, 0.25F);
    return input;
}

} // namespace

TEST(Html, IsWellFormed)
{
    for (const auto& input : {handmade::reportInput(), picturedInput(), hostileInput(), report::ReportInput {}}) {
        EXPECT_EQ(readMarkup(report::htmlReport(input)).error, "");
        EXPECT_EQ(readMarkup(report::htmlReport(input, {false})).error, "");
    }
}

TEST(Html, TheCheckerItselfFindsFaults)
{
    for (const auto* broken : {"<p>", "<p></b>", "<p a=b></p>", "a & b", "<p>&nbsp;</p>", "<p a=\"<\"></p>", "</p>"}) {
        EXPECT_NE(readMarkup(broken).error, "") << broken;
    }
    EXPECT_EQ(readMarkup("<p a=\"b\">&lt;<br/></p>").error, "");
}

TEST(Html, HostileTextIsShownAndDoesNothing)
{
    const auto page = readMarkup(report::htmlReport(hostileInput(), {false}));
    EXPECT_EQ(page.count("script"), 0);
    EXPECT_EQ(page.count("img"), 0);
    EXPECT_EQ(page.count("style"), 1);
    EXPECT_THAT(page.text, HasSubstr("<script>alert(1)</script><img src=x onerror=y> \" ' & "));
    EXPECT_THAT(page.text, Not(HasSubstr("\x1b")));
    EXPECT_THAT(page.text, Not(HasSubstr("\xff")));
    EXPECT_THAT(page.text, Not(HasSubstr("\xed\xa0\x80")));
    EXPECT_THAT(page.text, Not(HasSubstr("\u202E")));
    for (const auto& attribute : page.attributes) {
        EXPECT_FALSE(attribute.name.starts_with("on")) << attribute.name;
        EXPECT_NE(attribute.name, "style");
    }
}

TEST(Html, EveryHostileFieldReachesThePageEscaped)
{
    const auto text = report::htmlReport(hostileInput(), {false});
    EXPECT_THAT(text, Not(HasSubstr("<script")));
    EXPECT_THAT(text, Not(HasSubstr("<img")));
    std::size_t shown = 0;
    for (auto at = text.find("&lt;script&gt;"); at != std::string::npos; at = text.find("&lt;script&gt;", at + 1)) {
        ++shown;
    }
    EXPECT_GT(shown, 30U);
}

TEST(Html, PointsNowhereOutsideItself)
{
    const auto text = report::htmlReport(hostileInput(), {false});
    const auto page = readMarkup(text);
    for (const auto& [element, name, value] : page.attributes) {
        EXPECT_NE(name, "src") << element;
        EXPECT_NE(name, "srcset") << element;
        EXPECT_NE(name, "action") << element;
        if (name == "href" || name == "xlink:href") {
            EXPECT_TRUE(value.starts_with("#")) << value;
        }
        if (const auto at = value.find("url("); at != std::string::npos) {
            EXPECT_EQ(value.substr(at + 4, 1), "#") << value;
        }
    }
    for (const auto* element : {"link", "iframe", "object", "embed", "form", "base", "image", "use", "foreignObject"}) {
        EXPECT_EQ(page.count(element), 0) << element;
    }
    for (const auto* word : {"url(", "@import", "http"}) {
        EXPECT_THAT(page.style, Not(HasSubstr(word)));
    }
}

TEST(Html, AllowsNothingButItsOwnStyle)
{
    const auto page = readMarkup(report::htmlReport(handmade::reportInput()));
    std::string policy;
    for (const auto& attribute : page.attributes) {
        policy = attribute.name == "content" && attribute.value.find("default-src") == 0 ? attribute.value : policy;
    }
    EXPECT_THAT(policy,
        testing::MatchesRegex("default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; base-uri "
                              "'none'; form-action 'none'"));
    EXPECT_EQ(page.count("style"), 1);
    EXPECT_THAT(page.style, HasSubstr("prefers-color-scheme"));
    EXPECT_THAT(page.style, HasSubstr("@media print"));
}

TEST(Html, HasTheSectionsOfTheMarkdownReport)
{
    auto input = picturedInput();
    input.run.rejected = {{"x.pt", "the file is cut off"}};
    const auto ids = idsOf(readMarkup(report::htmlReport(input)));
    const auto markdown = report::markdownReport(input);
    EXPECT_GE(ids.size(), 15U);
    std::size_t at = 0;
    for (const auto& id : ids) {
        const auto section = report::parseReportSection(id);
        ASSERT_TRUE(section) << id;
        const auto found = markdown.find("**" + std::string(report::title(*section)), at);
        EXPECT_NE(found, std::string::npos) << id;
        at = found;
    }
}

TEST(Html, StatesTheFactsOfTheBirth)
{
    const auto page = readMarkup(report::htmlReport(handmade::reportInput()));
    for (const auto* part : {"[NaN] non-finite Newton-Schulz output, shape 1x160x96, bf16, rank 0",
             "implementation (kernel or launch order)", "for 2, against 1, neither 1", "25 captures, 1 birth",
             "gns-standard or gns-gram", "between the log lines of steps 5 and 6", "console.log:22",
             "1,024 NaN in rows 32–63 × columns 64–95", "0x7fc0 × 1,024", "8 of 8 finite", "5.1 %",
             "step 3 gram [12,5] 384 NaN", "run 1 h with use_triton=False", "loss=0.9958",
             "nanscope sweep tile --capture", "24 downstream", "Loss is NaN"}) {
        EXPECT_THAT(page.text, HasSubstr(part));
    }
}

TEST(Html, HidesWhoAndWhereUnlessToldNotTo)
{
    const auto input = handmade::reportInput();
    EXPECT_THAT(report::htmlReport(input), Not(HasSubstr("alice")));
    EXPECT_THAT(report::htmlReport(input), HasSubstr("&lt;home&gt;/runs/tile"));
    EXPECT_THAT(report::htmlReport(input, {false}), HasSubstr("/home/alice/runs/tile"));
}

TEST(Html, SectionsAreLeftOutOfBothFaces)
{
    report::ReportOptions options;
    options.sections = {report::ReportSection::claim, report::ReportSection::captures};
    const auto input = picturedInput();
    EXPECT_THAT(idsOf(readMarkup(report::htmlReport(input, options))), testing::ElementsAre("claim", "captures"));
    const auto markdown = report::markdownReport(input, options);
    EXPECT_THAT(markdown, HasSubstr("**Result.**"));
    EXPECT_THAT(markdown, HasSubstr("**Captures**"));
    for (const auto* other : {"**Call", "**Redactions", "Console around", "shape of"}) {
        EXPECT_THAT(markdown, Not(HasSubstr(other)));
    }
    options.sections = {};
    EXPECT_EQ(report::markdownReport(input, options),
        "# [NaN] non-finite Newton-Schulz output, shape 1x160x96, bf16, rank 0\n");
    EXPECT_EQ(readMarkup(report::htmlReport(input, options)).error, "");
}

TEST(Html, TheAppendixIsFolded)
{
    const auto text = report::htmlReport(picturedInput());
    const auto fold = text.find("<details class=\"appendix\">");
    ASSERT_NE(fold, std::string::npos);
    for (const auto* first : {"id=\"claim\"", "id=\"figure-output\"", "id=\"evidence\"", "id=\"reproduce\""}) {
        EXPECT_LT(text.find(first), fold) << first;
    }
    EXPECT_GT(text.find("id=\"call\""), fold);
}

TEST(Html, SectionNamesGoBothWays)
{
    for (const auto section : report::allReportSections()) {
        EXPECT_EQ(report::parseReportSection(report::name(section)), section);
        EXPECT_FALSE(report::title(section).empty());
    }
    EXPECT_FALSE(report::parseReportSection("claims"));
    EXPECT_EQ(report::parseReportSection("against"), report::ReportSection::evidence) << "its older name";
}

TEST(Html, TenThousandCapturesStayReadable)
{
    auto input = handmade::reportInput();
    for (int i = 0; i < 10000; ++i) {
        CaptureVerdict verdict;
        verdict.capture = "dion_nan_capture_number_" + std::to_string(i) + ".pt";
        verdict.role = Role::downstream;
        input.diagnosis.captures.push_back(verdict);
    }
    const auto page = report::htmlReport(input);
    EXPECT_LT(page.size(), 1'000'000U);
    EXPECT_THAT(page, HasSubstr("8,002 more captures left out"));
}

TEST(Images, LieBesideTheMarkdownAndAreLinked)
{
    const auto input = picturedInput();
    report::ReportOptions options;
    options.imageStem = "my report";
    const auto markdown = report::markdownReport(input, options);
    std::vector<std::string> files;
    for (const auto& image : report::reportImages(input, options)) {
        files.push_back(image.file);
        EXPECT_TRUE(image.png.starts_with("\x89PNG\r\n\x1a\n")) << image.file;
    }
    EXPECT_THAT(
        files, testing::ElementsAre("my report-1.png", "my report-2.png", "my report-3.png", "my report-4.png"));
    for (const auto* link : {"](my%20report-1.png)", "drag my%20report-1.png onto", "](my%20report-4.png)"}) {
        EXPECT_THAT(markdown, HasSubstr(link));
    }
    EXPECT_THAT(report::markdownReport(input), Not(HasSubstr(".png")));
    options.figures = false;
    EXPECT_THAT(report::markdownReport(input, options), Not(HasSubstr(".png")));
    EXPECT_TRUE(report::reportImages(input, options).empty());
    EXPECT_EQ(readMarkup(report::htmlReport(input, options)).count("svg"), 0);
}
