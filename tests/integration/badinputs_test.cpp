// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fstream>

#include <gmock/gmock.h>

#include "program.h"
#include "workfolder.h"

using namespace nanscope::testing;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

namespace fs = std::filesystem;
using namespace std::string_literals;

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
    const auto turned = run({"list", "captures", m_folder.path().string()});
    EXPECT_EQ(turned.status, 2);
    EXPECT_NE(turned.err.find("run comes before the kind"), std::string::npos) << turned.err;
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
    writeCapture(m_folder.path() / fs::path("odd\xff.pt"), {24, 48});
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

TEST_F(BadInputs, ACaptureWithoutElementsClaimsNoMemory)
{
    // {"input": t, "output": t} of shape [0, 2^62] over a storage without bytes
    const std::string tensor = "ctorch._utils\n_rebuild_tensor_v2\n((X\x07\0\0\0storagectorch\nFloatStorage\n"
                               "X\x01\0\0\0"
                               "0X\x03\0\0\0cpuK\0tQK\0K\0\x8a\x08\0\0\0\0\0\0\0\x40\x86K\x01K\x01\x86\x89"
                               "ccollections\nOrderedDict\n)RtR"s;
    writeArchive(m_folder / "empty.pt", "\x80\x02}(X\x05\0\0\0input"s + tensor + "X\x06\0\0\0output"s + tensor + "u."s);
    expectOneSentenceAbout("empty.pt");
    const auto alone = run({"explain", m_folder / "empty.pt"});
    EXPECT_EQ(alone.status, 4) << alone.err;
    EXPECT_THAT(alone.err, AnyOf(HasSubstr("has no elements"), HasSubstr("contents are missing")));
}

TEST_F(BadInputs, ADumpThatWasOverwrittenIsSaidAndNotJudged)
{
    const auto session = m_folder / "s.nanscope";
    writeCapture(m_folder / "other.pt", {32, 48});
    ASSERT_EQ(run({"import", m_folder.path().string(), "--session", session}).status, 0);
    writeCapture(m_folder / "other.pt", {16, 16});
    for (const auto& command :
        {std::vector<std::string> {"diagnose", session, "--json"}, {"report", session, "-o", m_folder / "r.json"}}) {
        const auto done = run(command);
        EXPECT_EQ(done.status, 3) << done.err;
        EXPECT_THAT(done.err, HasSubstr("holds another capture"));
        EXPECT_THAT(done.err, HasSubstr("other.pt"));
    }
    const auto verdicts = run({"diagnose", session, "--json"}).json()["captures"];
    ASSERT_EQ(verdicts.size(), 2U);
    for (const auto& verdict : verdicts) {
        EXPECT_EQ(verdict["unread"].is_null(), verdict["capture"] == "good.pt") << verdict;
    }
}

TEST_F(BadInputs, ABundleHoldsNoFileButTheCapture)
{
    const auto session = m_folder / "s.nanscope";
    ASSERT_EQ(run({"import", m_folder.path().string(), "--session", session}).status, 0);
    writeText(m_good, "a private file that took the place of the dump");
    const auto bundle = m_folder / "b";
    const auto done = run({"report", session, "--bundle", bundle, "--with-capture"});
    EXPECT_EQ(done.status, 3) << done.err;
    EXPECT_THAT(done.err, HasSubstr("The capture is left out"));
    EXPECT_FALSE(fs::exists(fs::path(bundle) / "good.pt"));
}
