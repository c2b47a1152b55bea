// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "core/ingest/formats/formats.h"

using namespace nanscope;

// Two formats of one priority would be asked in the order of their files' names: nobody chose that.
TEST(LogFormats, AreAskedInAnOrderOfTheirOwn)
{
    const auto& files = ingest::formatFiles();
    ASSERT_FALSE(files.empty());
    for (std::size_t i = 1; i < files.size(); ++i) {
        EXPECT_LT(files[i - 1].priority, files[i].priority);
    }
}

TEST(LogFormats, HaveNamesOfTheirOwn)
{
    std::set<std::string> names;
    for (const auto& format : ingest::allFormats()) {
        EXPECT_TRUE(names.emplace(format->name()).second) << format->name();
    }
    EXPECT_EQ(names.size(), ingest::formatFiles().size());
}

// A table and a file of JSON lines are nothing else; home-made lines fit what trainers print, too.
TEST(LogFormats, TakeTheLinesOfAnyTrainerLast)
{
    const auto formats = ingest::allFormats();
    const auto place = [&](std::string_view name) {
        return std::ranges::find(formats, name, [](const auto& format) { return format->name(); }) - formats.begin();
    };
    EXPECT_LT(place("jsonl"), place("torchtitan"));
    EXPECT_LT(place("csv"), place("torchtitan"));
    EXPECT_LT(place("torchtitan"), place("key-value"));
    EXPECT_LT(place("hf-console"), place("key-value"));
}
