// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Processes of a job whose services are scripts that answer, die or hang. tests/gpu/scaleout has the real ones.
#include "core/scaleout/member.h"

#include <thread>

#include <gmock/gmock.h>

#include "core/scaleout/partlog.h"
#include "jobfolder.h"
#include "memorystore.h"

namespace nanscope::scaleout {

namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

/// Answers hello, and every sweep, whose two cells `cells` writes, with what `onSweep` does; there $id is the job's.
platform::ChildProgram service(const std::string& onSweep)
{
    return {"/bin/sh",
        {"-c",
            R"(
cell() { echo "{\"id\":$id,\"cell\":{\"variant\":\"gns-gram\",\"precision\":\"$1\",\"device\":\"cpu\"}}"; }
cells() { cell fp64; cell bf16; echo "{\"id\":$id,\"done\":true}"; }
while read -r line; do
  id=${line##*\"id\":}; id=${id%%[,\}]*}
  case "$line" in
    *'"hello"'*) echo '{"id":1,"hello":{"engine":"fake 1.0","devices":[{"name":"cpu","hardware":"a CPU"}],"sessions":)"
                + std::to_string(session::sessionSchemaVersion) + R"(}}' ;;
    *'"cancel"'*) ;;
    *'"sweep"'*) )"
                + onSweep + R"( ;;
  esac
done)"},
        {}};
}

class MemberTest : public ::testing::Test
{
protected:
    MemberOptions options(int rank, const std::string& onSweep) const
    {
        MemberOptions options;
        options.folder = m_folder.path();
        options.rank = rank;
        options.service = service(onSweep);
        options.beatEvery = 100ms;
        options.lookEvery = 50ms;
        options.silence = 1s;
        return options;
    }

    Result<MemberReport> work(const MemberOptions& options, const JobContext& context = {})
    {
        return scaleout::work(m_job, m_store, options, context);
    }

    PartSummary part(int rank) const { return readPartLog(partPath(m_folder.path(), rank), m_job.id); }

    testing::JobFolder m_folder;
    testing::MemoryStore m_store;
    Job m_job = m_folder.made();
};

TEST_F(MemberTest, DoesAllOfAJobAlone)
{
    const auto report = work(options(0, "cells"));
    ASSERT_TRUE(report) << report.error().what;
    EXPECT_EQ(report->blocks, 6);
    EXPECT_EQ(report->cells, 12);
    EXPECT_EQ(report->failed, 0);
    EXPECT_THAT(part(0).blocks, SizeIs(6));
    EXPECT_EQ(part(0).start.hardware, "a CPU");
}

TEST_F(MemberTest, SharesAJob)
{
    std::vector<std::int64_t> blocks(3, 0);
    std::vector<std::thread> processes;
    for (int rank = 0; rank < 3; ++rank) {
        processes.emplace_back([&, rank] {
            const auto report = work(options(rank, "sleep 0.1; cells"));
            EXPECT_TRUE(report);
            blocks[static_cast<std::size_t>(rank)] = report ? report->blocks : -1;
        });
    }
    for (auto& process : processes) {
        process.join();
    }
    EXPECT_EQ(blocks[0] + blocks[1] + blocks[2], 6);
}

TEST_F(MemberTest, GoesOnWhereAnEarlierStartEnded)
{
    {
        auto log = PartLog::open(partPath(m_folder.path(), 7), {m_job.id, 7, "cpu", "fake", "a CPU"});
        ASSERT_TRUE(log);
        ASSERT_TRUE(log->done(0, 2, 0.1));
        ASSERT_TRUE(log->done(4, 2, 0.1));
        std::filesystem::copy_file(capturesPath(m_folder.path()), partPath(m_folder.path(), 7));
    }
    ASSERT_TRUE(work(options(0, "cells")));
    EXPECT_THAT(part(0).blocks, UnorderedElementsAre(1, 2, 3, 5));
}

TEST_F(MemberTest, TriesABlockAgainWhoseServiceDied)
{
    const auto once = (m_folder.path() / "died").string();
    const auto report = work(options(0, "if [ ! -e " + once + " ]; then touch " + once + "; exit 3; fi; cells"));
    ASSERT_TRUE(report) << report.error().what;
    EXPECT_EQ(report->blocks, 6);
    EXPECT_EQ(report->failed, 0);
}

TEST_F(MemberTest, LeavesOutABlockThatItsServiceDiesOf)
{
    const auto report = work(options(0, R"(case "$line" in *other.pt*gns-gram*) echo gone >&2; exit 3;; esac; cells)"));
    ASSERT_TRUE(report) << report.error().what;
    EXPECT_EQ(report->blocks, 5);
    EXPECT_EQ(report->failed, 1);
    EXPECT_THAT(part(0).problem, HasSubstr("gone"));
}

TEST_F(MemberTest, EndsWhereOneBlockAfterTheOtherFails)
{
    const auto broken = work(options(0, "echo no memory >&2; exit 3"));
    ASSERT_FALSE(broken);
    EXPECT_THAT(broken.error().what, HasSubstr("3 blocks failed one after the other"));
    EXPECT_THAT(broken.error().what, HasSubstr("no memory"));
    // A second one does the rest, and what the first one failed at.
    const auto whole = work(options(1, "cells"));
    ASSERT_TRUE(whole);
    EXPECT_EQ(whole->blocks, 6);
}

TEST_F(MemberTest, SaysWhichCaptureThisMachineDoesNotSee)
{
    for (const auto& capture : m_folder.run().captures) {
        std::filesystem::remove(capture.path);
    }
    const auto blind = work(options(0, "cells"));
    ASSERT_FALSE(blind);
    EXPECT_THAT(blind.error().what, HasSubstr("as this machine sees it"));
    EXPECT_THAT(part(0).blocks, IsEmpty());
}

TEST_F(MemberTest, StopsWhenCancelled)
{
    JobContext context;
    context.progress = [&](const Progress& progress) {
        if (progress.done == 2) {
            context.cancel.cancel();
        }
    };
    const auto report = work(options(0, "case \"$line\" in *other.pt*) sleep 60;; esac; cells"), context);
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().kind, ErrorKind::cancelled);
    EXPECT_THAT(part(0).blocks, SizeIs(2));
}

TEST_F(MemberTest, EndsWithAStoreThatDoesNotAnswer)
{
    JobContext context;
    context.progress = [&](const Progress& progress) {
        if (progress.done == 1) {
            m_store.stopAnswering();
        }
    };
    const auto begun = std::chrono::steady_clock::now();
    const auto report = work(options(0, "case \"$line\" in *rank_1*) sleep 60;; esac; cells"), context);
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().what, "the store does not answer");
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 30s);
}

TEST_F(MemberTest, GivesUpABlockThatAnotherHasDoneMeanwhile)
{
    auto stuck = options(0, "sleep 60; cells");
    stuck.patience = 1s;
    auto quick = options(1, "cells");
    quick.patience = 1s;
    Result<MemberReport> first;
    std::thread process([&] { first = work(stuck); });
    while (!m_store.has("nanscope/" + m_job.id + "//next").value_or(true)) {
        std::this_thread::sleep_for(10ms);
    }
    const auto second = work(quick);
    process.join();
    ASSERT_TRUE(first) << first.error().what;
    ASSERT_TRUE(second) << second.error().what;
    EXPECT_EQ(first->blocks, 0);
    EXPECT_EQ(second->blocks, 6);
}

TEST_F(MemberTest, NamesADeviceThatIsNotThere)
{
    auto wanted = options(0, "cells");
    wanted.device = "cuda:3";
    const auto report = work(wanted);
    ASSERT_FALSE(report);
    EXPECT_THAT(report.error().what, HasSubstr("cuda:3"));
}

} // namespace

} // namespace nanscope::scaleout
