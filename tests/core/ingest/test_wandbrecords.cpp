// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// W&B's files that span blocks, are damaged, cut off or still being written.
#include <chrono>
#include <filesystem>

#include <gmock/gmock.h>

#include "core/session/session.h"
#include "logfolder.h"
#include "wandbwriter.h"

using namespace nanscope;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

constexpr auto wandbRecordsName = "run.wandb";

std::string lossAt(std::int64_t step)
{
    return wandb::row({{"loss", std::to_string(step) + ".5"}, {"step", std::to_string(step)}});
}

class WandbRecords : public LogFolder
{
protected:
    std::vector<std::int64_t> stepsOf(const std::string& bytes)
    {
        return steps(find(read(wandbRecordsName, bytes), "loss"));
    }

    /// The only event.
    static std::string said(const ingest::LogContents& log)
    {
        EXPECT_EQ(log.events.size(), 1U);
        return log.events.empty() ? std::string() : log.events[0].text;
    }

    Result<RunData> import(session::Session& session, const std::string& bytes, bool atRest)
    {
        const auto path = m_folder.write(wandbRecordsName, bytes);
        if (atRest) {
            std::filesystem::last_write_time(
                path, std::filesystem::file_time_type::clock::now() - std::chrono::minutes(1));
        }
        return ingest::importRun(path, session);
    }

    Result<session::Session> session()
    {
        return session::Session::open(m_folder.path() / "s.nanscope", session::OpenMode::create);
    }
};

} // namespace

TEST_F(WandbRecords, anyRoomAtTheEndOfABlock)
{
    for (std::size_t room = 0; room < 40; ++room) {
        wandb::File file;
        file.add(lossAt(1));
        const auto empty = wandb::printed("").size();
        // Lengths take one to three bytes in a message: the room that is left is set by trying.
        std::string filler;
        for (std::size_t size = file.left() - empty - wandb::File::header - room - 20;; ++size) {
            filler = wandb::printed(std::string(size, 'x'));
            if (filler.size() + wandb::File::header + room >= file.left()) {
                break;
            }
        }
        file.add(filler);
        ASSERT_EQ(file.left() % wandb::File::block, room % wandb::File::block);
        file.add(lossAt(2)).add(lossAt(3));
        const auto log = read(wandbRecordsName, file.bytes());
        EXPECT_THAT(steps(find(log, "loss")), ElementsAre(1, 2, 3)) << room;
        EXPECT_THAT(log.events, IsEmpty()) << room;
    }
}

TEST_F(WandbRecords, aRecordOverManyBlocks)
{
    const auto file =
        wandb::File()
            .add(lossAt(1))
            .add(wandb::row({{"note", '"' + std::string(150'000, 'x') + '"'}, {"loss", "NaN"}, {"step", "2"}}))
            .add(lossAt(3));
    const auto log = read(wandbRecordsName, file.bytes());
    EXPECT_THAT(states(find(log, "loss")), ElementsAre(PointState::finite, PointState::nan, PointState::finite));
    EXPECT_THAT(log.events, IsEmpty());
}

TEST_F(WandbRecords, manyBlocksOfRows)
{
    wandb::File file;
    for (int i = 0; i < 5000; ++i) {
        file.add(lossAt(i));
    }
    ASSERT_GT(file.size(), 5 * wandb::File::block);
    const auto loss = find(read(wandbRecordsName, file.bytes()), "loss");
    ASSERT_EQ(loss.points.size(), 5000U);
    for (int i = 0; i < 5000; ++i) {
        ASSERT_EQ(loss.points[static_cast<std::size_t>(i)].step, i);
        ASSERT_EQ(loss.points[static_cast<std::size_t>(i)].value, i + 0.5);
    }
}

TEST_F(WandbRecords, aWrongChecksumCostsOnlyItsRecordAndIsNamed)
{
    wandb::File file;
    const auto begin = file.add(lossAt(1)).size();
    const auto end = file.add(lossAt(2)).size();
    auto bytes = file.add(lossAt(3)).bytes();
    bytes[begin + 9] ^= 1;
    const auto log = read(wandbRecordsName, bytes);
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(1, 3));
    EXPECT_EQ(said(log),
        "bytes " + std::to_string(begin) + " to " + std::to_string(end)
            + " of the file were left out: a wrong checksum");
}

TEST_F(WandbRecords, noWrongByteMakesAValueUpOrGoesUnsaid)
{
    wandb::File file;
    const auto begin = file.size();
    const auto& whole = file.add(lossAt(1)).add(lossAt(2)).add(lossAt(3)).add(lossAt(4)).bytes();
    for (auto at = begin; at < whole.size(); ++at) {
        for (const int bit : {0, 4, 7}) {
            auto bytes = whole;
            bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
            const auto log = read(wandbRecordsName, bytes);
            for (const auto& series : log.series) {
                ASSERT_EQ(series.name, "loss") << at;
                ASSERT_LE(series.points.size(), 3U) << at;
                for (const auto& point : series.points) {
                    ASSERT_EQ(point.value, static_cast<double>(point.step) + 0.5) << at;
                }
            }
            ASSERT_EQ(log.events.size(), 1U) << at;
        }
    }
}

TEST_F(WandbRecords, aWrongLengthCostsTheRestOfItsBlock)
{
    wandb::File file;
    const auto begin = file.add(lossAt(1)).size();
    int step = 2;
    while (file.left() < wandb::File::block && file.size() < wandb::File::block) {
        file.add(lossAt(step++));
    }
    file.add(lossAt(9000));
    for (const char wrong : {'\x01', '\x7f'}) {
        auto bytes = file.bytes();
        bytes[begin + 5] = wrong; // 256 bytes and more
        const auto log = read(wandbRecordsName, bytes);
        const auto found = steps(find(log, "loss"));
        ASSERT_THAT(found, testing::SizeIs(testing::Ge(2U)));
        EXPECT_EQ(found.front(), 1);
        EXPECT_EQ(found.back(), 9000) << "the next block is read again";
        EXPECT_THAT(said(log), HasSubstr("bytes " + std::to_string(begin) + " to 32768 "));
    }
}

TEST_F(WandbRecords, garbageOverSeveralBlocksIsNamedOnce)
{
    wandb::File file;
    const auto begin = file.add(lossAt(1)).size();
    file.add(wandb::printed(std::string(100'000, 'x'))).add(lossAt(2));
    auto bytes = file.bytes();
    for (std::size_t i = begin; i < 98'304; ++i) {
        bytes[i] = static_cast<char>(i * 2654435761U >> 13);
    }
    const auto log = read(wandbRecordsName, bytes);
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(1, 2));
    EXPECT_THAT(said(log), HasSubstr("bytes " + std::to_string(begin) + " to 98304 "));
}

TEST_F(WandbRecords, aHoleOfZerosIsNamed)
{
    wandb::File file;
    const auto begin = file.add(lossAt(1)).size();
    file.add(wandb::printed(std::string(40'000, 'x'))).add(lossAt(2));
    auto bytes = file.bytes();
    std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(begin), bytes.begin() + 32'768, '\0');
    const auto log = read(wandbRecordsName, bytes);
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(1, 2));
    EXPECT_THAT(said(log), HasSubstr("bytes " + std::to_string(begin) + " to 32768 of the file were left out: zeros"));
}

TEST_F(WandbRecords, partsOfARecordAloneAreNamed)
{
    const auto first = read(wandbRecordsName, wandb::File().add(lossAt(1)).chunk(2, "abc").add(lossAt(2)).bytes());
    EXPECT_THAT(steps(find(first, "loss")), ElementsAre(1, 2));
    EXPECT_THAT(said(first), HasSubstr("a record without its end"));
    const auto middle = read(wandbRecordsName, wandb::File().add(lossAt(1)).chunk(3, "abc").add(lossAt(2)).bytes());
    EXPECT_THAT(steps(find(middle, "loss")), ElementsAre(1, 2));
    EXPECT_THAT(said(middle), HasSubstr("a record without its beginning"));
    const auto unknown = read(wandbRecordsName, wandb::File().add(lossAt(1)).chunk(9, "abc").add(lossAt(2)).bytes());
    EXPECT_THAT(steps(find(unknown, "loss")), ElementsAre(1, 2));
    EXPECT_THAT(said(unknown), HasSubstr("were left out"));
}

TEST_F(WandbRecords, whatIsNoMessageIsLeftOut)
{
    const auto log =
        read(wandbRecordsName, wandb::File().add(lossAt(1)).add("\x12\xff\xff\xff").add(lossAt(2)).bytes());
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(1, 2));
    EXPECT_THAT(said(log), HasSubstr("none of W&B's"));
}

TEST_F(WandbRecords, aRecordWithoutEndTakesNoMoreMemory)
{
    wandb::File file;
    file.add(lossAt(1)).add(wandb::printed(std::string(17 << 20, 'x'))).add(lossAt(2));
    const auto log = read(wandbRecordsName, file.bytes());
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(1, 2));
    EXPECT_THAT(said(log), HasSubstr("more than 16 MiB"));
}

TEST_F(WandbRecords, aTornTailIsNamedAtRestAtAnyCut)
{
    wandb::File file;
    const auto one = file.add(lossAt(1)).size();
    const auto whole = file.add(lossAt(2)).bytes();
    for (auto cut = one + 1; cut < whole.size(); ++cut) {
        const auto log = read(wandbRecordsName, whole.substr(0, cut));
        EXPECT_THAT(steps(find(log, "loss")), ElementsAre(1)) << cut;
        EXPECT_EQ(
            said(log), "the file ends inside a record, at byte " + std::to_string(one) + "; what came before was read");
    }
    EXPECT_THAT(read(wandbRecordsName, whole.substr(0, one)).events, IsEmpty());
}

TEST_F(WandbRecords, aLiveFileIsReadOnAtAnyCutAndNothingTwice)
{
    wandb::File file;
    file.add(lossAt(1)).add(wandb::printed("NVRM: Xid (PCI:0000:3b:00): 79, GPU")).add(lossAt(2));
    file.add(wandb::printed(" has fallen off the bus.\n")).add(wandb::config({{"lr", "0.5"}})).add(lossAt(3));
    file.add(lossAt(3));
    const auto& whole = file.bytes();
    for (std::size_t cut = 0; cut <= whole.size(); cut += 19) {
        for (const bool atRest : {false, true}) {
            std::filesystem::remove(m_folder.path() / "s.nanscope");
            auto opened = session();
            ASSERT_TRUE(opened);
            const auto before = import(*opened, whole.substr(0, cut), atRest);
            ASSERT_TRUE(before) << before.error().what;
            EXPECT_TRUE(atRest || before->events.size() <= 1) << "what is unfinished is no damage";
            const auto run = import(*opened, whole, false);
            ASSERT_TRUE(run) << run.error().what;
            ASSERT_EQ(run->series.size(), 1U) << cut;
            EXPECT_EQ(run->series[0].pointCount, 4) << cut;
            const auto points = opened->points(run->series[0].id);
            ASSERT_TRUE(points);
            EXPECT_EQ(points->back().line, 7) << cut;
            EXPECT_EQ(run->settings.size(), 1U) << cut;
            if (!atRest) {
                ASSERT_EQ(run->events.size(), 1U) << cut;
                EXPECT_THAT(run->events[0].text, HasSubstr("has fallen off the bus"));
            }
        }
    }
}

TEST_F(WandbRecords, damageIsSaidOnceHoweverOftenItIsImported)
{
    wandb::File file;
    const auto begin = file.add(lossAt(1)).size();
    auto bytes = file.add(lossAt(2)).bytes();
    bytes[begin + 9] ^= 1;
    auto opened = session();
    ASSERT_TRUE(opened);
    EXPECT_THAT(import(*opened, bytes, false)->events, IsEmpty()) << "the last record may not be all there";
    for (int again = 0; again < 3; ++again) {
        const auto rested = import(*opened, bytes, true);
        ASSERT_TRUE(rested);
        EXPECT_EQ(rested->events.size(), 1U);
        EXPECT_EQ(rested->series.at(0).pointCount, 1);
    }
}

TEST_F(WandbRecords, whatIsNoneIsRefused)
{
    for (const auto& [content, wanted] :
        {std::pair {std::string("version https://git-lfs.github.com/spec/v1\noid sha256:0\n"), "git lfs pull"},
            std::pair {std::string("garbage instead of a header"), "and is none"},
            std::pair {std::string(":W&B\xe1\xbf\0", 7) + "more", "and is none"},
            std::pair {std::string(":W&B\xe1\xbe\x03", 7) + "more", "version 3"}}) {
        const auto log = ingest::readLog(m_folder.write(wandbRecordsName, content), wandbRecordsName);
        ASSERT_FALSE(log) << content;
        EXPECT_THAT(log.error().what, HasSubstr(wanted));
    }
    for (const auto& begun : {std::string(), std::string(":W&"), wandb::File().bytes()}) {
        const auto log = read(wandbRecordsName, begun);
        EXPECT_THAT(log.series, IsEmpty());
        EXPECT_THAT(log.events, IsEmpty());
    }
}
