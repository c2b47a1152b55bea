// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "samples.h"
#include "tests/core/replay/devicearound.h"

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

/// Gives up at the second replay.
class FailingDevice : public test::DeviceAround
{
public:
    explicit FailingDevice(ErrorKind kind)
        : m_kind(kind)
    { }
    Environment environment() const override { return {"torch 2.11.0", "cuda:0", "a GPU", {}, 1, {}}; }
    std::optional<Error> lost() const override
    {
        return m_prepared > 1 && m_kind == ErrorKind::io ? std::optional(gone()) : std::nullopt;
    }
    Result<void> prepare(const replay::Program& program, std::int64_t batch) override
    {
        return ++m_prepared > 1 ? tl::make_unexpected(gone()) : DeviceAround::prepare(program, batch);
    }

private:
    Error gone() const { return {m_kind, "the worker was ended by signal 9", {}}; }

    ErrorKind m_kind;
    int m_prepared = 0;
};

TEST(Measure, GoesToTheCpuWhereTheDeviceFails)
{
    const auto inputBatch = waveInputBatch({6, 10});
    nlohmann::ordered_json found;
    const auto measured = [&](instruments::Instrument instrument, ErrorKind kind) {
        instruments::CellChoice choice;
        choice.variant = "torch-muon";
        choice.device = "cuda:0";
        auto target =
            instruments::measuredCell(choice, [&](const std::string&) -> Result<std::unique_ptr<replay::Device>> {
                return std::make_unique<FailingDevice>(kind);
            });
        instruments::Measurement measurement(target->target(), inputBatch, {});
        const instruments::MeasureRequest request {instrument, {}, {}, {}, 3, {}, {}};
        const auto answer = instruments::measure(request, measurement, *target);
        found = answer ? instruments::toJson(std::get<instruments::ScaleAnswer>(*answer)) : nullptr;
        return answer ? instruments::measureText(instrument, measurement, *answer) : answer.error().what;
    };
    auto here = cellTarget("torch-muon");
    instruments::Measurement onCpu(here.target(), inputBatch, {});
    const instruments::MeasureRequest scale {instruments::Instrument::scale, {}, {}, {}, {}, {}, {}};
    const auto expected = instruments::measure(scale, onCpu, here);
    ASSERT_TRUE(expected);
    for (const auto kind : {ErrorKind::io, ErrorKind::refused}) {
        const auto text = measured(instruments::Instrument::scale, kind);
        EXPECT_THAT(
            text, ::testing::HasSubstr("Measured on the CPU, since cuda:0 failed: the worker was ended by signal 9"));
        EXPECT_EQ(found, instruments::toJson(std::get<instruments::ScaleAnswer>(*expected)));
        EXPECT_EQ(measured(instruments::Instrument::repeat, kind),
            "the worker was ended by signal 9; repeat asks the device and is not answered by another: choose cpu to "
            "ask the CPU");
    }
    EXPECT_EQ(measured(instruments::Instrument::scale, ErrorKind::internal), "the worker was ended by signal 9");
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
