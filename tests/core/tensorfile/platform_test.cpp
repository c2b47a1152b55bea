// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

#include <sys/stat.h>

#include "core/platform/platform.h"
#include "core/platform/privatefolder.h"
#include "fixtures.h"

namespace nanscope {

using namespace fixtures;

TEST(FileReader, FailsInsteadOfReadingPastTheEnd)
{
    const TemporaryFolder folder;
    const auto path = folder.write("x", "hello");
    const auto file = platform::FileReader::open(path);
    ASSERT_TRUE(file);
    std::array<std::byte, 3> part {};
    EXPECT_TRUE(file->readAt(2, part));
    EXPECT_EQ(part[0], std::byte {'l'});
    EXPECT_FALSE(file->readAt(3, part));
    std::filesystem::resize_file(path, 1);
    const auto shrunk = file->readAt(0, part);
    ASSERT_FALSE(shrunk);
    EXPECT_EQ(shrunk.error().kind, ErrorKind::truncated);
    EXPECT_EQ(shrunk.error().path, path.string());
}

TEST(AtomicFile, AppearsWholeOrNotAtAll)
{
    const TemporaryFolder folder;
    const auto target = folder.write("x", "old");
    const std::string fresh = "fresh contents";
    {
        auto file = platform::AtomicFile::create(target);
        ASSERT_TRUE(file);
        ASSERT_TRUE(file->write(std::as_bytes(std::span(fresh))));
        EXPECT_EQ(contentsOf(target), "old");
    }
    EXPECT_EQ(contentsOf(target), "old");
    ASSERT_TRUE(platform::writeFileAtomically(target, std::as_bytes(std::span(fresh))));
    EXPECT_EQ(contentsOf(target), fresh);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(AtomicFile, APlaceThatCannotBeWrittenIsASentence)
{
    const auto denied = platform::writeFileAtomically("/proc/nanscope-test", {});
    ASSERT_FALSE(denied);
    EXPECT_EQ(denied.error().path, "/proc/nanscope-test");
    EXPECT_EQ(denied.error().kind, ErrorKind::io);
}

TEST(PrivateFiles, AreTheirOwnersAloneWhateverTheUmask)
{
    using std::filesystem::perms;
    const TemporaryFolder folder;
    const auto modeOf = [](const std::filesystem::path& path) { return std::filesystem::status(path).permissions(); };
    const auto old = folder.write("old", "old");
    std::filesystem::permissions(old, perms {0640});
    const auto before = ::umask(0);
    EXPECT_TRUE(platform::writeFileAtomically(folder.path() / "new", {}));
    EXPECT_TRUE(platform::writeFileAtomically(old, {}));
    EXPECT_TRUE(platform::makePrivateFile(folder.path() / "made"));
    EXPECT_TRUE(platform::makePrivateFile(old)) << "what is there stays";
    EXPECT_TRUE(platform::makePrivateFolders(folder.path() / "a/b/"));
    std::filesystem::create_directory(folder.path() / "open");
    EXPECT_TRUE(platform::makePrivateFolders(folder.path() / "open/c"));
    ::umask(before);
    EXPECT_EQ(modeOf(folder.path() / "new"), perms {0600});
    EXPECT_EQ(modeOf(folder.path() / "made"), perms {0600});
    EXPECT_EQ(modeOf(old), perms {0640}) << "somebody opened it on purpose";
    EXPECT_EQ(modeOf(folder.path() / "a"), perms {0700});
    EXPECT_EQ(modeOf(folder.path() / "a/b"), perms {0700});
    EXPECT_EQ(modeOf(folder.path() / "open"), perms {0777});
    EXPECT_EQ(modeOf(folder.path() / "open/c"), perms {0700});
}

TEST(PrivateFiles, NeedAPlaceAndFollowNoLinkThatLeadsNowhere)
{
    const TemporaryFolder folder;
    std::filesystem::create_symlink(folder.path() / "nowhere", folder.path() / "link");
    EXPECT_FALSE(platform::makePrivateFile(folder.path() / "link"));
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "nowhere"));
    EXPECT_FALSE(platform::makePrivateFolders(folder.write("file", "") / "below"));
}

TEST(System, AVariableMayBeEmptyOrNotThere)
{
    ::setenv("NANSCOPE_TEST_VARIABLE", "", 1);
    EXPECT_EQ(platform::environmentVariable("NANSCOPE_TEST_VARIABLE"), "");
    ::unsetenv("NANSCOPE_TEST_VARIABLE");
    EXPECT_EQ(platform::environmentVariable("NANSCOPE_TEST_VARIABLE"), std::nullopt);
}

TEST(System, TheClockIsPast2020)
{
    EXPECT_GT(platform::nowMs(), 1'577'836'800'000);
}

TEST(System, FoldersFollowTheEnvironment)
{
    const char* before = std::getenv("XDG_DATA_HOME");
    const std::string kept = before == nullptr ? "" : before;
    ::setenv("XDG_DATA_HOME", "/some/where", 1);
    EXPECT_EQ(platform::userDataFolder(), "/some/where/nanscope");
    ::setenv("XDG_DATA_HOME", "relative", 1);
    EXPECT_TRUE(platform::userDataFolder().is_absolute());
    ::setenv("XDG_DATA_HOME", kept.c_str(), 1);
    if (before == nullptr) {
        ::unsetenv("XDG_DATA_HOME");
    }
    EXPECT_TRUE(std::filesystem::exists(platform::programFolder() / "test_tensorfile"));
    EXPECT_FALSE(platform::isNetworkFileSystem("/proc/self"));
    EXPECT_FALSE(platform::isNetworkFileSystem("/proc/no/such/place"));
    EXPECT_NE(platform::cpuDescription().find('('), std::string::npos);
}

} // namespace nanscope
