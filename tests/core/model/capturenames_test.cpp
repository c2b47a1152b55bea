// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/model/capturenames.h"

#include <algorithm>
#include <map>

#include <gmock/gmock.h>

namespace nanscope {

namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Capture at(const std::string& path, std::optional<int> rank = std::nullopt)
{
    Capture capture;
    capture.path = path;
    capture.file = path.substr(path.rfind('/') + 1);
    capture.rank = rank;
    return capture;
}

std::vector<std::string> namesOf(std::vector<Capture> captures)
{
    nameCaptures(captures);
    std::vector<std::string> names;
    std::ranges::transform(captures, std::back_inserter(names), &Capture::file);
    return names;
}

RunData named(std::vector<Capture> captures)
{
    RunData run;
    run.captures = std::move(captures);
    nameCaptures(run.captures);
    return run;
}

Event dumped(const std::string& line, std::optional<int> rank = std::nullopt)
{
    Event event;
    event.kind = EventKind::captureDumped;
    event.capture = "dump.pt";
    event.text = line;
    event.rank = rank;
    return event;
}

std::string namedBy(const Event& event)
{
    auto run = named({at("/run/rank_0/dump.pt", 0), at("/run/rank_1/dump.pt", 1), at("/run/other.pt", 0)});
    run.events = {event};
    nameEvents(run);
    return run.events.front().capture;
}

TEST(CaptureNames, AreThoseOfTheFilesWhereTheseAreUnique)
{
    EXPECT_THAT(namesOf({at("/run/a.pt"), at("/run/rank_1/b.pt")}), ElementsAre("a.pt", "b.pt"));
}

TEST(CaptureNames, HaveAsMuchOfTheFoldersAsTellsThemApart)
{
    EXPECT_THAT(namesOf({at("/run/rank_0/dump.pt"), at("/run/rank_1/dump.pt"), at("/run/rank_1/else.pt")}),
        ElementsAre("rank_0/dump.pt", "rank_1/dump.pt", "else.pt"));
    EXPECT_THAT(namesOf({at("/x/first/rank_0/dump.pt"), at("/x/second/rank_0/dump.pt"), at("/x/second/dump.pt")}),
        ElementsAre("first/rank_0/dump.pt", "second/rank_0/dump.pt", "second/dump.pt"));
    EXPECT_THAT(namesOf({at("/dump.pt"), at("/a/dump.pt")}), ElementsAre("/dump.pt", "a/dump.pt"));
    EXPECT_THAT(namesOf({at("dump.pt"), at("a/dump.pt")}), ElementsAre("dump.pt#1", "a/dump.pt"));
}

TEST(CaptureNames, OfFilesInOnePlaceAreCounted)
{
    EXPECT_THAT(namesOf({at("/run/dump.pt"), at("/run/dump.pt"), at("/run/x/dump.pt")}),
        ElementsAre("dump.pt#1", "dump.pt#2", "x/dump.pt"));
}

TEST(CaptureNames, DoNotDependOnTheOrderInWhichCapturesCame)
{
    const std::vector<std::string> paths {
        "/a/rank_0/dump.pt", "/a/rank_1/dump.pt", "/b/rank_0/dump.pt", "/b/x/rank_1/dump.pt", "/b/dump.pt"};
    std::vector<CaptureName> atOnce;
    for (const auto& path : paths) {
        atOnce.push_back({"dump.pt", path});
    }
    tellApart(atOnce);
    auto order = paths;
    std::ranges::sort(order);
    do {
        std::vector<CaptureName> grown;
        for (const auto& path : order) {
            grown.push_back({"dump.pt", path});
            tellApart(grown);
        }
        for (const auto& one : grown) {
            const auto same = std::ranges::find(atOnce, one.path, &CaptureName::path);
            ASSERT_EQ(one.name, same->name) << one.path;
        }
    } while (std::ranges::next_permutation(order).found);
}

TEST(CaptureNames, ThatMeanTheirOwnStayAndNoneIsHandedOn)
{
    // The folders were exchanged since.
    std::vector<CaptureName> swapped {{"rank_0/dump.pt", "/run/rank_1/dump.pt"}, {"dump.pt", "/run/rank_0/dump.pt"}};
    tellApart(swapped);
    EXPECT_NE(swapped[1].name, "rank_0/dump.pt") << "what was said of it was said of the other";
    EXPECT_NE(swapped[0].name, swapped[1].name);
    std::vector<CaptureName> moved {{"rank_0/dump.pt", "/run/r0/dump.pt"}, {"rank_1/dump.pt", "/run/r1/dump.pt"}};
    tellApart(moved);
    EXPECT_EQ(moved[0].name, "rank_0/dump.pt");
    EXPECT_EQ(moved[1].name, "rank_1/dump.pt");
}

TEST(CaptureNames, OfThousandsOfFilesNamedAlikeAreAllDifferent)
{
    std::vector<Capture> captures;
    for (int rank = 0; rank < 64; ++rank) {
        for (int step = 0; step < 50; ++step) {
            captures.push_back(at("/r/step_" + std::to_string(step) + "/rank_" + std::to_string(rank) + "/dump.pt"));
        }
    }
    auto names = namesOf(captures);
    std::ranges::sort(names);
    EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

TEST(EventNames, FollowTheFoldersThatTheLineWrites)
{
    EXPECT_EQ(namedBy(dumped("Saved to /scratch/job/rank_1/dump.pt")), "rank_1/dump.pt");
    EXPECT_EQ(namedBy(dumped("path='rank_0/dump.pt', raising", 1)), "rank_0/dump.pt") << "it says so itself";
}

TEST(EventNames, FollowTheRankWhereTheLineWritesNoFolder)
{
    EXPECT_EQ(namedBy(dumped("Saved to dump.pt", 1)), "rank_1/dump.pt");
    EXPECT_EQ(namedBy(dumped("Saved to /tmp/dump.pt", 0)), "rank_0/dump.pt");
}

TEST(EventNames, NameNothingWhereTheLineDoesNotTell)
{
    EXPECT_EQ(namedBy(dumped("Saved to dump.pt")), "dump.pt");
    EXPECT_EQ(namedBy(dumped("Saved to dump.pt", 7)), "dump.pt") << "no dump of that rank is here";
}

TEST(CapturesCalled, ByNameByPathAndByTheEndOfOne)
{
    const auto run = named({at("/run/rank_0/dump.pt"), at("/run/rank_1/dump.pt"), at("/run/a.pt")});
    for (const auto* wanted : {"rank_1/dump.pt", "./rank_1/dump.pt", "run/rank_1/dump.pt", "/run/rank_1/dump.pt"}) {
        const auto called = capturesCalled(run, wanted);
        ASSERT_THAT(called, SizeIs(1)) << wanted;
        EXPECT_EQ(called.front(), &run.captures[1]);
    }
    EXPECT_THAT(capturesCalled(run, "a.pt"), SizeIs(1));
    EXPECT_THAT(capturesCalled(run, "dump.pt"), SizeIs(2));
    for (const auto* none : {"ump.pt", "k_1/dump.pt", "rank_2/dump.pt", ""}) {
        EXPECT_THAT(capturesCalled(run, none), IsEmpty()) << none;
    }
}

} // namespace

} // namespace nanscope
