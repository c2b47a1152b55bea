// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What compute-sanitizer reports.
#include "tests/core/diagnose/findings/cardmaker.h"

namespace nanscope {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

Event reportOf(const std::string& text, std::int64_t copies = 1)
{
    auto event = eventOf(EventKind::other, {}, "compute-sanitizer: " + text, 7);
    event.copies = copies;
    return event;
}

TEST(SanitizerCard, NamesToolKernelAndPlace)
{
    const auto finding = cardOf(
        runWith({}, {reportOf("Invalid __global__ write of size 2 bytes in kernel gemm (a.cu:41); block (3,0,0)", 12)}),
        "sanitizer");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_EQ(finding.confidence, "high");
    EXPECT_EQ(finding.severity, "error");
    EXPECT_EQ(finding.reason,
        "memcheck reports an access outside of what was allocated, or a misaligned one, in kernel "
        "gemm (a.cu:41); 12 reports in all, of 1 place");
    ASSERT_FALSE(finding.evidence.empty());
    EXPECT_EQ(finding.evidence.front().line, 7);
    EXPECT_EQ(finding.rank, 0);
}

TEST(SanitizerCard, KnowsEachTool)
{
    const auto reason = [](const std::string& text) {
        return cardOf(runWith({}, {reportOf(text)}), "sanitizer").reason;
    };
    EXPECT_THAT(reason("Uninitialized __global__ memory read of size 4 bytes in kernel f"), HasSubstr("initcheck"));
    EXPECT_THAT(reason("Host API memory access error of size 4 bytes, uninitialized access by cudaMemcpy source"),
        HasSubstr("nobody had written"));
    EXPECT_THAT(reason("Race reported between Write access and Read access in kernel f"), HasSubstr("racecheck"));
    EXPECT_THAT(reason("Potential WAW hazard detected in kernel f"), HasSubstr("racecheck"));
    EXPECT_THAT(
        reason("Barrier error detected. Divergent thread(s) in warp in kernel f (a.cu:4)"), HasSubstr("synccheck"));
}

TEST(SanitizerCard, IsOfTheKernelOfNewtonSchulzFirst)
{
    const auto finding = cardOf(runWith({},
                                    {reportOf("Invalid __global__ read of size 4 bytes in kernel reduce"),
                                        reportOf("Uninitialized __global__ memory read of size 2 bytes in kernel "
                                                 "ns_line_1_kernel (newton_schulz.py:118)")}),
        "sanitizer");
    EXPECT_THAT(finding.reason, HasSubstr("ns_line_1_kernel (newton_schulz.py:118), by its name one of Newton-Schulz"));
    EXPECT_THAT(finding.reason, HasSubstr("2 reports in all, of 2 places"));
    EXPECT_EQ(finding.confidence, "medium") << "libraries read unwritten bytes on purpose";
    EXPECT_THAT(finding.evidence, SizeIs(2));
    EXPECT_THAT(
        cardOf(runWith({}, {reportOf("Invalid __global__ read in kernel transform_kernel")}), "sanitizer").reason,
        Not(HasSubstr("Newton-Schulz")));
}

TEST(SanitizerCard, TrustsAWarningLess)
{
    const auto warning = eventOf(
        EventKind::other, {}, "compute-sanitizer, a warning: Race reported between Write access and Read access in f");
    EXPECT_EQ(cardOf(runWith({}, {warning}), "sanitizer").confidence, "low");
}

TEST(SanitizerCard, IsClearWhereARunOfItSawNothing)
{
    EXPECT_EQ(stateOf(runWith({}, {reportOf("ERROR SUMMARY: 0 errors")}), "sanitizer"), FindingState::clear);
    EXPECT_EQ(
        stateOf(runWith({}, {reportOf("RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)")}), "sanitizer"),
        FindingState::clear);
    EXPECT_EQ(stateOf(runWith({}, {reportOf("ERROR SUMMARY: 3 errors")}), "sanitizer"), FindingState::notCheckable)
        << "of calls of the API alone";
    EXPECT_EQ(stateOf(runWith({seriesOf("loss", 1, {2, 1})}), "sanitizer"), FindingState::notCheckable);
}

} // namespace
} // namespace nanscope
