// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/scaleout/rankmeasures.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "core/platform/privatefolder.h"
#include "core/scaleout/member.h"
#include "core/scaleout/partlog.h"
#include "jobfolder.h"
#include "memorystore.h"

namespace nanscope::scaleout {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* same = "00112233445566778899aabbccddeeff";
constexpr const char* other = "00112233445566778899aabbccddeef0";

RankMeasure steady(int rank, const std::string& output = same)
{
    RankMeasure measure;
    measure.rank = rank;
    measure.engine = "torch 2.11.0";
    measure.hardware = "a GPU";
    measure.calls = 100;
    measure.output = output;
    return measure;
}

/// Of the first rank that stands out.
std::vector<std::string> whyOf(const std::vector<RankMeasure>& ranks)
{
    const auto odd = compared(ranks).odd;
    return odd.empty() ? std::vector<std::string>() : odd.front().why;
}

std::vector<int> oddOf(const std::vector<RankMeasure>& ranks)
{
    std::vector<int> odd;
    for (const auto& one : compared(ranks).odd) {
        odd.push_back(one.rank);
    }
    return odd;
}

TEST(RankComparison, FindsNobodyWhereAllGiveTheSame)
{
    const auto all = compared({steady(0), steady(1), steady(2)});
    EXPECT_THAT(all.odd, IsEmpty());
    EXPECT_EQ(all.text, "no rank stands out; 3 devices of one model give the same bits");
    EXPECT_THAT(compared({steady(0)}).text, HasSubstr("one device only"));
    EXPECT_EQ(compared({}).text, "");
}

TEST(RankComparison, NamesTheRankWhoseCallsDifferAndSinceWhich)
{
    auto bad = steady(1, other);
    bad.differ = 3;
    bad.firstBad = 17;
    const auto found = compared({steady(0), bad, steady(2)});
    ASSERT_THAT(found.odd, SizeIs(1));
    EXPECT_EQ(found.odd[0].rank, 1);
    EXPECT_THAT(found.odd[0].why, ElementsAre("3 of 100 calls differ from the first, the first is call 17"));
    EXPECT_EQ(found.text, "rank 1 stands out: 3 of 100 calls differ from the first, the first is call 17");
    bad.leg = "calm";
    EXPECT_THAT(compared({steady(0), bad, steady(2)}).text, HasSubstr("call 17 of calm"));
}

TEST(RankComparison, NamesTheRankWithNaNOrWithoutAnOutput)
{
    auto bad = steady(2);
    bad.nonFinite = 1;
    EXPECT_THAT(
        compared({steady(0), steady(1), bad}).text, HasSubstr("rank 2 stands out: 1 of 100 calls are not finite"));
    bad = steady(2);
    bad.failed = 20;
    EXPECT_THAT(compared({steady(0), steady(1), bad}).text, HasSubstr("20 of 120 calls gave no output"));
}

TEST(RankComparison, AccusesNobodyOfWhatHappensOnHalfOfTheRanks)
{
    auto bad = steady(0);
    bad.nonFinite = 100;
    auto too = bad;
    too.rank = 1;
    const auto found = compared({bad, too, steady(2), steady(3)});
    EXPECT_THAT(found.odd, IsEmpty());
    EXPECT_THAT(found.text, HasSubstr("on 2 of 4 ranks calls are not finite"));
    bad.differ = 1;
    bad.nonFinite = 0;
    EXPECT_EQ(compared({bad, steady(1)}).text, "no rank stands out; on 1 of 2 ranks calls differ from the first")
        << "that one device is left to compare would confuse";
    EXPECT_THAT(oddOf({bad, steady(1)}), IsEmpty()) << "of two that differ none is accused";
}

TEST(RankComparison, NamesTheRankThatGivesOtherBitsThanItsLike)
{
    EXPECT_THAT(oddOf({steady(0), steady(1, other), steady(2)}), ElementsAre(1));
    EXPECT_THAT(whyOf({steady(0), steady(1, other), steady(2)}),
        ElementsAre("it gives other bits than most of the same model"));
    EXPECT_THAT(oddOf({steady(0), steady(1, other)}), IsEmpty());
    auto ofAnotherModel = steady(1, other);
    ofAnotherModel.hardware = "another GPU";
    EXPECT_THAT(oddOf({steady(0), ofAnotherModel, steady(2)}), IsEmpty()) << "it may round differently";
    auto unsteady = steady(1, other);
    unsteady.differ = 50;
    EXPECT_THAT(whyOf({steady(0), unsteady, steady(2)}), SizeIs(1)) << "its first is no reference";
}

class RankMeasures : public ::testing::Test
{
protected:
    RankMeasures()
    {
        auto job = m_folder.job();
        job.captures.resize(1);
        const auto only = job.captures[0].request.captures;
        job.captures[0].request = {};
        job.captures[0].request.captures = only;
        job.measuring = {"repeat", "/captures/a.pt", "--impl", "python:/mine.py:f"};
        m_job = *makeJob(m_folder.path(), std::move(job), {});
    }

    PartLog part(int rank, const std::string& job) const
    {
        return std::move(*PartLog::open(
            partPath(m_folder.path(), rank), {job, rank, fmt::format("GPU {}", rank), "torch 2.11.0", "a GPU"}));
    }

    void keep(int rank, const std::string& answer, int processes = 4) const
    {
        EXPECT_TRUE(part(rank, m_job.id).done(0, 100, 1, keptAnswer("node \"7\"", processes, answer)));
    }

    testing::JobFolder m_folder;
    Job m_job;
};

constexpr const char* repeated =
    R"({"schema":"nanscope.measure/1","subject":{"environment":{"uuid":"GPU-77"}},"answer":{"calls":90,"failed":10,)"
    R"("differ":3,"non_finite":2,"first_differing":17,"first_non_finite":5,"output":"00112233445566778899aabbccddeeff",)"
    R"("sentence":"3 of 90 calls differ"}})";

TEST_F(RankMeasures, AreReadBackWithWhereTheyWereMade)
{
    keep(2, repeated);
    const auto gathered = gatherMeasures(m_job, m_folder.path(), {});
    ASSERT_THAT(gathered.ranks, SizeIs(1));
    const auto& rank = gathered.ranks[0];
    EXPECT_EQ(rank.rank, 2);
    EXPECT_EQ(rank.node, "node \"7\"");
    EXPECT_EQ(rank.device, "GPU 2");
    EXPECT_EQ(rank.hardware, "a GPU");
    EXPECT_EQ(rank.uuid, "GPU-77");
    EXPECT_EQ(rank.calls, 90);
    EXPECT_EQ(rank.failed, 10);
    EXPECT_EQ(rank.differ, 3);
    EXPECT_EQ(rank.nonFinite, 2);
    EXPECT_EQ(rank.firstBad, 17);
    EXPECT_EQ(rank.output, same);
    EXPECT_EQ(rank.sentence, "3 of 90 calls differ");
    EXPECT_THAT(rank.answer, HasSubstr("nanscope.measure/1"));
    EXPECT_EQ(gathered.expected, 4) << "as the ranks themselves know";
    EXPECT_THAT(gathered.missing, ElementsAre(0, 1, 3));
    EXPECT_TRUE(gathered.begun);
}

TEST_F(RankMeasures, OfAStormAddUpItsLegs)
{
    keep(0,
        R"({"answer":{"legs":[{"name":"calm","calls":10,"failed":0,"differ":0,"non_finite":0,"first_differing":null,)"
        R"("first_non_finite":null},{"name":"3 streams","calls":9,"failed":1,"differ":2,"non_finite":1,)"
        R"("first_differing":4,"first_non_finite":4}],"output":"x","sentence":"s"}})");
    const auto gathered = gatherMeasures(m_job, m_folder.path(), 1);
    ASSERT_THAT(gathered.ranks, SizeIs(1));
    EXPECT_EQ(gathered.ranks[0].calls, 19);
    EXPECT_EQ(gathered.ranks[0].failed, 1);
    EXPECT_EQ(gathered.ranks[0].differ, 2);
    EXPECT_EQ(gathered.ranks[0].firstBad, 4);
    EXPECT_EQ(gathered.ranks[0].leg, "3 streams");
    EXPECT_THAT(gathered.missing, IsEmpty());
}

TEST_F(RankMeasures, SayWhyARankIsMissing)
{
    EXPECT_FALSE(gatherMeasures(m_job, m_folder.path(), 2).begun);
    EXPECT_TRUE(part(1, m_job.id).failed(0, "torch has no device cuda:0 here."));
    keep(0, "{\"no\":\"answer\"}");
    std::ignore = part(2, "of another job");
    const auto gathered = gatherMeasures(m_job, m_folder.path(), {});
    EXPECT_THAT(gathered.ranks, IsEmpty()) << "what cannot be read is no answer";
    EXPECT_THAT(gathered.missing, ElementsAre(0, 1));
    ASSERT_THAT(gathered.problems, SizeIs(1));
    EXPECT_EQ(gathered.problems[0].what, "rank 1: torch has no device cuda:0 here.");
}

TEST_F(RankMeasures, AreOfAJobThatNoFileStarts)
{
    const auto read = readJob(m_folder.path());
    ASSERT_TRUE(read) << read.error().what;
    EXPECT_EQ(read->measuring, m_job.measuring);
    EXPECT_EQ(read->id, m_job.id);
    EXPECT_FALSE(std::filesystem::exists(capturesPath(m_folder.path())));
    testing::MemoryStore store;
    MemberOptions options;
    options.folder = m_folder.path();
    const auto joined = work(*read, store, options, {});
    ASSERT_FALSE(joined);
    EXPECT_EQ(joined.error().kind, ErrorKind::usage);
    EXPECT_THAT(joined.error().what, HasSubstr("which no file may"));
    auto another = m_job;
    another.measuring.back() = "python:/other.py:f";
    EXPECT_FALSE(makeJob(m_folder.path(), another, {}));
}

} // namespace

} // namespace nanscope::scaleout
