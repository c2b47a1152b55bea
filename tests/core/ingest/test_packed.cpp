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
    auto session = Session::open(m_folder.path() / "s.nanscope", OpenMode::create);
    ASSERT_TRUE(session);
    const auto rested = [&] {
        std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() - std::chrono::minutes(1));
        const auto run = importRun(m_folder.path() / "run", *session);
        return run ? run->series.at(0).pointCount : -1;
    };
    EXPECT_EQ(rested(), 3);
    EXPECT_EQ(rested(), 3);
    m_folder.write("run/" + name(), pack(lines(3, 2)), true);
    EXPECT_EQ(rested(), 5);
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
    const auto found = findFiles(folder.path());
    std::vector<std::string> names;
    for (const auto& file : found->files) {
        names.push_back(file.relative);
    }
    EXPECT_THAT(names, ElementsAre("d.log.gz", "e.gz"));
}

} // namespace
} // namespace nanscope
