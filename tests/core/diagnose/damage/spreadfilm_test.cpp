// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <gtest/gtest.h>

#include "core/diagnose/damage/spreadfilm.h"
#include "tests/core/replay/framecapture.h"

namespace nanscope {
namespace {

class Spreading : public testing::Test
{
protected:
    static constexpr std::int64_t rows = 12;
    static constexpr std::int64_t cols = 20;

    replay::FilmRequest request(
        OpName op, int iteration, const replay::Region& region, const std::vector<double>& output = {})
    {
        replay::FilmRequest wanted;
        wanted.capture =
            writeFrameCapture(m_folder / "x.pt", {1, rows, cols}, waveValues(std::size_t {rows * cols}), output);
        wanted.cell.variant = "gns-gram";
        replay::PlantedFault fault;
        fault.op = op;
        fault.iteration = iteration;
        fault.region = region;
        wanted.plant = fault;
        return wanted;
    }

    static diagnose::SpreadFilm film(const replay::FilmRequest& wanted)
    {
        auto made = diagnose::spreadFilm(wanted, replay::makeCoreDevice);
        EXPECT_TRUE(made) << sentence(made.error());
        return made.value_or(diagnose::SpreadFilm {});
    }

    TemporaryFolder m_folder;
};

TEST_F(Spreading, NamesTheDamageOfEachOp)
{
    const auto made = film(request(OpName::q, 4, {4, 1, 2, 3}));
    std::vector<std::string> names;
    bool planted = false;
    for (const auto& frame : made.frames) {
        planted = planted || frame.planted;
        EXPECT_EQ(frame.damage.count > 0, planted && frame.trace.op != OpName::z && frame.trace.op != OpName::r)
            << name(frame.trace.op) << frame.trace.iteration;
        if (frame.damage.count > 0) {
            names.push_back(std::string(name(frame.trace.op)) + " " + std::string(name(frame.damage.shape)));
        }
        EXPECT_FALSE(frame.distance);
    }
    EXPECT_EQ(names, (std::vector<std::string> {"q rectangle", "q rows", "update rows", "output rows"}));
    EXPECT_EQ(made.frames.back().damage.rowBegin, 4);
    EXPECT_EQ(made.frames.back().damage.rowEnd, 6);
    EXPECT_EQ(made.endsLikeDump, std::nullopt);
}

TEST_F(Spreading, IsHeldAgainstTheDump)
{
    std::vector<double> output(std::size_t {rows * cols}, 0.25);
    std::fill_n(output.begin() + 4 * cols, 2 * cols, NAN);
    EXPECT_EQ(film(request(OpName::q, 4, {4, 1, 2, 3}, output)).endsLikeDump, true);
    EXPECT_EQ(film(request(OpName::q, 4, {4, 1, 3, 3}, output)).endsLikeDump, false);
}

TEST_F(Spreading, AFiniteFaultIsMeasuredAgainstTheReplayWithoutIt)
{
    auto wanted = request(OpName::z, 2, {4, 1, 2, 3});
    wanted.plant->value = replay::PlantedValue::zero;
    const auto made = film(wanted);
    bool planted = false;
    for (const auto& frame : made.frames) {
        planted = planted || frame.planted;
        ASSERT_TRUE(frame.distance);
        EXPECT_EQ(*frame.distance > 0, planted) << name(frame.trace.op) << frame.trace.iteration;
        EXPECT_EQ(frame.damage.count, 0);
    }
}

TEST_F(Spreading, SaysWhatIsWrongAndCanBeCancelled)
{
    EXPECT_EQ(diagnose::spreadFilm(request(OpName::q, 4, {4, 1, 9, 3}), replay::makeCoreDevice).error().kind,
        ErrorKind::usage);
    JobContext job;
    job.progress = [&](const Progress& progress) {
        if (progress.done == 3) {
            job.cancel.cancel();
        }
    };
    EXPECT_EQ(diagnose::spreadFilm(request(OpName::q, 4, {4, 1, 2, 3}), replay::makeCoreDevice, job).error().kind,
        ErrorKind::cancelled);
}

} // namespace
} // namespace nanscope
