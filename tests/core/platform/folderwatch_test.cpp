// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/platform/folderwatch.h"

namespace nanscope {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

class FolderWatchTest : public testing::TestWithParam<platform::FolderWatch::Means>
{
protected:
    FolderWatchTest() { fs::create_directories(m_folder / "ranks" / "0"); }
    ~FolderWatchTest() override { fs::remove_all(m_folder); }

    void write(const fs::path& path, const std::string& text) const
    {
        std::ofstream(m_folder / path, std::ios::app) << text;
    }

    platform::FolderWatch watch() const { return std::move(*platform::FolderWatch::open(m_folder, GetParam())); }

    /// Waits for at most ten seconds.
    static bool changes(platform::FolderWatch& watch)
    {
        const auto end = Clock::now() + std::chrono::seconds(10);
        return watch.wait([end] { return Clock::now() > end; });
    }

    fs::path m_folder = fs::temp_directory_path() / ("nanscope-watch-" + std::to_string(::getpid()));
};

} // namespace

TEST_P(FolderWatchTest, SeesALineThatIsAppended)
{
    write("ranks/0/stdout.log", "Step 1\n");
    auto changed = watch();
    write("ranks/0/stdout.log", "Step 2\n");
    EXPECT_TRUE(changes(changed));
}

TEST_P(FolderWatchTest, SeesAFileInAFolderMadeLater)
{
    auto changed = watch();
    fs::create_directories(m_folder / "dumps" / "late");
    EXPECT_TRUE(changes(changed));
    write("dumps/late/x.pt", "PK");
    EXPECT_TRUE(changes(changed));
}

TEST_P(FolderWatchTest, SeesWhatIsRemovedAndRenamed)
{
    write("a.log", "1");
    auto changed = watch();
    fs::rename(m_folder / "a.log", m_folder / "b.log");
    EXPECT_TRUE(changes(changed));
    fs::remove(m_folder / "b.log");
    EXPECT_TRUE(changes(changed));
}

TEST_P(FolderWatchTest, StopsWhenItIsTold)
{
    auto changed = watch();
    int asked = 0;
    EXPECT_FALSE(changed.wait([&asked] { return ++asked > 2; }));
}

TEST_P(FolderWatchTest, AFileThatNeverRestsIsSeenToo)
{
    auto changed = watch();
    std::atomic<bool> done = false;
    std::thread writer([&] {
        while (!done) {
            write("busy.log", "x");
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
    });
    EXPECT_TRUE(changes(changed));
    done = true;
    writer.join();
}

TEST(FolderWatchTold, DoesNotWaitForCalmOnceAHastyFileIsThere)
{
    const auto folder = fs::temp_directory_path() / ("nanscope-hasty-" + std::to_string(::getpid()));
    fs::create_directories(folder);
    auto changed = platform::FolderWatch::open(
        folder, platform::FolderWatch::Means::best, [](const std::string& name) { return name.ends_with(".pt"); });
    ASSERT_TRUE(changed && changed->isTold());
    std::ofstream(folder / "half") << "PK";
    fs::rename(folder / "half", folder / "whole.pt");
    int asked = 0;
    EXPECT_TRUE(changed->wait([&asked] { return ++asked > 100; }));
    EXPECT_LE(asked, 2) << "no second look for calm";
    EXPECT_FALSE(changed->lost());
    fs::remove_all(folder);
    EXPECT_TRUE(changed->wait([&asked] { return ++asked > 100; }));
    EXPECT_TRUE(changed->lost());
}

INSTANTIATE_TEST_SUITE_P(Means, FolderWatchTest,
    testing::Values(platform::FolderWatch::Means::best, platform::FolderWatch::Means::looking),
    [](const auto& info) { return info.param == platform::FolderWatch::Means::best ? "told" : "looking"; });

TEST(FolderWatchRefusal, NamesAFolderThatIsNotThere)
{
    const auto none = platform::FolderWatch::open("/nowhere/at/all");
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().path, "/nowhere/at/all");
}

} // namespace nanscope
