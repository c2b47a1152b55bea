// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "logfolder.h"

namespace nanscope {
namespace {

using testing::SizeIs;

class OverflowTraces : public LogFolder
{
protected:
    std::vector<Event> events(const std::string& frames)
    {
        return read("console.log",
            "Detected inf/nan during batch_number=3\nLast 2 forward frames:\nabs min  abs max  metadata\n" + frames)
            .events;
    }
};

constexpr const char* clean =
    "                  layers.0.norm LayerNorm\n8.69e-02 4.18e-01 weight\n1.79e-06 4.65e+00 output\n";

TEST_F(OverflowTraces, NameTheModuleWhoseValueIsBadFirst)
{
    const auto found = events(std::string(clean)
        + "                  layers.0.wo Linear\n1.00e-10 1.27e+04 weight\n0.00e+00      inf output\n"
          "                  layers.1.norm LayerNorm\n0.00e+00      inf input[0]\n     nan      nan output\n");
    ASSERT_THAT(found, SizeIs(2)) << "the heading, and the first bad value only";
    EXPECT_EQ(found[0].kind, EventKind::nanLoss);
    EXPECT_EQ(found[0].line, 1);
    EXPECT_EQ(found[1].kind, EventKind::nanLoss);
    EXPECT_EQ(found[1].line, 9);
    EXPECT_EQ(found[1].facts.site, "layers.0.wo Linear, output");
}

TEST_F(OverflowTraces, AnInputThatIsBadSaysThatItCameFromBefore)
{
    const auto found = events("                  layers.0.wo Linear\n     nan      nan input[0]\n");
    ASSERT_THAT(found, SizeIs(2));
    EXPECT_EQ(found[1].facts.site, "layers.0.wo Linear, input[0]");
}

TEST_F(OverflowTraces, EndWhereOtherLinesBegin)
{
    EXPECT_THAT(events(clean), SizeIs(1)) << "cut off before the bad value";
    EXPECT_THAT(events(std::string(clean) + "step 5\n0.00e+00      inf output\n"), SizeIs(1));
    EXPECT_THAT(read("other.log", "0.00e+00      inf output\n").events, SizeIs(0)) << "no heading";
}

TEST_F(OverflowTraces, OfEveryRankItsOwn)
{
    const auto found = read("ranks.log",
        "[rank0]: Detected inf/nan during batch_number=3\n[rank1]: Detected inf/nan during batch_number=3\n"
        "[rank0]:                   layers.0.a Linear\n[rank1]:                   layers.7.b Linear\n"
        "[rank1]: 0.00e+00      inf weight\n[rank0]:      nan      nan output\n")
                           .events;
    ASSERT_THAT(found, SizeIs(4));
    EXPECT_EQ(found[2].rank, 1);
    EXPECT_EQ(found[2].facts.site, "layers.7.b Linear, weight");
    EXPECT_EQ(found[3].rank, 0);
    EXPECT_EQ(found[3].facts.site, "layers.0.a Linear, output");
}

} // namespace
} // namespace nanscope
