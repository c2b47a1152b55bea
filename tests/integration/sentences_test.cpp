// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "program.h"
#include "workfolder.h"

using namespace nanscope::testing;
using ::testing::Each;
using ::testing::SizeIs;

namespace {

MATCHER(BeginsWithACapital, "")
{
    return !arg.empty() && arg.front() >= 'A' && arg.front() <= 'Z';
}

} // namespace

TEST(Sentences, AllBeginAlikeWhateverRoomTheyComeFrom)
{
    const WorkFolder folder;
    const auto capture = writeCapture(folder / "a.pt");
    writeText(folder / "empty.pt", "");
    writeText(folder / "notes.txt", "hello\n");
    const std::vector<std::string> cases[] = {{"diagnoze"}, {"explain", folder.path().string()},
        {"explain", folder / "missing.pt"}, {"explain", folder / "empty.pt"}, {"diagnose", folder / "missing"},
        {"list", folder / "notes.txt"}, {"list", capture, "cells"}, {"sql", folder / "missing.nanscope", "select 1"},
        {"sql", folder / "a.pt", "select 1"}, {"report", capture, "-o", "out.pdf"},
        {"report", capture, "-o", folder / "no/folder/r.md"}, {"sweep", capture, "--variant", "nobody"},
        {"sweep", capture, "--device", "cuda:99"}, {"sweep", capture, "--epsilon", "nan"},
        {"export", capture, "--series", "loss"}, {"diff", capture}};
    for (const auto& arguments : cases) {
        const auto done = run(arguments);
        EXPECT_NE(done.status, 0) << arguments[0];
        EXPECT_THAT(done.errors(), SizeIs(1)) << arguments[0] << ": " << done.err;
        EXPECT_THAT(done.errors(), Each(BeginsWithACapital())) << arguments[0];
    }
}

TEST(Sentences, WarningsBeginLikeErrors)
{
    const WorkFolder folder;
    writeCapture(folder / "a.pt");
    writeText(folder / "b.pt", "");
    const auto done = run({"list", folder.path().string(), "captures", "--log-level", "info"});
    EXPECT_EQ(done.status, 3) << done.err;
    EXPECT_THAT(done.errors(), SizeIs(2)) << done.err;
    EXPECT_THAT(done.errors(), Each(BeginsWithACapital()));
}
