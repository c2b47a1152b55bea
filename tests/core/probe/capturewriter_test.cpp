// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "core/model/scenewords.h"
#include "core/platform/platform.h"
#include "core/probe/capturewriter.h"
#include "core/tensorfile/capture/capturefile.h"

namespace nanscope {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::SizeIs;

tensorfile::TensorToWrite tensorOf(const std::string& name, const Shape& shape, const std::vector<float>& values)
{
    const auto bytes = std::as_bytes(std::span(values));
    return {name, DType::float32, shape, {bytes.begin(), bytes.end()}};
}

probe::BadCall badCall()
{
    probe::BadCall call;
    call.rank = 3;
    call.step = 41;
    call.input = tensorOf("input", {2, 3}, {1, 2, 3, 4, 5, 6});
    call.output = tensorOf("output", {2, 3}, {1, 2, std::numeric_limits<float>::quiet_NaN(), 4, 5, 6});
    call.inputAfter = probe::checksumOf(call.input.bytes);
    call.again = {{true, "a"}, {false, "b"}, {true, "a"}};
    return call;
}

probe::WatchedFunction function()
{
    return {.module = "muon.cpp",
        .name = "orthogonalize",
        .variant = "keller-jordan",
        .precision = "bf16",
        .epsilon = 1e-7,
        .nothingElse = true,
        .takesInputAlone = true};
}

class CaptureWriterTest : public testing::Test
{
protected:
    CaptureWriterTest()
        : m_folder(std::filesystem::temp_directory_path()
            / fmt::format("nanscope-writer-{}-{}", platform::processId(),
                testing::UnitTest::GetInstance()->current_test_info()->name()))
    { }
    ~CaptureWriterTest() override { std::filesystem::remove_all(m_folder); }

    std::set<std::string> files() const
    {
        std::set<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(m_folder)) {
            names.insert(entry.path().filename());
        }
        return names;
    }

    std::filesystem::path m_folder;
};

TEST_F(CaptureWriterTest, WritesWhatReadersTakeForTheWrappersDump)
{
    probe::CaptureWriter writer(m_folder);
    const auto path = writer.write(function(), badCall());
    ASSERT_TRUE(path) << path.error().what;
    EXPECT_THAT(path->filename().string(), MatchesRegex("dion_nan_capture_rank3_shape2x3_pid[0-9]+_[0-9]+\\.pt"));
    EXPECT_THAT(files(), SizeIs(2)) << "the dump and its sidecar, and nothing under a hidden name";

    const auto file = tensorfile::readCapture(*path);
    ASSERT_TRUE(file) << file.error().what;
    EXPECT_TRUE(file->wrapped);
    EXPECT_THAT(notesOf(file->capture.scene), SizeIs(0));
    const auto& capture = file->capture;
    EXPECT_EQ(capture.rank, 3);
    EXPECT_EQ(capture.epsilon, 1e-7);
    EXPECT_EQ(capture.step, 41);
    EXPECT_EQ(capture.variant, "keller-jordan:bf16");
    EXPECT_TRUE(capture.nothingElse);
    EXPECT_EQ(capture.scene.function, "muon.cpp:orthogonalize");
    EXPECT_TRUE(capture.scene.outputBad);
    EXPECT_FALSE(capture.scene.inputOverwritten);
    EXPECT_EQ(capture.scene.calledAgain, 3);
    EXPECT_EQ(capture.scene.failedAgain, 1);
}

TEST_F(CaptureWriterTest, TellsThatTheInputWasOverwritten)
{
    auto call = badCall();
    call.inputAfter = probe::checksumOf(call.output.bytes);
    const auto path = probe::CaptureWriter(m_folder).write(function(), call);
    EXPECT_TRUE(tensorfile::readCapture(path.value())->capture.scene.inputOverwritten);
}

TEST_F(CaptureWriterTest, CallsMadeAgainProveNothingOfAFunctionThatTakesMore)
{
    auto about = function();
    about.takesInputAlone = false;
    const auto path = probe::CaptureWriter(m_folder).write(about, badCall());
    EXPECT_EQ(tensorfile::readCapture(path.value())->capture.scene.calledAgain, 0);
}

TEST_F(CaptureWriterTest, SaysNothingThatNobodyKnows)
{
    probe::BadCall call = badCall();
    call.step.reset();
    call.again.clear();
    const auto path = probe::CaptureWriter(m_folder).write({.module = "m", .name = "f"}, call);
    const auto file = tensorfile::readCapture(path.value());
    ASSERT_TRUE(file);
    EXPECT_THAT(notesOf(file->capture.scene), SizeIs(0));
    EXPECT_FALSE(file->capture.step);
    EXPECT_FALSE(file->capture.epsilon);
    EXPECT_FALSE(file->capture.variant);
    EXPECT_FALSE(file->capture.nothingElse);
}

TEST_F(CaptureWriterTest, OverwritesNoneOfManyInOneMillisecond)
{
    probe::CaptureWriter writer(m_folder, {.perShape = 20});
    for (int i = 0; i < 20; ++i) {
        ASSERT_TRUE(writer.write(function(), badCall()));
    }
    EXPECT_THAT(files(), SizeIs(40));
}

TEST_F(CaptureWriterTest, StopsAtItsLimits)
{
    probe::CaptureWriter writer(m_folder, {.perShape = 1});
    ASSERT_TRUE(writer.write(function(), badCall()));
    const auto second = writer.write(function(), badCall());
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().kind, ErrorKind::refused);
    EXPECT_THAT(probe::CaptureWriter(m_folder, {.bytes = 40}).write(function(), badCall()).error().what,
        HasSubstr("more than 40 bytes"));
    EXPECT_THAT(probe::CaptureWriter(m_folder, {.freeBytes = std::uint64_t {1} << 62})
                    .write(function(), badCall())
                    .error()
                    .what,
        HasSubstr("free on the disk"));
    EXPECT_THAT(files(), SizeIs(2));
}

TEST_F(CaptureWriterTest, SaysWhyAFolderCannotBeWritten)
{
    std::ofstream(m_folder.string()) << "a file";
    const auto path = probe::CaptureWriter(m_folder / "captures").write(function(), badCall());
    ASSERT_FALSE(path);
    EXPECT_EQ(path.error().kind, ErrorKind::io);
}

TEST_F(CaptureWriterTest, AFinishedFileTakesNoNameFromAnother)
{
    std::filesystem::create_directories(m_folder);
    for (const auto* name : {"one", "two"}) {
        std::ofstream(m_folder / name) << name;
    }
    EXPECT_TRUE(platform::giveNewName(m_folder / "one", m_folder / "taken").value());
    EXPECT_FALSE(platform::giveNewName(m_folder / "two", m_folder / "taken").value());
    EXPECT_THAT(files(), testing::ElementsAre("taken", "two"));
    std::string text;
    std::ifstream(m_folder / "taken") >> text;
    EXPECT_EQ(text, "one");
    EXPECT_FALSE(platform::giveNewName(m_folder / "gone", m_folder / "new"));
}

} // namespace
} // namespace nanscope
