// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "samples.h"

namespace nanscope {
namespace {

using testing::waveInputBatch;

instruments::MeasuredTarget cellTarget(const std::string& variant)
{
    instruments::CellChoice choice;
    choice.variant = variant;
    auto target = instruments::measuredCell(choice, replay::makeCoreDevice);
    EXPECT_TRUE(target) << sentence(target.error());
    return std::move(*target);
}

TEST(Measure, InstrumentsAreKnownByTheirNames)
{
    for (const auto instrument : instruments::everyInstrument) {
        EXPECT_EQ(instruments::findInstrument(instruments::name(instrument)), instrument);
    }
    const auto unknown = instruments::findInstrument("sclae");
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().kind, ErrorKind::usage);
    EXPECT_THAT(unknown.error().what, ::testing::HasSubstr("the nearest are scale"));
}

TEST(Measure, TheAnswerIsThatOfTheInstrument)
{
    auto target = cellTarget("torch-muon");
    const auto inputBatch = waveInputBatch({6, 10});
    instruments::Measurement measurement(target.target(), inputBatch, {});
    instruments::MeasureRequest request;
    request.instrument = instruments::Instrument::repeat;
    request.calls = 3;
    const auto answer = instruments::measure(request, measurement, target);
    ASSERT_TRUE(answer) << sentence(answer.error());
    const auto* repeat = std::get_if<instruments::RepeatAnswer>(&*answer);
    ASSERT_NE(repeat, nullptr);
    EXPECT_EQ(repeat->count.calls, 3);
    EXPECT_THAT(
        instruments::measureText(request.instrument, measurement, *answer), ::testing::StartsWith("Repeat of "));
    EXPECT_EQ(instruments::measureJson(request.instrument, measurement, *answer)["instrument"], "repeat");
}

// Rows that are scaled one by one turn the directions of the input, and a rescaled result has another norm: what would
// be far outside of its schedule's range elsewhere is not degenerate there.
TEST(Measure, NothingIsDegenerateWhereDirectionsAreTurned)
{
    for (const auto* variant : {"nanochat", "turbo-muon"}) {
        auto target = cellTarget(variant);
        EXPECT_TRUE(target.target().facts().turnsDirections) << variant;
        auto inputBatch = waveInputBatch({8, 40}, DType::float32, 1);
        instruments::Measurement measurement(target.target(), inputBatch, {});
        const auto judged = measurement.ask();
        ASSERT_TRUE(judged) << sentence(judged.error());
        EXPECT_EQ(judged->worst, Outcome::finite) << variant;
    }
    EXPECT_FALSE(cellTarget("torch-muon").target().facts().turnsDirections);
}

} // namespace
} // namespace nanscope
