// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/ingest/ingest.h"
#include "core/session/session.h"
#include "core/tensorfile/tensorfile.h"
#include "tests/core/ingest/logfolder.h"
#include "tests/core/session/temporaryfolder.h"

using namespace nanscope;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

std::vector<std::string> names(const Result<ingest::FoundFiles>& found)
{
    std::vector<std::string> result;
    for (const auto& file : found->files) {
        result.push_back(file.relative);
    }
    return result;
}

std::string dionLines(int from, int to)
{
    std::string text;
    for (int step = from; step < to; ++step) {
        text += "Step " + std::to_string(step) + ": train_loss=1.5000, grad_norm=0.2500\n";
    }
    return text;
}

void writeCapture(const std::filesystem::path& path, float fill)
{
    ASSERT_TRUE(tensorfile::writePt(path,
        {{"input", smallMatrix("input", fill)}, {"output", smallMatrix("output", fill)}, {"rank", std::int64_t {1}},
            {"epsilon", 1e-7}}));
}

using Import = ImportedFolder;

} // namespace

TEST_F(Import, findsWhatCouldBeReadAndPassesOverTheRest)
{
    for (const auto* name : {"run/console.log", "run/a/b.pt", "run/a/b.json", "run/a/c.jsonl", "run/noending",
             "run/picture.PNG", "run/train.py", "run/.hidden/x.log", "run/.dot.log", "run/events.out.tfevents.1.host.2",
             "run/w.safetensors"}) {
        m_folder.write(name, "x");
    }
    const auto found = ingest::findFiles(m_folder / "run/");
    ASSERT_TRUE(found);
    EXPECT_THAT(names(found),
        ElementsAre("a/b.pt", "a/c.jsonl", "console.log", "events.out.tfevents.1.host.2", "noending", "w.safetensors"));
    EXPECT_EQ(found->name, "run");
    EXPECT_THAT(found->rejected, IsEmpty());
    EXPECT_FALSE(ingest::findFiles(m_folder / "none"));
    const auto single = ingest::findFiles(m_folder / "run/console.log");
    EXPECT_THAT(names(single), ElementsAre("console.log"));
}

TEST_F(Import, linksAreFollowedOnceAndLoopsAreSaid)
{
    m_folder.write("run/a/one.log", "x");
    m_folder.write("outside/two.log", "x");
    namespace fs = std::filesystem;
    fs::create_directory_symlink(m_folder / "run", m_folder / "run/a/loop");
    fs::create_directory_symlink(m_folder / "outside", m_folder / "run/out");
    fs::create_directory_symlink(m_folder / "outside", m_folder / "run/zout");
    fs::create_directory_symlink(m_folder / "run/out", m_folder / "outside/again");
    fs::create_symlink(m_folder / "run/a/one.log", m_folder / "run/latest.log");
    fs::create_symlink(m_folder / "nowhere", m_folder / "run/broken.log");
    fs::create_symlink(m_folder / "run/self", m_folder / "run/self");
    const auto found = ingest::findFiles(m_folder / "run");
    ASSERT_TRUE(found);
    EXPECT_THAT(names(found),
        testing::AnyOf(ElementsAre("a/one.log", "out/two.log"), ElementsAre("a/one.log", "zout/two.log")));
    std::vector<std::string> rejected;
    for (const auto& rejection : found->rejected) {
        rejected.push_back(rejection.path);
    }
    EXPECT_THAT(rejected, testing::IsSupersetOf({"a/loop", "broken.log", "self"}));
}

TEST_F(Import, oddNamesPipesAndLockedFoldersAreOrdinary)
{
    m_folder.write("run/b\xff"
                   "d.log",
        dionLines(0, 2));
    m_folder.write("run/locked/x.log", dionLines(0, 2));
    ASSERT_EQ(mkfifo((m_folder / "run/pipe.log").c_str(), 0600), 0);
    std::filesystem::permissions(m_folder / "run/locked", std::filesystem::perms::none);
    const auto run = import();
    std::filesystem::permissions(m_folder / "run/locked", std::filesystem::perms::owner_all);
    ASSERT_FALSE(run.series.empty());
    EXPECT_EQ(run.series[0].source, "b\\xffd.log");
    std::vector<std::string> rejected;
    for (const auto& rejection : run.rejected) {
        rejected.push_back(rejection.path);
    }
    // To root nothing is locked, and the log in there is a copy of the other one.
    const bool locked = geteuid() != 0;
    const std::vector<std::string> expected =
        locked ? std::vector<std::string> {"locked", "pipe.log"} : std::vector<std::string> {"pipe.log"};
    EXPECT_THAT(rejected, testing::UnorderedElementsAreArray(expected));
    EXPECT_EQ(run.notes.size(), locked ? 0U : 1U);
}

TEST_F(Import, pipesAreNamedWhereTheyLookLikeSomethingToRead)
{
    m_folder.write("run/a.log", dionLines(0, 2));
    for (const auto* const name : {"run/x.pt", "run/y.jsonl", "run/agent.sock"}) {
        ASSERT_EQ(mkfifo((m_folder / name).c_str(), 0600), 0);
    }
    ASSERT_EQ(mkfifo((m_folder / "outside").c_str(), 0600), 0);
    std::filesystem::create_symlink("../outside", m_folder / "run/link.npy");
    std::vector<std::string> named;
    for (const auto& rejection : import().rejected) {
        EXPECT_THAT(rejection.reason, testing::HasSubstr("a pipe, socket or device"));
        named.push_back(rejection.path);
    }
    EXPECT_THAT(named, testing::UnorderedElementsAre("x.pt", "y.jsonl", "link.npy"));
    const auto alone = ingest::findFiles(m_folder / "run/agent.sock");
    ASSERT_FALSE(alone);
    EXPECT_THAT(alone.error().what, testing::HasSubstr("a pipe, socket or device"));
}

TEST_F(Import, aLogThatAnotherProgramImportsNowIsNoRejectionToKeep)
{
    m_folder.write("run/a.log", dionLines(0, 3));
    auto session = session::Session::open(m_folder / "s.nanscope", session::OpenMode::create);
    auto other = session::Session::open(m_folder / "s.nanscope", session::OpenMode::readWrite);
    ASSERT_TRUE(session && other);
    bool meanwhile = false;
    JobContext job;
    job.progress = [&](const Progress& progress) {
        if (!meanwhile && progress.phase == "logs") {
            meanwhile = true;
            EXPECT_TRUE(ingest::importRun(m_folder / "run", *other));
        }
    };
    const auto run = ingest::importRun(m_folder / "run", *session, job);
    ASSERT_TRUE(run && meanwhile);
    ASSERT_EQ(run->rejected.size(), 1U);
    EXPECT_THAT(run->rejected[0].reason, testing::HasSubstr("another program is importing this log"));
    EXPECT_TRUE(session->summary()->rejected.empty()) << "it was read, by the other one";
    EXPECT_EQ(session->summary()->series.at(0).pointCount, 3);
}

TEST_F(Import, readsLogsIntoTheSession)
{
    m_folder.write("run/console.log", dionLines(0, 5));
    m_folder.write("run/m.jsonl", "{\"step\":1,\"loss\":NaN}\n");
    m_folder.write("run/utf16.log",
        std::string("\xff\xfe"
                    "a\0",
            4));
    const auto run = import();
    EXPECT_EQ(run.name, "run");
    ASSERT_EQ(run.series.size(), 3U);
    EXPECT_EQ(run.series[2].source, "m.jsonl");
    EXPECT_EQ(run.series[2].nan, 1);
    ASSERT_EQ(run.rejected.size(), 1U);
    EXPECT_EQ(run.rejected[0].path, "utf16.log");
    EXPECT_EQ(m_session->load()->series[0].points.size(), 5U);
}

TEST_F(Import, secondImportAddsOnlyWhatIsNew)
{
    m_folder.write("run/console.log", dionLines(0, 500));
    import();
    import();
    EXPECT_EQ(m_session->summary()->series.at(0).pointCount, 500);
    m_folder.write("run/console.log", dionLines(500, 800) + "Step 800: train_lo", true);
    import();
    m_folder.write("run/console.log", "ss=1.5000, grad_norm=0.2500\n", true);
    import();
    const auto run = m_session->load();
    ASSERT_EQ(run->series.size(), 2U);
    ASSERT_EQ(run->series[0].points.size(), 801U);
    for (int step = 0; step <= 800; ++step) {
        EXPECT_EQ(run->series[0].points[static_cast<std::size_t>(step)].step, step);
        EXPECT_EQ(run->series[0].points[static_cast<std::size_t>(step)].line, step + 1);
    }
}

TEST_F(Import, segmentsGoOnAcrossImports)
{
    m_folder.write("run/console.log", dionLines(0, 10));
    import();
    m_folder.write("run/console.log", dionLines(10, 12) + dionLines(8, 9), true);
    import();
    m_folder.write("run/console.log", dionLines(9, 20), true);
    const auto run = import();
    ASSERT_EQ(run.series.size(), 4U);
    EXPECT_EQ(run.series[0].lastStep, 11);
    EXPECT_EQ(run.series[2].segment, 1);
    EXPECT_EQ(run.series[2].firstStep, 8);
    EXPECT_EQ(run.series[2].lastStep, 19);
}

TEST_F(Import, replacedOrCutLogIsReadAnew)
{
    m_folder.write("run/console.log", dionLines(0, 300));
    import();
    m_folder.write("run/console.log", dionLines(0, 3));
    EXPECT_EQ(import().series.at(0).pointCount, 3);
    m_folder.write("run/console.log", dionLines(7, 9) + dionLines(20, 500));
    const auto run = import();
    EXPECT_EQ(run.series.at(0).firstStep, 7);
    EXPECT_EQ(run.series.at(0).pointCount, 482);
}

TEST_F(Import, logRewrittenAtItsStartIsReadAnew)
{
    auto text = dionLines(0, 300);
    m_folder.write("run/console.log", text);
    import();
    text.replace(text.find("1.5000"), 6, "9.5000");
    m_folder.write("run/console.log", text + dionLines(300, 301));
    const auto run = m_session->load();
    EXPECT_EQ(run->series.at(0).points.at(0).value, 1.5);
    import();
    const auto anew = m_session->load();
    EXPECT_EQ(anew->series.at(0).points.at(0).value, 9.5);
    EXPECT_EQ(anew->series.at(0).pointCount, 301);
}

TEST_F(Import, largeLogIsStoredInPieces)
{
    m_folder.write("run/console.log", dionLines(0, 120'000));
    const auto run = import();
    EXPECT_EQ(run.series.at(0).pointCount, 120'000);
    EXPECT_EQ(run.series.at(0).lastStep, 119'999);
    EXPECT_EQ(run.series.size(), 2U);
}

TEST_F(Import, cancelledImportKeepsWhatItHasAndGoesOnLater)
{
    m_folder.write("run/console.log", dionLines(0, 400'000));
    JobContext job;
    std::vector<std::string> phases;
    job.progress = [&](const Progress& progress) {
        phases.push_back(progress.phase);
        if (progress.phase == "logs") {
            job.cancel.cancel();
        }
    };
    const auto cancelled = ingest::importRun(m_folder / "run", *m_session, job);
    ASSERT_FALSE(cancelled);
    EXPECT_EQ(cancelled.error().kind, ErrorKind::cancelled);
    EXPECT_THAT(phases, testing::Contains("logs"));
    const auto kept = m_session->summary()->series.at(0).pointCount;
    EXPECT_GT(kept, 0);
    EXPECT_LT(kept, 400'000);
    EXPECT_EQ(import().series.at(0).pointCount, 400'000);
    EXPECT_EQ(m_session->load()->series.at(0).points.back().line, 400'000);
}

TEST_F(Import, cancelledImportOfSmallLogsKeepsThoseThatWait)
{
    constexpr int logs = 300;
    for (int i = 0; i < logs; ++i) {
        m_folder.write("run/rank_" + std::to_string(i) + ".log", dionLines(0, 2));
    }
    JobContext job;
    job.progress = [&](const Progress& progress) {
        if (progress.phase == "logs") {
            job.cancel.cancel();
        }
    };
    ASSERT_FALSE(ingest::importRun(m_folder / "run", *m_session, job));
    const auto kept = m_session->summary();
    ASSERT_FALSE(kept->series.empty());
    EXPECT_LT(kept->series.size(), std::size_t {logs});
    const auto run = import();
    EXPECT_EQ(run.series.size(), std::size_t {2 * logs});
    for (const auto& series : run.series) {
        EXPECT_EQ(series.pointCount, 2);
    }
}

TEST_F(Import, capturesAreScannedOnceAndBadOnesRejected)
{
    writeCapture(m_folder / "run/one.pt", 1);
    writeCapture(m_folder / "run/two.pt", std::numeric_limits<float>::quiet_NaN());
    m_folder.write("run/broken.pt", "PK\x03\x04 and nothing more");
    ASSERT_TRUE(tensorfile::writePt(m_folder / "run/model.pt",
        {{"wte.weight", smallMatrix("wte.weight", 1)}, {"lm_head", smallMatrix("lm_head", 2)}}));
    auto run = import();
    ASSERT_EQ(run.captures.size(), 2U);
    EXPECT_EQ(run.captures[0].file, "one.pt");
    EXPECT_EQ(run.captures[1].input.batches.at(0).nan, 6);
    EXPECT_GT(run.captures[0].id, 0);
    ASSERT_EQ(run.rejected.size(), 1U);
    EXPECT_EQ(run.rejected[0].path, "broken.pt");

    std::filesystem::create_directories(m_folder / "run/moved");
    std::filesystem::rename(m_folder / "run/one.pt", m_folder / "run/moved/one.pt");
    run = import();
    ASSERT_EQ(run.captures.size(), 2U);
    EXPECT_THAT(run.captures[0].path, HasSubstr("moved"));

    const auto direct = ingest::readRun(m_folder / "run");
    ASSERT_TRUE(direct);
    EXPECT_EQ(direct->captures.size(), 2U);
    EXPECT_EQ(direct->rejected.size(), 1U);
}

TEST_F(Import, valueWrittenAfterTheImportLookedIsNotLost)
{
    m_folder.write("run/a.log", dionLines(0, 3) + "Step 3: train_loss=1.0000");
    EXPECT_EQ(import().series.at(0).pointCount, 3);
    m_folder.write("run/a.log", dionLines(0, 3) + "Step 3: train_loss=1.0000, grad_norm=2.0000");
    EXPECT_EQ(import().series.at(1).pointCount, 3);
    // Nobody writes to it any more: what stands there without an end is all there will be.
    const auto longAgo = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
    std::filesystem::last_write_time(m_folder / "run/a.log", longAgo);
    const auto run = import();
    ASSERT_EQ(run.series.size(), 2U);
    EXPECT_EQ(run.series[0].pointCount, 4);
    EXPECT_EQ(run.series[1].pointCount, 4);
}

TEST_F(Import, manyCapturesArriveInTheOrderOfTheirNames)
{
    std::vector<std::string> expected;
    for (int i = 0; i < 700; ++i) {
        const auto name = "c" + std::to_string(1000 + i) + ".pt";
        writeCapture(m_folder / "run" / name, static_cast<float>(i));
        expected.push_back(name);
    }
    const auto run = import();
    ASSERT_EQ(run.captures.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(run.captures[i].file, expected[i]);
        EXPECT_EQ(run.captures[i].input.total().absmax, static_cast<double>(i));
    }
}

TEST_F(Import, onlyTheHeadersOfAKnownCaptureAreReadAgain)
{
    const auto path = m_folder / "run/a.pt";
    writeCapture(path, 3);
    EXPECT_EQ(import().captures.size(), 1U);
    // Bytes of a tensor turned over behind an unchanged directory: whoever scanned it would see the wrong checksum.
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    std::string contents(std::istreambuf_iterator<char>(file), {});
    const std::string three("\0\0\x40\x40\0\0\x40\x40", 8);
    file.seekp(static_cast<std::streamoff>(contents.find(three)));
    file.write("\1\1\1\1", 4);
    file.close();
    std::filesystem::rename(path, m_folder / "run/moved.pt");
    const auto again = import();
    ASSERT_EQ(again.captures.size(), 1U);
    EXPECT_THAT(again.rejected, IsEmpty());
    EXPECT_EQ(again.captures[0].file, "moved.pt");
    EXPECT_EQ(again.captures[0].input.total().absmax, 3);
    session::Session::open(m_folder / "fresh.nanscope", session::OpenMode::create).map([&](session::Session fresh) {
        EXPECT_THAT(ingest::importRun(m_folder / "run", fresh)->rejected, testing::SizeIs(1));
    });
}

TEST_F(Import, aLogBegunAnewKeepsWhatItGaveBefore)
{
    m_folder.write("run/logs/train.log", dionLines(0, 50) + "NVRM: Xid 79\n");
    import();
    m_folder.write("run/logs/train.log", dionLines(100, 103));
    const auto run = import();
    ASSERT_EQ(run.series.size(), 2U);
    EXPECT_EQ(run.series[0].source, "logs/train.log");
    EXPECT_EQ(run.series[0].pointCount, 3);
    EXPECT_THAT(run.events, IsEmpty());
    ASSERT_EQ(run.replaced.size(), 1U);
    EXPECT_EQ(run.replaced[0].source, "logs/(replaced) train.log");
    EXPECT_EQ(run.replaced[0].path, "logs/train.log");
    EXPECT_EQ(pointsOf(run.replaced[0].records), 100);
    EXPECT_EQ(run.replaced[0].records.events.size(), 1U);
    EXPECT_EQ(m_session->load()->replaced[0].records.series[0].points.size(), 50U);
    EXPECT_THAT(run.rejected, IsEmpty());
    ASSERT_EQ(run.notes.size(), 1U);
    EXPECT_EQ(run.notes[0].path, "logs/train.log");
    EXPECT_EQ(run.notes[0].reason,
        "the log was begun anew; what was imported of it before is kept as logs/(replaced) train.log (100 points)");
    EXPECT_THAT(import().notes, IsEmpty()) << "said once";
    m_folder.write("run/logs/train.log", dionLines(200, 202));
    const auto third = import();
    ASSERT_EQ(third.replaced.size(), 2U);
    EXPECT_EQ(third.replaced[1].source, "logs/(replaced 2) train.log");
    EXPECT_EQ(pointsOf(third.replaced[1].records), 6);
}

TEST_F(Import, anEmptiedLogTellsWhatItToldUntilItHoldsSomethingElse)
{
    m_folder.write("run/train.log", dionLines(0, 5));
    import();
    m_folder.write("run/train.log", "");
    EXPECT_EQ(import().series.at(0).pointCount, 5);
    m_folder.write("run/train.log", "no value yet\n");
    EXPECT_EQ(import().series.at(0).pointCount, 5);
    m_folder.write("run/train.log", dionLines(7, 8));
    const auto run = import();
    EXPECT_EQ(run.series.at(0).firstStep, 7);
    EXPECT_EQ(pointsOf(run.replaced.at(0).records), 10);
}

TEST_F(Import, aRotatedLogIsTheSameUnderItsNewName)
{
    const auto rotate = [this](int first, bool copy) {
        std::filesystem::remove(m_folder / "run/train.log.2");
        if (std::filesystem::exists(m_folder / "run/train.log.1")) {
            std::filesystem::rename(m_folder / "run/train.log.1", m_folder / "run/train.log.2");
        }
        if (copy) {
            std::filesystem::copy_file(m_folder / "run/train.log", m_folder / "run/train.log.1");
        } else {
            std::filesystem::rename(m_folder / "run/train.log", m_folder / "run/train.log.1");
        }
        m_folder.write("run/train.log", dionLines(first, first + 10));
        return import();
    };
    m_folder.write("run/train.log", dionLines(0, 10));
    import();
    for (const bool copy : {false, true}) {
        const int first = copy ? 20 : 10;
        m_folder.write("run/train.log", "Step " + std::to_string(first - 1) + ": train_loss=2.0000\n", true);
        const auto run = rotate(first, copy);
        EXPECT_THAT(run.replaced, IsEmpty());
        EXPECT_THAT(run.notes, IsEmpty());
        std::map<std::string, std::int64_t> firstSteps;
        for (const auto& series : run.series) {
            firstSteps.emplace(series.source, series.firstStep);
        }
        std::map<std::string, std::int64_t> expected {{"train.log", first}, {"train.log.1", first - 10}};
        if (copy) {
            expected.emplace("train.log.2", 0);
        }
        EXPECT_EQ(firstSteps, expected);
        EXPECT_EQ(pointsOf(run), copy ? 62 : 41) << "with the line that was appended before each rotation";
    }
}

TEST_F(Import, aLogThatIsWrittenAnewWithAllItHeldReplacesNothing)
{
    m_folder.write("run/m.csv", "step,loss\n0,1.5\n1,2.5\n");
    import();
    // As loggers do that meet another column.
    m_folder.write("run/m.csv", "step,loss,lr\n0,1.5,1\n1,2.5,1\n2,3.5,1\n");
    const auto run = import();
    EXPECT_THAT(run.replaced, IsEmpty());
    EXPECT_THAT(run.notes, IsEmpty());
    EXPECT_EQ(run.series.at(0).pointCount, 3);
    m_folder.write("run/m.csv", "step,loss,lr\n0,1.5,1\n");
    EXPECT_EQ(import().replaced.size(), 1U) << "seen while it was written anew";
    m_folder.write("run/m.csv", "1,2.5,1\n2,3.5,1\n", true);
    EXPECT_THAT(import().replaced, IsEmpty()) << "and when that was done";
}

TEST_F(Import, aCopyOfALogIsTheCopyWhateverItIsCalled)
{
    m_folder.write("run/train.log", dionLines(0, 5));
    import();
    m_folder.write("run/a.log", dionLines(0, 5));
    const auto run = import();
    ASSERT_EQ(run.series.size(), 2U);
    EXPECT_EQ(run.series[0].source, "train.log");
    ASSERT_EQ(run.notes.size(), 1U);
    EXPECT_EQ(run.notes[0].path, "a.log");
    std::filesystem::remove(m_folder / "run/train.log");
    const auto left = import();
    ASSERT_EQ(left.series.size(), 2U);
    EXPECT_EQ(left.series[0].source, "a.log") << "the only file that holds it";
    EXPECT_EQ(left.series[0].pointCount, 5);
}

TEST_F(Import, aFileThatIsCalledLikeAReplacedLogIsAnother)
{
    m_folder.write("run/(replaced) a.log", dionLines(0, 2));
    m_folder.write("run/a.log", dionLines(10, 14));
    import();
    m_folder.write("run/a.log", dionLines(20, 21));
    const auto run = import();
    ASSERT_EQ(run.series.size(), 4U);
    EXPECT_EQ(run.series[0].source, "./(replaced) a.log");
    EXPECT_EQ(run.series[0].pointCount, 2);
    ASSERT_EQ(run.replaced.size(), 1U);
    EXPECT_EQ(run.replaced[0].source, "(replaced) a.log");
    EXPECT_EQ(pointsOf(run.replaced[0].records), 8);
}

TEST_F(Import, aLogWhoseFileIsThereIsNotTakenForARenamedOne)
{
    const auto a = m_folder.write("run/a.log", dionLines(0, 5));
    const auto b = m_folder.write("run/b.log", dionLines(0, 9));
    ASSERT_TRUE(ingest::importRun(a, *m_session));
    const auto run = ingest::importRun(b, *m_session);
    ASSERT_TRUE(run) << sentence(run.error());
    std::map<std::string, std::int64_t> losses;
    for (const auto& series : run->series) {
        losses[series.source] += series.name == "loss" ? series.pointCount : 0;
    }
    EXPECT_THAT(losses, ElementsAre(std::pair("a.log", 5), std::pair("b.log", 9)));
}

TEST_F(Import, whatACancelledImportReplacedIsSettledByTheNext)
{
    m_folder.write("run/train.log", dionLines(0, 5));
    import();
    m_folder.write("run/train.log", "# another beginning\n" + dionLines(0, 9));
    m_folder.write("run/z.log", dionLines(0, 3));
    JobContext job;
    job.progress = [&](const Progress& progress) {
        if (progress.message.find("train.log") != std::string::npos) {
            job.cancel.cancel();
        }
    };
    EXPECT_FALSE(ingest::importRun(m_folder / "run", *m_session, job));
    const auto run = import();
    EXPECT_THAT(run.replaced, IsEmpty()) << "the new one has all that the old one told";
    EXPECT_THAT(run.notes, IsEmpty());
    EXPECT_EQ(run.series.size(), 4U);
}

TEST_F(Import, ofEqualCapturesTheFirstKeepsItsNameAndPlace)
{
    writeCapture(m_folder / "run/rank0.pt", 1);
    import();
    std::filesystem::copy_file(m_folder / "run/rank0.pt", m_folder / "run/copy.pt");
    std::filesystem::copy_file(m_folder / "run/rank0.pt", m_folder / "run/zcopy.pt");
    for (const auto& run : {import(), ingest::readRun(m_folder / "run").value()}) {
        ASSERT_EQ(run.captures.size(), 1U);
        EXPECT_THAT(run.rejected, IsEmpty());
        EXPECT_EQ(run.notes.size(), 2U);
    }
    const auto run = import();
    EXPECT_EQ(run.captures[0].file, "rank0.pt");
    EXPECT_EQ(run.notes[0].path, "copy.pt");
    EXPECT_EQ(run.notes[0].reason, "the same capture as rank0.pt");
    EXPECT_EQ(ingest::readRun(m_folder / "run")->captures[0].file, "copy.pt") << "nobody knows which was the first";

    auto fresh = session::Session::open(m_folder / "fresh.nanscope", session::OpenMode::create);
    EXPECT_EQ(ingest::importRun(m_folder / "run", *fresh)->captures.at(0).file, "copy.pt") << "as without a session";

    std::filesystem::remove(m_folder / "run/rank0.pt");
    EXPECT_EQ(import().captures.at(0).file, "copy.pt") << "the first that is left";
    writeCapture(m_folder / "run/copy.pt", 2);
    const auto over = import();
    ASSERT_EQ(over.captures.size(), 2U);
    EXPECT_EQ(over.captures[0].file, "zcopy.pt");
    EXPECT_EQ(over.captures[1].file, "copy.pt");
}

/// One matrix of fp32 as numpy writes it.
std::string npy(const std::vector<float>& values, int rows)
{
    auto header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(rows) + ", "
        + std::to_string(static_cast<int>(values.size()) / rows) + "), }";
    header.resize(117, ' ');
    return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + "\n"
        + std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
}

TEST_F(Import, twoFilesOfOneCallAreOneCapture)
{
    m_folder.write("run/X_step7.npy", npy({1, 2, 3, 4}, 2));
    m_folder.write("run/Y_step7.npy", npy({1, 2, std::numeric_limits<float>::quiet_NaN(), 4}, 2));
    const auto run = import();
    ASSERT_EQ(run.captures.size(), 1U);
    EXPECT_EQ(run.captures[0].file, "X_step7.npy");
    EXPECT_EQ(run.captures[0].step, 7);
    EXPECT_EQ(run.captures[0].output->total().nan, 1);
    ASSERT_EQ(run.notes.size(), 1U);
    EXPECT_EQ(run.notes[0].path, "Y_step7.npy");
    EXPECT_EQ(run.notes[0].reason, "read as the output of X_step7.npy");
    EXPECT_EQ(ingest::readRun(m_folder / "run/Y_step7.npy")->captures.at(0).file, "X_step7.npy") << "named alone";
}

TEST_F(Import, aBundleIsOneCaptureAndNoLog)
{
    for (const auto* text : {"report.json", "report.html", "README.txt", "expected.json"}) {
        m_folder.write(std::string("run/") + text, "{\"step\": 1, \"loss\": 2}\n");
    }
    writeCapture(m_folder / "run/capture_min.pt", 1);
    writeCapture(m_folder / "run/capture_whole.pt", 2);
    writeCapture(m_folder / "run/dump.pt", 3);
    const auto files = [this] {
        const auto run = ingest::readRun(m_folder / "run");
        EXPECT_TRUE(run->series.empty() && run->rejected.empty());
        std::vector<std::string> names;
        for (const auto& capture : run->captures) {
            names.push_back(capture.file);
        }
        return names;
    };
    EXPECT_THAT(files(), ElementsAre("dump.pt"));
    std::filesystem::remove(m_folder / "run/dump.pt");
    EXPECT_THAT(files(), ElementsAre("capture_whole.pt")) << "the most that there is";
    std::filesystem::remove(m_folder / "run/report.html");
    EXPECT_EQ(ingest::readRun(m_folder / "run")->captures.size(), 2U) << "no bundle";
}

TEST_F(Import, aBundleInTheRunThatItIsAboutIsNoCaptureOfIt)
{
    for (const auto* text : {"repro.py", "expected.json", "report.html", "README.txt"}) {
        m_folder.write(std::string("run/bundle/") + text, "{\"step\": 1, \"loss\": 2}\n");
    }
    writeCapture(m_folder / "run/bundle/capture_min.pt", 1);
    EXPECT_EQ(ingest::readRun(m_folder / "run")->captures.size(), 1U) << "all that there is";
    EXPECT_EQ(ingest::readRun(m_folder / "run/bundle")->captures.size(), 1U);
    writeCapture(m_folder / "run/a.pt", 2);
    const auto run = ingest::readRun(m_folder / "run");
    ASSERT_EQ(run->captures.size(), 1U);
    EXPECT_EQ(run->captures.front().file, "a.pt");
    writeCapture(m_folder / "run/bundle/own.pt", 3);
    m_folder.write("run/bundle/train.log", dionLines(0, 5));
    const auto more = ingest::readRun(m_folder / "run");
    EXPECT_EQ(more->captures.size(), 2U) << "what a user put there";
    EXPECT_FALSE(more->series.empty());
}

TEST_F(Import, aSessionStaysWithItsFolder)
{
    m_folder.write("run/train.log", dionLines(0, 5));
    writeCapture(m_folder / "run/a.pt", 1);
    import();
    m_folder.write("other/train.log", dionLines(7, 9));
    const auto other = ingest::importRun(m_folder / "other", *m_session);
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().kind, ErrorKind::refused);
    EXPECT_THAT(other.error().what, HasSubstr((m_folder / "run").string()));
    EXPECT_EQ(other.error().path, (m_folder / "other").string());
    EXPECT_EQ(m_session->summary()->root, (m_folder / "run").string());
    std::filesystem::copy(m_folder / "run", m_folder / "twin", std::filesystem::copy_options::recursive);
    EXPECT_FALSE(ingest::importRun(m_folder / "twin", *m_session)) << "a copy is not the run while that is there";

    std::filesystem::rename(m_folder / "run", m_folder / "moved");
    m_folder.write("run/train.log", dionLines(100, 101));
    const auto moved = ingest::importRun(m_folder / "moved", *m_session);
    ASSERT_TRUE(moved) << sentence(moved.error());
    EXPECT_EQ(moved->root, (m_folder / "moved").string());
    EXPECT_EQ(moved->captures.size(), 1U);
    EXPECT_EQ(moved->series.size(), 2U);
    EXPECT_THAT(moved->replaced, IsEmpty());
}

TEST(SharedRun, ddpTileIsReadWhole)
{
    const std::filesystem::path path = std::string(NANSCOPE_SHARED_DATA) + "/runs/ddp-tile";
    if (!std::filesystem::exists(path)) {
        GTEST_SKIP() << "the folder of real runs is not here";
    }
    const auto run = ingest::readRun(path);
    ASSERT_TRUE(run) << sentence(run.error());
    EXPECT_EQ(run->captures.size(), 25U);
    EXPECT_THAT(run->rejected, IsEmpty());
    for (const int rank : {0, 1}) {
        for (const auto* name : {"loss", "grad_norm"}) {
            int found = 0;
            for (const auto& series : run->series) {
                if (series.rank == rank && series.name == name) {
                    ++found;
                    EXPECT_EQ(series.points.size(), 12U);
                    EXPECT_EQ(series.firstStep, 0);
                    EXPECT_EQ(series.lastStep, 11);
                    EXPECT_EQ(series.nan, 6);
                }
            }
            EXPECT_EQ(found, 2) << "the console and torchrun's own file";
        }
    }
    int inConsole = 0;
    for (const auto& event : run->events) {
        inConsole += event.kind == EventKind::captureDumped && event.source == "console.log" ? 1 : 0;
    }
    EXPECT_EQ(inConsole, 25);
    EXPECT_EQ(run->events.size(), 50U);
}

TEST(SharedRun, ddpRaiseTellsTheRaiseFromItsConsequences)
{
    const std::filesystem::path path = std::string(NANSCOPE_SHARED_DATA) + "/runs/ddp-raise/console.log";
    if (!std::filesystem::exists(path)) {
        GTEST_SKIP() << "the folder of real runs is not here";
    }
    const auto log = ingest::readLog(path, "console.log");
    ASSERT_TRUE(log);
    ASSERT_GE(log->events.size(), 3U);
    EXPECT_EQ(log->events[0].kind, EventKind::captureDumped);
    EXPECT_EQ(log->events[0].rank, 1);
    EXPECT_EQ(log->events[1].kind, EventKind::traceback);
    EXPECT_EQ(log->events[2].kind, EventKind::collective);
    EXPECT_EQ(log->events[2].rank, 0);
}

TEST_F(Import, aLongLogReadWithoutASessionIsJoinedOfItsPieces)
{
    constexpr int steps = 1'100'000; // two values each: more than one piece
    std::string text = "step,loss,lr\n";
    for (int step = 1; step <= steps; ++step) {
        text += std::to_string(step) + (step == steps - 1 ? ",nan,2\n" : ",1,2\n");
    }
    m_folder.write("run/train.csv", text);
    int pieces = 0;
    std::size_t most = 0;
    const auto run = ingest::readRun(m_folder / "run", {}, {}, [&](RunData& read) {
        ++pieces;
        for (auto& series : read.series) {
            most = std::max(most, series.points.size());
            series.points = {};
        }
    });
    ASSERT_TRUE(run);
    EXPECT_GT(pieces, 1);
    EXPECT_LT(most, static_cast<std::size_t>(steps)) << "what was dropped is not held";
    ASSERT_EQ(run->series.size(), 2U);
    EXPECT_EQ(run->series[0].pointCount, steps);
    EXPECT_EQ(run->series[0].nan, 1);
    EXPECT_EQ(run->series[0].firstStep, 1);
    EXPECT_EQ(run->series[0].lastStep, steps);
    EXPECT_EQ(run->series[1].pointCount, steps);
}
