// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Event files made here byte by byte, with a checksum computed bit by bit: nothing of the reader is used to write them.
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

#include <gmock/gmock.h>
#include <protozero/pbf_writer.hpp>

#include "core/session/session.h"
#include "core/tensorfile/zip/checksum.h"
#include "logfolder.h"

using namespace nanscope;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

constexpr auto eventsName = "events.out.tfevents.1700000000.host.1.0";
constexpr float notANumber = std::numeric_limits<float>::quiet_NaN();
constexpr float infinite = std::numeric_limits<float>::infinity();

std::uint32_t slowCrc32c(std::string_view bytes)
{
    std::uint32_t crc = ~0U;
    for (const char byte : bytes) {
        crc ^= static_cast<unsigned char>(byte);
        for (int bit = 0; bit < 8; ++bit) {
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78U : 0);
        }
    }
    return ~crc;
}

template <class T>
std::string raw(T value)
{
    return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::string masked(std::string_view bytes)
{
    const auto crc = slowCrc32c(bytes);
    return raw<std::uint32_t>(((crc >> 15) | (crc << 17)) + 0xa282ead8U);
}

std::string recordOf(const std::string& message)
{
    const auto length = raw<std::uint64_t>(message.size());
    return length + masked(length) + message + masked(message);
}

std::string eventOf(std::int64_t step, const std::string& value)
{
    std::string summary;
    protozero::pbf_writer(summary).add_message(1, value);
    std::string event;
    protozero::pbf_writer writer(event);
    writer.add_double(1, 1.7e9 + static_cast<double>(step));
    if (step != 0) {
        writer.add_int64(2, step); // a step of 0 is left out, as protobuf has it
    }
    writer.add_message(5, summary);
    return recordOf(event);
}

std::string scalar(std::int64_t step, const std::string& tag, float number)
{
    std::string value;
    protozero::pbf_writer writer(value);
    writer.add_string(1, tag);
    writer.add_float(2, number);
    return eventOf(step, value);
}

/// As TensorFlow 2 writes a number: a tensor of one element, in its content or in its list.
std::string tensor(std::int64_t step, const std::string& tag, int type, const std::string& content, float listed = 0)
{
    std::string made;
    protozero::pbf_writer tensor(made);
    tensor.add_enum(1, type);
    if (content.empty()) {
        tensor.add_packed_float(5, &listed, &listed + 1);
    } else {
        tensor.add_bytes(4, content);
    }
    std::string value;
    protozero::pbf_writer writer(value);
    writer.add_string(1, tag);
    writer.add_message(8, made);
    return eventOf(step, value);
}

std::string version(double time = 1.7e9)
{
    std::string event;
    protozero::pbf_writer writer(event);
    writer.add_double(1, time);
    writer.add_string(3, "brain.Event:2");
    return recordOf(event);
}

using EventFiles = LogFolder;

} // namespace

TEST(Crc32c, agreesWithTheOneComputedBitByBit)
{
    const std::string_view check = "123456789";
    EXPECT_EQ(slowCrc32c(check), 0xe3069283U) << "the check value of the Castagnoli polynomial";
    const auto crc = tensorfile::crc32c(std::as_bytes(std::span(check)));
    if (!crc) {
        GTEST_SKIP() << "built without ISA-L";
    }
    EXPECT_EQ(*crc, 0xe3069283U);
}

TEST_F(EventFiles, scalarsWithTheirBits)
{
    const auto log = read(eventsName,
        version() + scalar(0, "loss_metrics/global_avg_loss", 11.75F) + scalar(0, "grad_norm", 8.7e16F)
            + scalar(10, "loss_metrics/global_avg_loss", notANumber) + scalar(10, "grad_norm", infinite)
            + scalar(20, "loss_metrics/global_avg_loss", -infinite));
    EXPECT_EQ(log.format, "tensorboard");
    const auto loss = find(log, "loss");
    EXPECT_THAT(steps(loss), ElementsAre(0, 10, 20));
    EXPECT_THAT(states(loss), ElementsAre(PointState::finite, PointState::nan, PointState::negInf));
    EXPECT_EQ(loss.points[0].value, 11.75);
    EXPECT_EQ(loss.points[1].line, 4) << "the record";
    EXPECT_EQ(find(log, "grad_norm").points[0].value, static_cast<double>(8.7e16F));
    EXPECT_EQ(log.lines, 6);
}

TEST_F(EventFiles, oneNumberOfATensorAndNothingElse)
{
    const auto log = read(eventsName,
        version() + tensor(1, "epoch_loss", 1, raw(5.5F)) + tensor(2, "epoch_loss", 1, {}, 4.5F)
            + tensor(3, "epoch_loss", 2, raw(3.25)) + tensor(1, "keras", 7, "{\"a\":") + tensor(1, "two", 1, raw(1.0)));
    ASSERT_EQ(log.series.size(), 1U) << "text and vectors are no series";
    EXPECT_THAT(values(find(log, "epoch_loss")), ElementsAre(5.5, 4.5, 3.25));
}

TEST_F(EventFiles, aTornTailIsReadOnceItIsThere)
{
    const auto whole = version() + scalar(1, "loss", 2) + scalar(2, "loss", 1);
    const auto path = m_folder.write(eventsName, whole.substr(0, whole.size() - 3));
    auto session = session::Session::open(m_folder.path() / "s.nanscope", session::OpenMode::create);
    ASSERT_TRUE(session);
    ASSERT_TRUE(ingest::importRun(path, *session));
    m_folder.write(eventsName, whole + scalar(3, "loss", notANumber));
    const auto run = ingest::importRun(path, *session);
    ASSERT_TRUE(run) << run.error().what;
    ASSERT_EQ(run->series.size(), 1U);
    EXPECT_EQ(run->series[0].pointCount, 3);
    EXPECT_EQ(run->series[0].nan, 1);
    EXPECT_THAT(run->rejected, IsEmpty());
}

TEST_F(EventFiles, aDamagedRecordCostsOnlyItself)
{
    if (!tensorfile::crc32c({})) {
        GTEST_SKIP() << "built without ISA-L";
    }
    auto damaged = scalar(2, "loss", 1);
    damaged[damaged.size() - 6] ^= 1;
    const auto log = read(eventsName, version() + scalar(1, "loss", 2) + damaged + scalar(3, "loss", 3));
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(1, 3));
    ASSERT_EQ(log.events.size(), 1U);
    EXPECT_THAT(log.events[0].text, HasSubstr("damaged record"));
    auto lost = scalar(2, "loss", 1);
    lost[0] ^= 1;
    const auto rest = read(eventsName, version() + scalar(1, "loss", 2) + lost + scalar(3, "loss", 3));
    EXPECT_THAT(steps(find(rest, "loss")), ElementsAre(1)) << "behind a wrong length nothing can be found";
    EXPECT_THAT(rest.events.at(0).text, HasSubstr("cannot be read"));
}

TEST_F(EventFiles, whatIsLoggedLessOftenIsNotMissing)
{
    const auto log = read(
        eventsName, version() + scalar(1, "lr", 1) + scalar(2, "lr", 1) + scalar(2, "loss", 3) + scalar(3, "lr", 1));
    EXPECT_THAT(states(find(log, "loss")), ElementsAre(PointState::finite));
}

TEST_F(EventFiles, damageIsSaidOnceAndNotWhileItIsBeingWritten)
{
    if (!tensorfile::crc32c({})) {
        GTEST_SKIP() << "built without ISA-L";
    }
    const auto path = m_folder.write(eventsName, version() + scalar(1, "loss", 2) + std::string(40, '\x01'));
    auto session = session::Session::open(m_folder.path() / "s.nanscope", session::OpenMode::create);
    ASSERT_TRUE(session);
    const auto live = ingest::importRun(path, *session);
    ASSERT_TRUE(live);
    EXPECT_THAT(live->events, IsEmpty()) << "room that nothing was put into yet";
    std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() - std::chrono::minutes(1));
    EXPECT_EQ(live->series.at(0).pointCount, 1);
    for (int again = 0; again < 3; ++again) {
        const auto rested = ingest::importRun(path, *session);
        ASSERT_TRUE(rested);
        EXPECT_EQ(rested->events.size(), 1U);
    }
}

TEST_F(EventFiles, damageInTheMiddleIsSaidWhileTheFileGrows)
{
    if (!tensorfile::crc32c({})) {
        GTEST_SKIP() << "built without ISA-L";
    }
    auto damaged = scalar(2, "loss", 1);
    damaged[damaged.size() - 6] ^= 1;
    const auto path = m_folder.write(eventsName, version() + damaged + scalar(3, "loss", 3));
    auto session = session::Session::open(m_folder.path() / "s.nanscope", session::OpenMode::create);
    ASSERT_TRUE(session);
    const auto live = ingest::importRun(path, *session);
    ASSERT_TRUE(live);
    EXPECT_EQ(live->series.at(0).pointCount, 1);
    ASSERT_EQ(live->events.size(), 1U);
    EXPECT_THAT(live->events[0].text, HasSubstr("damaged record"));
}

TEST_F(EventFiles, whatIsNoMessageIsLeftOut)
{
    const auto log = read(eventsName, version() + recordOf("\x2a\xff\xff\xff") + scalar(3, "loss", 3));
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(3));
    ASSERT_EQ(log.events.size(), 1U);
}

TEST_F(EventFiles, somethingElseUnderTheirNameIsSaid)
{
    for (const auto& [content, said] :
        {std::pair {"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"},
            std::pair {"plain words, more than twelve of them in bytes", "and is none"}}) {
        const auto path = m_folder.write(eventsName, content);
        const auto log = ingest::readLog(path, eventsName);
        ASSERT_FALSE(log);
        EXPECT_THAT(log.error().what, HasSubstr(said));
    }
    EXPECT_TRUE(read(eventsName, "").series.empty()) << "a writer that has not begun";
}

TEST_F(EventFiles, theFolderNamesTheRank)
{
    std::filesystem::create_directories(m_folder.path() / "tb" / "rank_3");
    const auto name = std::string("tb/rank_3/") + eventsName;
    const auto log = read(name, version() + scalar(1, "loss", 2));
    EXPECT_EQ(log.series.at(0).rank, 3);
}

TEST_F(EventFiles, restartsInOneFolderFollowEachOtherByTheirTime)
{
    const std::string first = "tb/events.out.tfevents.1700000000.node-b.77.0";
    const std::string second = "tb/events.out.tfevents.1700009000.node-a.12.0";
    m_folder.write(second, version(1.7e9 + 9000) + scalar(2, "loss", 20) + scalar(3, "loss", notANumber));
    m_folder.write(first, version(1.7e9) + scalar(1, "loss", 1) + scalar(2, "loss", 2) + scalar(3, "loss", 3));
    m_folder.write("other/events.out.tfevents.1600000000.node-c.1.0", version(1.6e9) + scalar(1, "loss", 1));
    const auto run = ingest::readRun(m_folder.path());
    ASSERT_TRUE(run);
    ingest::LogContents all;
    all.series = run->series;
    ASSERT_EQ(all.series.size(), 3U) << "all are kept";
    EXPECT_THAT(steps(find(all, "loss", {}, 1)), ElementsAre(2, 3)) << "the later one, whatever its host is called";
    EXPECT_EQ(find(all, "loss", {}, 1).source, second);
    for (const auto& series : all.series) {
        EXPECT_EQ(series.segment, series.source == second ? 1 : 0) << series.source;
    }
}

TEST_F(EventFiles, aStepThatFallsBackIsASegment)
{
    const auto log = read(eventsName,
        version() + scalar(1, "loss", 1) + scalar(2, "loss", 2) + scalar(1, "loss", 10) + scalar(2, "loss", 20));
    EXPECT_THAT(values(find(log, "loss", {}, 0)), ElementsAre(1, 2));
    EXPECT_THAT(values(find(log, "loss", {}, 1)), ElementsAre(10, 20));
}

TEST_F(EventFiles, aWriterThatVoidsLaterStepsIsAResume)
{
    // As PyTorch's SummaryWriter writes purge_step.
    std::string session;
    protozero::pbf_writer(session).add_enum(1, 1);
    std::string event;
    protozero::pbf_writer writer(event);
    writer.add_double(1, 1.7e9);
    writer.add_int64(2, 500);
    writer.add_message(7, session);
    const auto log = read(eventsName, version() + recordOf(event) + scalar(510, "loss", 2));
    ASSERT_EQ(log.events.size(), 1U);
    EXPECT_EQ(log.events[0].kind, EventKind::resumed);
    EXPECT_EQ(log.events[0].step, 500);
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(510));
}

TEST_F(EventFiles, ofKerasIsReadFromARealOne)
{
    const auto name =
        "tb_keras_tf2__10tanmay100__DEEPCNNCLASSIFIER__events.out.tfevents.1664284826.DESKTOP-27TFO05.7852.0.v2";
    const auto path = std::filesystem::path(NANSCOPE_SHARED_DATA) / "logs" / name;
    if (!std::filesystem::exists(path)) {
        GTEST_SKIP() << "the real logs are not here";
    }
    const auto log = ingest::readLog(path, name);
    ASSERT_TRUE(log) << log.error().what;
    EXPECT_THAT(values(find(*log, "epoch_loss")), ElementsAre(5.943848133087158));
}
