// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>

#include <cstdlib>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace nanscope {
namespace {

// The twins in torch that every replay is held against, held against the functions that people import.
TEST(Originals, OurTwinsFollowThePackagesThatAreThere)
{
    constexpr int nothingThere = 77;
    const auto command = fmt::format("\"{}\" \"{}\"", NANSCOPE_TORCH_PYTHON, NANSCOPE_ORIGINALS_SCRIPT);
    const int status = std::system(command.c_str());
    ASSERT_TRUE(WIFEXITED(status)) << command;
    if (WEXITSTATUS(status) == nothingThere) {
        GTEST_SKIP() << "this torch has no Muon, and gram-newton-schulz is not installed";
    }
    EXPECT_EQ(WEXITSTATUS(status), 0) << command;
}

} // namespace
} // namespace nanscope
