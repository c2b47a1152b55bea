// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include <gmock/gmock.h>

#include "core/session/session.h"
#include "tests/core/ingest/logfolder.h"

namespace nanscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Logs packed by the system's own programs, which share no code with what reads them.
class Packed : public LogFolder, public testing::WithParamInterface<std::pair<const char*, const char*>>
{
protected:
    void SetUp() override
    {
        if (std::system((std::string("command -v ") + GetParam().first + " > /dev/null").c_str()) != 0) {
            GTEST_SKIP() << GetParam().first << " is not installed";
        }
    }

    std::string pack(const std::string& text) const
    {
        const auto plain = m_folder.write("plain", text);
        const auto packed = m_folder / "packed";
        const auto command =
            std::string(GetParam().first) + " -c < '" + plain.string() + "' > '" + packed.string() + "'";
        EXPECT_EQ(std::system(command.c_str()), 0);
        return contentsOf(packed);
    }

    std::string name() const { return std::string("train.log") + GetParam().second; }

    static std::string lines(int first, int count)
    {
        std::string text;
        for (int i = first; i < first + count; ++i) {
            text += "step " + std::to_string(i) + ", loss: " + std::to_string(10.0 / (i + 1)) + "\n";
        }
        return text;
    }
};

TEST_P(Packed, ReadsAsThePlainLogDoes)
{
    const auto text = lines(0, 100'000);
    const auto plain = read("train.log", text);
    const auto packed = read(name(), pack(text));
    EXPECT_EQ(packed.format, plain.format);
    EXPECT_EQ(values(find(packed, "loss")), values(find(plain, "loss")));
    EXPECT_EQ(find(packed, "loss").points.back().line, 100'000);
    EXPECT_THAT(packed.events, IsEmpty());
}

TEST_P(Packed, ReadsEveryStreamOfAFile)
{
    const auto log = read(name(), pack(lines(0, 3)) + pack(lines(3, 2)));
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(0, 1, 2, 3, 4));
    EXPECT_THAT(log.events, IsEmpty());
}

TEST_P(Packed, SaysThatOneIsCutOffAndKeepsWhatCameBefore)
{
    const auto whole = pack(lines(0, 200'000));
    const auto log = read(name(), whole.substr(0, whole.size() / 2));
    EXPECT_GT(find(log, "loss").points.size(), 1000U);
    ASSERT_THAT(log.events, SizeIs(1));
    EXPECT_THAT(log.events[0].text, HasSubstr("cut off"));
}

TEST_P(Packed, SaysThatOneIsDamaged)
{
    auto bytes = pack(lines(0, 200'000));
    for (std::size_t i = bytes.size() / 2; i < bytes.size() / 2 + 64; ++i) {
        bytes[i] = static_cast<char>(bytes[i] ^ 0x5a);
    }
    const auto log = read(name(), bytes);
    ASSERT_THAT(log.events, SizeIs(1));
    EXPECT_THAT(log.events[0].text, HasSubstr("compressed"));
}

TEST_P(Packed, IsImportedOnceAndAgainWhenItGrew)
{
    const auto path = m_folder.write("run/" + name(), pack(lines(0, 3)));
    auto session = session::Session::open(m_folder.path() / "s.nanscope", session::OpenMode::create);
    ASSERT_TRUE(session);
    const auto rested = [&] {
        std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() - std::chrono::minutes(1));
        const auto run = ingest::importRun(m_folder.path() / "run", *session);
        return run ? run->series.at(0).pointCount : -1;
    };
    EXPECT_EQ(rested(), 3);
    EXPECT_EQ(rested(), 3);
    m_folder.write("run/" + name(), pack(lines(3, 2)), true);
    EXPECT_EQ(rested(), 5);
}

TEST_P(Packed, IsTheLogThatWasRotatedAndPackedSince)
{
    m_folder.write("run/train.log", lines(0, 2000));
    auto session = session::Session::open(m_folder.path() / "s.nanscope", session::OpenMode::create);
    ASSERT_TRUE(session && ingest::importRun(m_folder.path() / "run", *session));
    m_folder.write("run/train.log.1" + name().substr(9), pack(lines(0, 2010)));
    m_folder.write("run/train.log", lines(2010, 3));
    const auto run = ingest::importRun(m_folder.path() / "run", *session);
    ASSERT_TRUE(run);
    EXPECT_THAT(run->replaced, IsEmpty()) << "what was packed holds all that was read of it";
    ASSERT_EQ(run->series.size(), 2U);
    EXPECT_EQ(run->series[0].pointCount, 3);
    EXPECT_EQ(run->series[1].pointCount, 2010);
    EXPECT_EQ(run->series[1].source, "train.log.1" + name().substr(9));
}

TEST_P(Packed, OneThatIsStillWrittenLeavesNoGenerationsBehind)
{
    const auto whole = pack(lines(0, 200'000));
    auto session = session::Session::open(m_folder.path() / "s.nanscope", session::OpenMode::create);
    ASSERT_TRUE(session);
    const auto imported = [&](std::size_t bytes) {
        const auto path = m_folder.write("run/" + name(), whole.substr(0, bytes));
        std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() - std::chrono::minutes(1));
        return ingest::importRun(m_folder.path() / "run", *session).value_or(RunData {});
    };
    for (const auto part : {4U, 3U, 2U}) {
        const auto run = imported(whole.size() / part);
        ASSERT_THAT(run.rejected, SizeIs(1)) << "it is cut off";
        EXPECT_EQ(run.rejected[0].path, name());
        EXPECT_THAT(run.rejected[0].reason, HasSubstr("cut off"));
        EXPECT_THAT(run.replaced, IsEmpty());
        EXPECT_THAT(run.notes, IsEmpty());
        EXPECT_THAT(imported(whole.size() / part).rejected, SizeIs(1)) << "it still is, read again or not";
    }
    const auto run = imported(whole.size());
    EXPECT_THAT(run.rejected, IsEmpty());
    EXPECT_THAT(run.replaced, IsEmpty());
    ASSERT_THAT(run.series, SizeIs(1));
    EXPECT_EQ(run.series[0].pointCount, 200'000);
}

TEST_P(Packed, OneOfMuchTextIsReadBehindTheOthersAndWhole)
{
    if (GetParam().first != std::string("zstd")) {
        GTEST_SKIP() << "once is enough, and this packs fastest";
    }
    // Few of its lines say anything: they wait in memory until a hundred logs or twenty thousand records came.
    std::string text = "step 0, loss: 3.5\n";
    for (int block = 0; block < 300; ++block) {
        text += std::string(std::size_t {1} << 20, static_cast<char>('a' + block % 20)) + '\n';
    }
    text += "step 1, loss: 3.25\n";
    // What unpacks to a thousand times its size is taken for a bomb.
    std::string noise(1 << 20, '\0');
    std::uint32_t state = 1;
    for (auto& c : noise) {
        state = state * 1664525U + 1013904223U;
        c = static_cast<char>('a' + (state >> 24U) % 26U);
    }
    m_folder.write("run/a/" + name(), pack(noise + '\n' + text));
    m_folder.write("run/b/train.log", lines(0, 3));
    auto session = session::Session::open(m_folder.path() / "s.nanscope", session::OpenMode::create);
    ASSERT_TRUE(session);
    for (int times = 0; times < 2; ++times) {
        const auto run = ingest::importRun(m_folder.path() / "run", *session);
        ASSERT_TRUE(run);
        EXPECT_THAT(run->rejected, IsEmpty());
        EXPECT_THAT(run->replaced, IsEmpty());
        ASSERT_THAT(run->series, SizeIs(2));
        EXPECT_EQ(run->series[0].pointCount, 2) << times;
        EXPECT_LT(run->series[1].id, run->series[0].id) << "the small one came first";
    }
}

INSTANTIATE_TEST_SUITE_P(Programs, Packed,
    testing::Values(std::pair("gzip", ".gz"), std::pair("zstd", ".zst"), std::pair("xz", ".xz")),
    [](const auto& kind) { return std::string(kind.param.first); });

TEST(PackedFiles, OtherThingsThatArePackedAreLeftAlone)
{
    const TemporaryFolder folder;
    for (const char* name : {"a.tar.gz", "b.pt.xz", "c.npy.zst", "d.log.gz", "e.gz"}) {
        folder.write(name, "x");
    }
    const auto found = ingest::findFiles(folder.path());
    std::vector<std::string> names;
    for (const auto& file : found->files) {
        names.push_back(file.relative);
    }
    EXPECT_THAT(names, ElementsAre("d.log.gz", "e.gz"));
}

} // namespace
} // namespace nanscope
