// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fstream>

#include <gmock/gmock.h>

#include "program.h"
#include "workfolder.h"

using namespace nanscope::testing;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

namespace fs = std::filesystem;

namespace {

void cutOff(const fs::path& path, std::uintmax_t bytes)
{
    fs::resize_file(path, bytes);
}

void flipByte(const fs::path& path, std::streamoff at)
{
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(at);
    const auto byte = static_cast<char>(file.get());
    file.seekp(at);
    file.put(static_cast<char>(~byte));
}

/// One good capture and what the test adds to it.
class BadInputs : public ::testing::Test
{
protected:
    void SetUp() override { m_good = writeCapture(m_folder / "good.pt"); }

    /// The bad file costs one sentence and status 3; the good one is there as ever.
    void expectOneSentenceAbout(const std::string& name)
    {
        const auto done = run({"list", m_folder.path().string(), "captures", "--json"});
        EXPECT_EQ(done.status, 3) << done.err;
        ASSERT_THAT(done.errors(), SizeIs(1)) << done.err;
        EXPECT_TRUE(done.errors()[0].ends_with(name)) << "the path comes last: " << done.errors()[0];
        const auto json = done.json();
        ASSERT_TRUE(json.is_object());
        ASSERT_EQ(json["captures"].size(), 1U);
        EXPECT_EQ(json["captures"][0]["file"], "good.pt");
        ASSERT_EQ(json["rejected"].size(), 1U);
        EXPECT_FALSE(json["rejected"][0]["reason"].get<std::string>().empty());
        expectDiagnosisGoesOn();
    }

    void expectDiagnosisGoesOn()
    {
        const auto done = run({"diagnose", m_folder.path().string(), "--json"});
        EXPECT_EQ(done.status, 3) << done.err;
        EXPECT_EQ(done.json()["triage"]["captures"], 1);
        EXPECT_EQ(done.json()["rejected"].size(), 1U);
    }

    WorkFolder m_folder;
    std::string m_good;
};

} // namespace

TEST_F(BadInputs, CutOffCapture)
{
    const fs::path bad = m_folder / "cut.pt";
    fs::copy_file(m_good, bad);
    cutOff(bad, fs::file_size(bad) / 2);
    expectOneSentenceAbout("cut.pt");
}

TEST_F(BadInputs, CorruptContents)
{
    const fs::path bad = m_folder / "flipped.pt";
    writeCapture(bad, {64, 64, false, true});
    flipByte(bad, 4096);
    expectOneSentenceAbout("flipped.pt");
}

TEST_F(BadInputs, EmptyFile)
{
    writeText(m_folder / "empty.pt", "");
    expectOneSentenceAbout("empty.pt");
}

TEST_F(BadInputs, FolderNamedLikeACapture)
{
    fs::create_directory(m_folder / "x.pt");
    const auto done = run({"explain", m_folder / "x.pt"});
    EXPECT_EQ(done.status, 4);
    EXPECT_THAT(done.errors(), SizeIs(1)) << done.err;
    // In a walk it is a folder like any other, with nothing in it to reject.
    EXPECT_EQ(run({"list", m_folder.path().string(), "--json"}).json()["captures"].size(), 1U);
}

TEST_F(BadInputs, PickleThatWouldRunACommandRunsNothing)
{
    const auto witness = m_folder / "ran";
    writeArchive(m_folder / "evil.pt", "cposix\nsystem\n(S'touch " + witness + "'\ntR.");
    expectOneSentenceAbout("evil.pt");
    const std::string call("cos\nsystem\nX\x04\0\0\0true\x85R.", 23);
    writeArchive(m_folder / "evil.pt", "\x80\x02" + call);
    EXPECT_NE(run({"explain", m_folder / "evil.pt"}).status, 0);
    EXPECT_FALSE(fs::exists(witness));
}

TEST_F(BadInputs, NoSuchFormat)
{
    writeText(m_folder / "text.pt", "this is no archive\n");
    expectOneSentenceAbout("text.pt");
}

TEST_F(BadInputs, SymbolicLinkLoopEnds)
{
    fs::create_directory_symlink(m_folder.path(), m_folder / "loop");
    const auto done = run({"list", m_folder.path().string(), "--json"});
    EXPECT_EQ(done.json()["captures"].size(), 1U) << done.err;
    EXPECT_LE(done.errors().size(), 1U);
}

TEST_F(BadInputs, ReadOnlyFolderOpensAsItIs)
{
    fs::permissions(m_folder.path(), fs::perms::owner_write, fs::perm_options::remove);
    const auto done = run({"diagnose", m_folder.path().string(), "--json"});
    EXPECT_EQ(done.status, 0) << done.err;
    EXPECT_EQ(done.json()["triage"]["captures"], 1);
    EXPECT_EQ(std::distance(fs::directory_iterator(m_folder.path()), {}), 1) << "nothing is left beside the captures";
}

TEST_F(BadInputs, NameThatIsNotUtf8)
{
    writeCapture(m_folder.path() / fs::path("odd\xff.pt"));
    const auto done = run({"list", m_folder.path().string(), "--json"});
    EXPECT_EQ(done.status, 0) << done.err;
    ASSERT_TRUE(done.json().is_object());
    EXPECT_EQ(done.json()["captures"].size(), 2U);
}

TEST_F(BadInputs, LogWithTerminalCodesReachesNoTerminal)
{
    writeText(m_folder / "console.log",
        "Step 0: train_loss=1.0, grad_norm=0.1\n"
        "RuntimeError: \x1b[31m\x1b]0;owned\x07 bad\n");
    const auto done = run({"list", m_folder.path().string(), "events"});
    EXPECT_THAT(done.out, Not(HasSubstr("\x1b")));
    EXPECT_THAT(done.out, Not(HasSubstr("\x07")));
}
