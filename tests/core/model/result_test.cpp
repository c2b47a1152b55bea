// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/base/result.h"

#include <new>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/guarded.h"

namespace nanscope {

namespace {

std::string said(const std::string& what, const std::string& path = {})
{
    return sentence({ErrorKind::format, what, path});
}

} // namespace

TEST(Sentence, BeginsWithACapitalHoweverTheRoomWroteIt)
{
    EXPECT_EQ(said("the sweep names no capture"), "The sweep names no capture");
    EXPECT_EQ(said("The file is empty"), "The file is empty");
    EXPECT_EQ(said("cancelled"), "Cancelled");
    EXPECT_EQ(said("cancelled; what was imported is kept"), "Cancelled; what was imported is kept");
    EXPECT_EQ(said("a report is one file"), "A report is one file");
}

TEST(Sentence, LeavesNamesAndQuotesAsTheyAre)
{
    for (const auto* what : {"cuda:0 is not there", "gns-gram has no limit", "a.pt is empty", "fp16 overflows",
             "'x' is not known", "torch's library is not loaded", "3 files are cut off", "é", ""}) {
        EXPECT_EQ(said(what), what);
    }
}

TEST(Sentence, EndsWithThePathUnchanged)
{
    EXPECT_EQ(said("no such file", "/runs/a b.pt"), "No such file: /runs/a b.pt");
    EXPECT_EQ(said("a", "b"), "A: b");
    EXPECT_EQ(said("", "b"), ": b");
}

TEST(WithPath, FillsInWhatIsNotThere)
{
    EXPECT_EQ(withPath({ErrorKind::format, "odd", ""}, "a.pt").path, "a.pt");
    EXPECT_EQ(withPath({ErrorKind::format, "odd", "b.pt"}, "a.pt").path, "b.pt");
}

TEST(Guarded, TurnsWhatWorkThrowsIntoAnErrorOfTheFile)
{
    const auto thrown = [](auto exception) {
        return guarded([&]() -> Result<int> { throw exception; }, "/runs/x.pt").error();
    };
    EXPECT_EQ(thrown(std::bad_alloc()).kind, ErrorKind::refused);
    EXPECT_EQ(thrown(std::length_error("vector")).kind, ErrorKind::refused);
    EXPECT_EQ(thrown(std::length_error("vector")).path, "/runs/x.pt");
    EXPECT_EQ(thrown(std::runtime_error("odd")).kind, ErrorKind::internal);
    EXPECT_EQ(sentence(thrown(std::runtime_error("odd"))), "An unexpected error came up (odd): /runs/x.pt");
}

TEST(Guarded, LeavesAnswersAndOrdinaryErrorsAsTheyAre)
{
    EXPECT_EQ(guarded([] { return Result<int>(7); }).value(), 7);
    const auto failed = guarded([]() -> Result<int> { return failure(ErrorKind::io, "no such file", "a.pt"); }, "b.pt");
    EXPECT_EQ(sentence(failed.error()), "No such file: a.pt");
    EXPECT_EQ(guarded([] { return 7; }), 7);
}

} // namespace nanscope
