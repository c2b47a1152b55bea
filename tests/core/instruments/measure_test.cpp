// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "samples.h"

namespace nanscope {
namespace {

using testing::waveSpecimen;

instruments::MeasuredSubject cellSubject(const std::string& variant)
{
    instruments::CellChoice choice;
    choice.variant = variant;
    auto subject = instruments::measuredCell(choice, replay::makeCoreDevice);
    EXPECT_TRUE(subject) << sentence(subject.error());
    return std::move(*subject);
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
    auto subject = cellSubject("torch-muon");
    const auto specimen = waveSpecimen({6, 10});
    instruments::Asker asker(subject.subject(), specimen, {});
    instruments::MeasureRequest request;
    request.instrument = instruments::Instrument::repeat;
    request.calls = 3;
    const auto answer = instruments::measure(request, asker, subject);
    ASSERT_TRUE(answer) << sentence(answer.error());
    const auto* repeat = std::get_if<instruments::RepeatAnswer>(&*answer);
    ASSERT_NE(repeat, nullptr);
    EXPECT_EQ(repeat->count.calls, 3);
    EXPECT_THAT(instruments::measureText(request.instrument, asker, *answer), ::testing::StartsWith("Repeat of "));
    EXPECT_EQ(instruments::measureJson(request.instrument, asker, *answer)["instrument"], "repeat");
}

// Rows that are scaled one by one turn the directions of the input, and a rescaled result has another norm: what would
// be far outside of its schedule's range elsewhere is not degenerate there.
TEST(Measure, NothingIsDegenerateWhereDirectionsAreTurned)
{
    for (const auto* variant : {"nanochat", "turbo-muon"}) {
        auto subject = cellSubject(variant);
        EXPECT_TRUE(subject.subject().facts().turnsDirections) << variant;
        auto specimen = waveSpecimen({8, 40}, DType::float32, 1);
        instruments::Asker asker(subject.subject(), specimen, {});
        const auto judged = asker.ask();
        ASSERT_TRUE(judged) << sentence(judged.error());
        EXPECT_EQ(judged->worst, Outcome::finite) << variant;
    }
    EXPECT_FALSE(cellSubject("torch-muon").subject().facts().turnsDirections);
}

} // namespace
} // namespace nanscope
