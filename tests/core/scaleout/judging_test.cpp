// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Processes of the job of a diagnosis, whose programs that judge are scripts. tests/integration has the real one.
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "core/base/jsonanswer.h"
#include "core/json/records.h"
#include "core/scaleout/gather.h"
#include "core/scaleout/member.h"
#include "jobfolder.h"
#include "memorystore.h"

namespace nanscope::scaleout {

namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class JudgingTest : public ::testing::Test
{
protected:
    JudgingTest()
    {
        auto job = m_folder.job();
        for (auto& capture : job.captures) {
            const auto only = capture.request.captures;
            capture.request = {};
            capture.request.captures = only;
        }
        job.captures[1].elements = 1000;
        job.judging = {"/runs/a session.nanscope", "--ran", "gns-gram"};
        m_job = *makeJob(m_folder.path(), std::move(job), m_folder.run());
    }

    /// Says hello, and does this for each line, the capture's name being $name.
    MemberOptions options(const std::string& onName) const
    {
        const auto program = m_folder.path() / "nanscope";
        std::ofstream(program) << "#!/bin/sh\n"
                                  R"(echo "$@" >> )"
                               << (m_folder.path() / "told").string() << R"(
verdict() { printf '{"verdict":"{\\"schema\\":\\"nanscope.diagnosis/1\\",\\"captures\\":[{\\"capture\\":\\"%s\\",\\"summary\\":\\"%s\\"}]}"}\n' "$name" "$1"; }
echo '{"engine":"eigen 3.4.0","hardware":"a CPU"}'
while read -r name; do
)" << onName << "\ndone\n";
        std::filesystem::permissions(program, std::filesystem::perms::owner_all);
        MemberOptions options;
        options.folder = m_folder.path();
        options.nanscope = program;
        options.beatEvery = 100ms;
        options.lookEvery = 50ms;
        options.silence = 1s;
        return options;
    }

    std::string told() const
    {
        std::ifstream file(m_folder.path() / "told");
        return {std::istreambuf_iterator<char>(file), {}};
    }

    testing::JobFolder m_folder;
    testing::MemoryStore m_store;
    Job m_job;
};

TEST_F(JudgingTest, HasABlockForEachCaptureAndTheLargestFirst)
{
    const auto read = readJob(m_folder.path());
    ASSERT_TRUE(read) << read.error().what;
    EXPECT_EQ(read->id, m_job.id);
    EXPECT_EQ(read->judging, m_job.judging);
    EXPECT_EQ(cellCount(*read), 3);
    const auto blocks = blocksOf(*read);
    ASSERT_THAT(blocks, SizeIs(3));
    EXPECT_EQ(read->captures[blocks.front().capture].name, "rank_1/dump.pt");
    EXPECT_FALSE(std::filesystem::exists(capturesPath(m_folder.path()))) << "parts have no cells";
}

TEST_F(JudgingTest, TellsAProgramNamesAndKeepsItsVerdicts)
{
    const auto report = work(m_job, m_store, options("verdict bad"), {});
    ASSERT_TRUE(report) << report.error().what;
    EXPECT_EQ(report->blocks, 3);
    EXPECT_EQ(report->cells, 3);
    EXPECT_EQ(told(), "diagnose /runs/a session.nanscope --ran gns-gram --device cpu --as-told\n") << "started once";
    const auto gathered = gatherVerdicts(m_job, m_folder.path());
    EXPECT_EQ(gathered.missing, 0);
    EXPECT_THAT(gathered.unread, IsEmpty());
    ASSERT_THAT(gathered.verdicts, SizeIs(3));
    EXPECT_EQ(gathered.verdicts.at("rank_0/dump.pt").summary, "bad");
    ASSERT_THAT(gathered.parts, SizeIs(1));
    EXPECT_EQ(gathered.parts.front().start.hardware, "a CPU");
}

TEST_F(JudgingTest, StartsTheProgramAgainWhereItDiedOrItsDeviceWasLost)
{
    for (const std::string end : {"exit 9", R"(echo '{"error":"the GPU is gone"}')"}) {
        const auto once = (m_folder.path() / ("once" + std::to_string(end.size()))).string();
        auto wanted = options(fmt::format("if [ ! -e {0} ]; then touch {0}; {1}; continue; fi; verdict ok", once, end));
        wanted.start = end;
        std::filesystem::remove(m_folder.path() / "part-00000.jsonl");
        const auto report = work(m_job, m_store, wanted, {});
        ASSERT_TRUE(report) << report.error().what;
        EXPECT_EQ(report->blocks, 3) << end;
        EXPECT_EQ(report->failed, 0) << end;
    }
}

TEST_F(JudgingTest, SaysWhichCapturesAreMissingAndWhy)
{
    const auto report =
        work(m_job, m_store, options(R"(case "$name" in *other*) echo no memory >&2; exit 9;; esac; verdict ok)"), {});
    ASSERT_TRUE(report) << report.error().what;
    EXPECT_EQ(report->failed, 1);
    const auto gathered = gatherVerdicts(m_job, m_folder.path());
    EXPECT_EQ(gathered.missing, 1);
    EXPECT_FALSE(gathered.verdicts.contains("rank_1/other.pt"));
    EXPECT_THAT(gathered.parts.front().problem, HasSubstr("no memory"));
}

TEST_F(JudgingTest, TakesNothingForAVerdictThatIsNone)
{
    const auto report = work(m_job, m_store, options(R"(echo '{"verdict":"{}"}')"), {});
    ASSERT_TRUE(report);
    const auto gathered = gatherVerdicts(m_job, m_folder.path());
    EXPECT_EQ(gathered.missing, 3);
    EXPECT_THAT(gathered.unread, SizeIs(3));
}

TEST_F(JudgingTest, LeavesACaptureThatIsNotThereToOthers)
{
    std::filesystem::remove(m_job.captures[2].request.captures.front().path);
    const auto report = work(m_job, m_store, options("verdict ok"), {});
    ASSERT_TRUE(report) << report.error().what;
    EXPECT_EQ(report->failed, 1);
    EXPECT_THAT(gatherVerdicts(m_job, m_folder.path()).parts.front().problem,
        HasSubstr("does not lie there as this machine sees it"));
}

} // namespace

} // namespace nanscope::scaleout
