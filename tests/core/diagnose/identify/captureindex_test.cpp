// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "core/diagnose/identify/captureindex.h"
#include "core/model/verdict.h"

namespace nanscope {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Scan scanOf(double absmax, std::int64_t nan = 0)
{
    Scan scan;
    scan.count = 64;
    scan.absmax = absmax;
    scan.minNonzero = absmax / 8;
    scan.sumSquares = 3 * absmax;
    scan.nan = nan;
    return scan;
}

struct Place
{
    int rank = 0;
    int pid = 7;
    std::int64_t time = 0;
};

class Dumps
{
public:
    /// `input` stands for its bits.
    Capture& add(const Place& place, double input, bool damaged = false)
    {
        Capture capture;
        capture.id = static_cast<std::int64_t>(run.captures.size()) + 1;
        capture.file = fmt::format("{}.pt", capture.id);
        capture.path = "/run/" + capture.file;
        capture.rank = place.rank;
        capture.pid = place.pid;
        capture.timestampMs = place.time;
        capture.timestampFromName = true;
        capture.input.shape = {1, 8, 8};
        capture.input.batches = {scanOf(input)};
        capture.output = capture.input;
        capture.output->batches = {scanOf(1, damaged ? 8 : 0)};
        return run.captures.emplace_back(std::move(capture));
    }

    std::vector<std::string> clean(std::size_t of) const
    {
        return namesOf(diagnose::CaptureIndex(run).cleanWithInputOf(run.captures[of]));
    }

    std::vector<std::string> controls(std::size_t of) const
    {
        return namesOf(diagnose::CaptureIndex(run).controlsOf(run.captures[of], 3));
    }

    std::vector<std::string> before(std::size_t of, std::size_t most = 8) const
    {
        return namesOf(diagnose::CaptureIndex(run).before(run.captures[of], most));
    }

    RunData run;

private:
    static std::vector<std::string> namesOf(const std::vector<const Capture*>& captures)
    {
        std::vector<std::string> names;
        std::ranges::transform(captures, std::back_inserter(names), [](const Capture* c) { return c->file; });
        return names;
    }
};

TEST(CaptureIndex, FindsCleanOnesOfTheSameCounts)
{
    Dumps run;
    run.add({0, 7, 1}, 2.5, true);
    run.add({1, 8, 2}, 2.5);
    run.add({1, 8, 3}, 2.25);
    run.add({2, 9, 4}, 2.5, true);
    run.add({3, 9, 5}, 2.5).input.shape = {8, 8};
    run.add({0, 7, 6}, 2.5);
    EXPECT_THAT(run.clean(0), ElementsAre("2.pt", "6.pt"));
    EXPECT_THAT(run.clean(1), ElementsAre("6.pt")) << "a capture is no twin of itself";
}

TEST(CaptureIndex, ZerosAreNobodysTwins)
{
    Dumps run;
    run.add({0, 7, 1}, 0, true).input.batches[0].zero = 64;
    run.add({1, 8, 2}, 0).input.batches[0].zero = 64;
    EXPECT_THAT(run.clean(0), IsEmpty());
}

TEST(CaptureIndex, NamesEveryVerdictsCapture)
{
    Dumps run;
    run.add({0, 7, 1}, 1);
    run.add({0, 7, 2}, 2);
    const diagnose::CaptureIndex index(run.run);
    CaptureVerdict verdict;
    verdict.capture = "2.pt";
    verdict.captureId = 2;
    EXPECT_EQ(index.of(verdict), &run.run.captures[1]);
    verdict.captureId = 1;
    EXPECT_EQ(index.of(verdict), nullptr) << "two runs may hold files of one name";
}

TEST(CaptureIndex, ControlsAreThoseThatALookAtEachOneFinds)
{
    Dumps run;
    for (int i = 0; i < 60; ++i) {
        auto& capture = run.add({i % 3, i % 3 + (i > 40 ? 10 : 0), i}, 1.0 + i, i % 7 == 0);
        if (i % 4 == 0) {
            capture.variant = i % 8 == 0 ? "gns-gram" : "keller-jordan";
        }
        if (i % 5 == 0) {
            capture.epsilon = 1e-7;
        }
    }
    const auto& captures = run.run.captures;
    for (std::size_t of = 0; of < captures.size(); ++of) {
        std::vector<std::string> expected;
        for (const auto& other : captures) {
            if (diagnose::isControlOf(other, captures[of]) && expected.size() < 3) {
                expected.push_back(other.file);
            }
        }
        EXPECT_EQ(run.controls(of), expected) << of;
    }
    EXPECT_EQ(run.controls(4).size(), 3U);
}

TEST(CaptureIndex, NoControlIsOfOtherCodeNorOfOtherValues)
{
    Dumps run;
    run.add({0, 7, 1}, 1, true);
    run.add({0, 7, 2}, 2);
    ASSERT_THAT(run.controls(0), ElementsAre("2.pt"));
    auto& damaged = run.run.captures[0].scene;
    auto& healthy = run.run.captures[1].scene;
    damaged.sourceHash = "a1";
    EXPECT_THAT(run.controls(0), ElementsAre("2.pt")) << "of the other nobody says what was called";
    healthy.sourceHash = "a2";
    EXPECT_THAT(run.controls(0), IsEmpty());
    healthy = damaged;
    healthy.rotated = true;
    EXPECT_THAT(run.controls(0), IsEmpty()) << "turned at random";
    healthy.rotated = false;
    healthy.withheld = Withheld::byPrivacy;
    EXPECT_THAT(run.controls(0), IsEmpty()) << "nothing to replay";
}

TEST(CaptureIndex, WhatCameBeforeIsOfOneProcessAndNearestFirst)
{
    Dumps run;
    run.add({0, 7, 30}, 1);
    run.add({0, 7, 10}, 2);
    run.add({0, 7, 20}, 3);
    run.add({0, 8, 15}, 4); // another attempt
    run.add({1, 7, 15}, 5); // another rank
    run.add({0, 7, 25}, 6).input.shape = {8, 8};
    run.add({0, 7, 26}, 7).timestampFromName = false;
    EXPECT_THAT(run.before(0), ElementsAre("3.pt", "2.pt"));
    EXPECT_THAT(run.before(0, 1), ElementsAre("3.pt"));
    EXPECT_THAT(run.before(1), IsEmpty()) << "nothing came before the first";
    EXPECT_THAT(run.before(6), IsEmpty()) << "whoever copied the file gave it its time";
    run.run.captures[0].pid.reset();
    EXPECT_THAT(run.before(0), IsEmpty());
}

TEST(CaptureIndex, ThousandsTakeNoTime)
{
    Dumps run;
    for (int i = 0; i < 20'000; ++i) {
        run.add({i % 8, i % 8, i}, 1.0 + i, i % 4 == 0);
    }
    const diagnose::CaptureIndex index(run.run);
    for (const auto& capture : run.run.captures) {
        EXPECT_THAT(index.cleanWithInputOf(capture), IsEmpty());
        EXPECT_LE(index.controlsOf(capture, 3).size(), 3U);
    }
}

} // namespace
} // namespace nanscope
