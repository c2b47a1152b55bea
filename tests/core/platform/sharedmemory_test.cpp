// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/platform/sharedmemory.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <optional>
#include <set>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nanscope {

namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::size_t size = 100000;

platform::SharedBlock made(std::size_t bytes = size)
{
    auto block = platform::SharedBlock::create(bytes);
    if (!block) {
        throw std::runtime_error(sentence(block.error()));
    }
    return std::move(*block);
}

bool there(const std::string& name)
{
    const int block = ::shm_open(name.c_str(), O_RDONLY, 0);
    ::close(block);
    return block >= 0;
}

std::string takeError(const std::string& name, std::size_t bytes)
{
    const auto view = platform::SharedView::take(name, bytes);
    return view ? "it was taken" : sentence(view.error());
}

/// A child that makes a block, tells its name and then waits to be killed.
class Filler
{
public:
    Filler()
    {
        int ends[2] = {};
        EXPECT_EQ(::pipe(ends), 0);
        m_process = ::fork();
        if (m_process == 0) {
            const auto block = made();
            std::memset(block.bytes().data(), 42, size);
            const auto written = ::write(ends[1], block.name().data(), block.name().size());
            ::pause();
            ::_exit(written > 0 ? 0 : 1);
        }
        char name[100] = {};
        EXPECT_GT(::read(ends[0], name, sizeof(name) - 1), 0);
        m_name = name;
        ::close(ends[0]);
        ::close(ends[1]);
    }
    ~Filler() { kill(); }
    Filler(const Filler&) = delete;
    Filler& operator=(const Filler&) = delete;

    void kill()
    {
        if (m_process > 0) {
            ::kill(m_process, SIGKILL);
            ::waitpid(m_process, nullptr, 0);
            m_process = 0;
        }
    }
    const std::string& name() const { return m_name; }

private:
    pid_t m_process = 0;
    std::string m_name;
};

TEST(SharedMemory, AnotherProcessReadsWhatWasWritten)
{
    const Filler filler;
    const auto view = platform::SharedView::take(filler.name(), size);
    ASSERT_TRUE(view) << sentence(view.error());
    ASSERT_EQ(view->bytes().size(), size);
    EXPECT_TRUE(
        std::all_of(view->bytes().begin(), view->bytes().end(), [](std::byte b) { return b == std::byte {42}; }));
}

TEST(SharedMemory, TheReaderRemovesTheNameAndKeepsTheContents)
{
    std::optional<platform::SharedBlock> block = made();
    const auto name = block->name();
    block->bytes()[size - 1] = std::byte {7};
    block->close();
    EXPECT_TRUE(block->bytes().empty());
    EXPECT_FALSE(block->taken());
    const auto view = platform::SharedView::take(name, size);
    ASSERT_TRUE(view);
    EXPECT_FALSE(there(name));
    EXPECT_TRUE(block->taken());
    block.reset();
    EXPECT_EQ(view->bytes()[size - 1], std::byte {7});
    EXPECT_THAT(takeError(name, size), StartsWith("The shared block is gone")) << "once is enough";
}

TEST(SharedMemory, WhatNobodyFetchesGoesWithItsMaker)
{
    std::string name;
    {
        auto first = made();
        name = first.name();
        const auto moved = std::move(first);
        EXPECT_EQ(moved.name(), name);
        EXPECT_TRUE(there(name));
    }
    EXPECT_FALSE(there(name));
    EXPECT_THAT(takeError(name, size), HasSubstr(name));
}

TEST(SharedMemory, ASizeOtherThanAnnouncedIsRefused)
{
    const auto block = made();
    EXPECT_THAT(
        takeError(block.name(), size + 1), StartsWith("Shared memory holds 100000 bytes where 100001 were announced"));
    EXPECT_THAT(takeError(block.name(), size - 1), HasSubstr("announced"));
    EXPECT_THAT(takeError(block.name(), 0), HasSubstr("names no shared block"));
    EXPECT_TRUE(there(block.name()));
}

TEST(SharedMemory, OtherNamesAreNotTouched)
{
    for (const std::string name :
        {"", "/", "/other", "/nanscope-", "/nanscope-../../etc/passwd", "/nanscope-0123456789abcdef0123456789abcde",
            "/nanscope-0123456789abcdef0123456789abcdeg", "nanscope-0123456789abcdef0123456789abcdef"}) {
        EXPECT_THAT(takeError(name, size), StartsWith("This names no shared block")) << name;
    }
    const std::string other = "/nanscopetest-" + std::to_string(::getpid());
    ::close(::shm_open(other.c_str(), O_CREAT | O_RDWR, S_IRUSR | S_IWUSR));
    platform::removeSharedBlock(other);
    platform::removeAbandonedBlocks();
    EXPECT_TRUE(there(other));
    ::shm_unlink(other.c_str());
}

TEST(SharedMemory, WhatOthersCanReachIsNotRead)
{
    const auto block = made();
    const int descriptor = ::shm_open(block.name().c_str(), O_RDWR, 0);
    struct stat state = {};
    ASSERT_EQ(::fstat(descriptor, &state), 0);
    EXPECT_EQ(state.st_mode & 0777U, 0600U);
    ::fchmod(descriptor, 0644);
    ::close(descriptor);
    EXPECT_THAT(takeError(block.name(), size), HasSubstr("others can reach"));
}

TEST(SharedMemory, NamesAreNotGuessable)
{
    std::set<std::string> names;
    for (int i = 0; i < 50; ++i) {
        names.insert(made(1).name());
    }
    EXPECT_EQ(names.size(), 50U);
}

TEST(SharedMemory, MoreThanTheSystemHasIsASentence)
{
    const auto block = platform::SharedBlock::create(std::size_t {1} << 60);
    ASSERT_FALSE(block);
    EXPECT_EQ(block.error().kind, ErrorKind::io);
    EXPECT_FALSE(there(block.error().path));
    EXPECT_FALSE(platform::SharedBlock::create(0));
}

TEST(SharedMemory, BlocksOfAKilledProcessAreClearedAwayAndThoseInUseAreNot)
{
    const auto ours = made();
    const Filler living;
    Filler dead;
    EXPECT_TRUE(there(dead.name()));
    dead.kill();
    platform::removeAbandonedBlocks();
    EXPECT_FALSE(there(dead.name()));
    EXPECT_TRUE(there(living.name()));
    EXPECT_TRUE(there(ours.name()));
}

TEST(SharedMemory, ABlockNobodyWantsIsRemovedByName)
{
    const auto block = made();
    platform::removeSharedBlock(block.name());
    EXPECT_FALSE(there(block.name()));
    EXPECT_TRUE(block.taken());
}

} // namespace

} // namespace nanscope
