// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "logfolder.h"

namespace nanscope {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class SanitizerReports : public LogFolder
{
protected:
    std::vector<Event> events(const std::string& lines)
    {
        return read("console.log", "========= COMPUTE-SANITIZER\n" + lines).events;
    }
    Event only(const std::string& lines)
    {
        const auto found = events(lines);
        EXPECT_THAT(found, SizeIs(1)) << lines;
        return found.empty() ? Event() : found.front();
    }
};

/// As the tool writes it, with frames of the host that nobody needs.
std::string invalidWrite(const std::string& kernel, int block = 3, int address = 100)
{
    return "========= Invalid __global__ write of size 2 bytes\n"
           "=========     at "
        + kernel + "+0x70 in /home/me/src/newton_schulz.cu:41\n=========     by thread (0,0,0) in block ("
        + std::to_string(block) + ",0,0)\n=========     Address 0x7f0012340" + std::to_string(address)
        + " is out of bounds\n"
          "=========     and is 1 bytes after the nearest allocation at 0x7f0012340000 of size 256 bytes\n"
          "=========     Saved host backtrace up to driver entry point at kernel launch time\n"
          "=========         Host Frame: cuLaunchKernel: CUDA error: out of memory [0x8a81] in libcuda.so.1\n"
          "=========\n";
}

TEST_F(SanitizerReports, NameKernelPlaceAndBlock)
{
    const auto event = only(invalidWrite("ns_line_1_kernel(float *, int)"));
    EXPECT_EQ(event.kind, EventKind::other) << "a faulty access is no NaN yet";
    EXPECT_EQ(event.line, 2);
    EXPECT_EQ(event.facts.site, "ns_line_1_kernel(float *, int) (newton_schulz.cu:41)") << "without folders";
    EXPECT_TRUE(event.says(Phrase::invalidAccess));
    EXPECT_TRUE(event.says(Phrase::newtonSchulzKernel));
    EXPECT_THAT(event.text, HasSubstr("Invalid __global__ write of size 2 bytes"));
    EXPECT_THAT(event.text, HasSubstr("thread (0,0,0) in block (3,0,0)"));
    EXPECT_THAT(event.text, HasSubstr("0x7f0012340100 is out of bounds"));
}

TEST_F(SanitizerReports, AreOneEventForEachKindAndKernel)
{
    const auto found = events(invalidWrite("gemm()", 3, 100) + invalidWrite("gemm()", 4, 101) + invalidWrite("other()")
        + "========= Uninitialized __global__ memory read of size 4 bytes\n=========     at gemm()+0x10\n=========\n"
        + invalidWrite("gemm()", 5, 102) + "========= ERROR SUMMARY: 5 errors\n");
    ASSERT_THAT(found, SizeIs(4));
    EXPECT_EQ(found[0].copies, 3);
    EXPECT_THAT(found[0].text, HasSubstr("block (3,0,0)")) << "of the first";
    EXPECT_EQ(found[1].facts.site, "other() (newton_schulz.cu:41)");
    EXPECT_TRUE(found[2].says(Phrase::unwrittenRead));
    EXPECT_EQ(found[2].facts.site, "gemm()");
    EXPECT_EQ(found[3].text, "compute-sanitizer: ERROR SUMMARY: 5 errors");
    EXPECT_FALSE(found[3].says(Phrase::sanitizerClean));
}

TEST_F(SanitizerReports, TakeTheKernelFromTheOutermostFrame)
{
    const auto event = only("========= Uninitialized __global__ memory read of size 4 bytes\n"
                            "=========     at load(const float *)+0x20 in tile.cuh:7\n"
                            "=========     by thread (31,0,0) in block (1,0,0)\n"
                            "=========     Address 0x7f001234\n"
                            "=========     Device Frame: load_tile(const float *)+0x90 in tile.cuh:30\n"
                            "=========     Device Frame: XXT_kernel+0x150 in triton_kernels.py:88\n"
                            "=========\n");
    EXPECT_EQ(event.facts.site, "XXT_kernel, function load(const float *) (tile.cuh:7)");
    EXPECT_TRUE(event.says(Phrase::newtonSchulzKernel));
}

TEST_F(SanitizerReports, OfOlderVersionsHaveThePlaceFirst)
{
    EXPECT_EQ(only("========= Invalid __shared__ read of size 4 bytes\n"
                   "=========     at 0x578 in /src/a.cu:120:multiply(Matrix, cub::Block<int>)\n=========\n")
                  .facts.site,
        "multiply(Matrix, cub::Block<int>) (a.cu:120)");
    EXPECT_EQ(
        only("========= Invalid __global__ read of size 8\n=========     at 0x3b0 in void bootstrap<int=2>(long*)\n"
             "=========\n")
            .facts.site,
        "void bootstrap<int=2>(long*)");
    EXPECT_EQ(only("========= Invalid __global__ read of size 8 bytes\n=========     at plain():0x160 in a.cu:6\n"
                   "=========\n")
                  .facts.site,
        "plain() (a.cu:6)");
}

TEST_F(SanitizerReports, OfRacesHaveBothAccesses)
{
    const auto event = only("========= Error: Race reported between Write access at sum(int *)+0x90 in /src/sum.cu:41\n"
                            "=========     and Read access at sum(int *)+0x100 in /src/sum.cu:51 [508 hazards]\n"
                            "=========\n");
    EXPECT_TRUE(event.says(Phrase::sharedRace));
    EXPECT_FALSE(event.says(Phrase::sanitizerWarning));
    EXPECT_EQ(event.facts.site, "sum(int *) (sum.cu:41)");
    EXPECT_THAT(event.text, HasSubstr("between Write access and Read access in kernel sum"));
    EXPECT_THAT(event.text, HasSubstr("the other at sum.cu:51"));
    const auto warned = only("========= Warning: Race reported between Read access at sum(int *)+0x90\n"
                             "=========     and Write access at sum(int *)+0x100 [2 hazards]\n=========\n");
    EXPECT_TRUE(warned.says(Phrase::sharedRace));
    EXPECT_TRUE(warned.says(Phrase::sanitizerWarning));
}

TEST_F(SanitizerReports, OfSingleHazardsAreCounted)
{
    std::string lines;
    for (const char* byte : {"0x0", "0x1", "0x2"}) {
        lines += std::string("========= Error: Potential WAW hazard detected at __shared__ ") + byte
            + " in block (0,0,0) :\n=========     Write Thread (0,0,0) at both()+0x2f0 in waw.cu:20\n"
              "=========     Write Thread (1,0,0) at both()+0x2f0 in waw.cu:20\n"
              "=========     Current Value : 1, Incoming Value : 2\n=========\n";
    }
    const auto event = only(lines);
    EXPECT_EQ(event.copies, 3);
    EXPECT_TRUE(event.says(Phrase::sharedRace));
    EXPECT_EQ(event.facts.site, "both() (waw.cu:20)");
}

TEST_F(SanitizerReports, OfBarriersAndOfCopiesThatReadWhatNobodyWrote)
{
    const auto barrier = only("========= Barrier error detected. Divergent thread(s) in block.\n"
                              "=========     at inner()+0x11f0 in test.cu:42\n"
                              "=========     by thread (32,0,0) in block (0,0,0)\n=========\n");
    EXPECT_TRUE(barrier.says(Phrase::barrierMisuse));
    EXPECT_THAT(barrier.text, HasSubstr("Divergent thread(s) in block in kernel inner()"));
    const auto copy = only("========= Host API memory access error at host access to 0x7f0012 of size 25600 bytes\n"
                           "=========     Uninitialized access at 0x7f0034 on access by cudaMemcpy source.\n"
                           "=========     Saved host backtrace up to driver entry point at error\n=========\n");
    EXPECT_TRUE(copy.says(Phrase::unwrittenRead));
    EXPECT_EQ(copy.facts.site, "");
    EXPECT_THAT(copy.text, HasSubstr("uninitialized access by cudaMemcpy source"));
}

TEST_F(SanitizerReports, OfNothingSaySo)
{
    EXPECT_TRUE(only("========= ERROR SUMMARY: 0 errors\n").says(Phrase::sanitizerClean));
    EXPECT_TRUE(
        only("========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n").says(Phrase::sanitizerClean));
    EXPECT_FALSE(only("========= ERROR SUMMARY: 10 errors\n").says(Phrase::sanitizerClean));
}

TEST_F(SanitizerReports, OfEveryRankAreItsOwn)
{
    const auto found = read("ranks.log",
        "[rank0]: ========= Invalid __global__ read of size 4 bytes\n"
        "[rank1]: ========= Invalid __global__ write of size 2 bytes\n[rank0]: =========     at a()+0x10\n"
        "[rank1]: =========     at b()+0x10\n[rank1]: =========\n[rank0]: =========\n")
                           .events;
    ASSERT_THAT(found, SizeIs(2));
    EXPECT_EQ(found[0].facts.site, found[0].rank == 0 ? "a()" : "b()");
    EXPECT_EQ(found[1].facts.site, found[1].rank == 0 ? "a()" : "b()");
    EXPECT_NE(found[0].rank, found[1].rank);
}

TEST_F(SanitizerReports, AreGivenWhereTheLogEndsOrOtherLinesStandBetween)
{
    EXPECT_EQ(only("========= Invalid __global__ read of size 4 bytes\n=========     at a()+0x10\n").facts.site, "a()");
    EXPECT_EQ(only("========= Invalid __global__ read of size 4 bytes\nstep 5 of a loop\n=========     at a()+0x10\n"
                   "=========\n")
                  .facts.site,
        "a()");
}

TEST_F(SanitizerReports, LeaveTheLinesOfOthersAlone)
{
    const auto found = read("other.log",
        "========= Setup =========\n=========     CUDA out of memory\n======== step 3 =========\n"
        "=== Invalid __global__ read of size 4 bytes\n")
                           .events;
    ASSERT_THAT(found, SizeIs(1)) << "a heading of a trainer's own";
    EXPECT_EQ(found[0].kind, EventKind::infrastructure);
    EXPECT_THAT(events("RuntimeError: CUDA error: unspecified launch failure\n"), IsEmpty());
    EXPECT_THAT(events("========= Program hit cudaErrorInvalidValue (error 1) due to \"invalid argument\" on CUDA API "
                       "call to cudaFree.\n"),
        IsEmpty())
        << "programs probe what there is, and go on";
}

} // namespace
} // namespace nanscope
