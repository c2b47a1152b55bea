// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>

#include <gmock/gmock.h>

#include "implfixture.h"

namespace nanscope {
namespace {

using ::testing::HasSubstr;
using testing::waveInputBatch;

constexpr auto functions = R"(
import torch
def ns(G, epsilon=1e-7):
    X = G.bfloat16()
    X = X / (X.norm(dim=(-2, -1), keepdim=True) + epsilon)
    for _ in range(5):
        A = X @ X.mT
        B = -4.7750 * A + (2.0315 * A) @ A
        X = 3.4445 * X + B @ X
    return X
def in_place(X, epsilon):
    return X.div_(X.norm() + epsilon)
def view(X, epsilon):
    return X.mT.contiguous().mT
def strides(X, epsilon):
    return X.new_tensor(X.stride(), dtype=torch.float64).repeat(X.numel()).reshape(-1)[:X.numel()].reshape(X.shape)
def pair(X, epsilon):
    return X, X
def whole(X, epsilon):
    return X.to(torch.int32)
def own(G, abc, steps, eps):
    from torch.optim._muon import _zeropower_via_newtonschulz
    return _zeropower_via_newtonschulz(G, abc, steps, eps)
@torch.compile(backend="eager")
def compiled(X, epsilon):
    return X * 2

def unwritten(X, epsilon):
    Y = torch.empty_like(X)
    Y[..., 1:] = X[..., 1:]
    return Y
)";

class TorchFunctions : public testing::ImplTest
{
protected:
    void SetUp() override
    {
        m_python = testing::firstOf({NANSCOPE_VENV_PYTHON});
        if (m_python.empty()) {
            GTEST_SKIP() << "there is no .deps/venv with torch: bootstrap makes it";
        }
        m_file = write(functions);
    }
    std::string m_file;
};

TEST_F(TorchFunctions, TheSameCallsGiveWhatTheReplayGives)
{
    const auto target = open(m_file + ":ns");
    ASSERT_NE(target, nullptr);
    EXPECT_THAT(target->facts().environment.engine, HasSubstr("torch"));
    const auto inputBatch = waveInputBatch({2, 12, 20}, DType::bfloat16);
    instruments::Measurement measurement(*target, inputBatch, {});
    const auto judged = measurement.ask();
    ASSERT_TRUE(judged && judged->answered()) << judged->reply.complaint;
    EXPECT_EQ(judged->reply.output->dtype, DType::bfloat16);
    EXPECT_EQ(judged->worst, Outcome::finite);
    const auto cell = testing::cellOf("keller-jordan", Precision::bf16);
    instruments::Measurement twin(*cell, inputBatch, {});
    const auto replayed = twin.ask();
    double distance = 0;
    for (std::size_t i = 0; i < judged->values.size(); ++i) {
        distance = std::max(distance, std::abs(judged->values[i] - replayed->values[i]));
    }
    EXPECT_LT(distance, 0.02);
    const auto spectrum = instruments::checkSpectrum(measurement, cell.get());
    ASSERT_TRUE(spectrum);
    EXPECT_THAT(spectrum->sentence, HasSubstr("as far as rounding allows"));
}

TEST_F(TorchFunctions, OfTorchsOwnMuonTheNumbersOfItsCallerAreInTheName)
{
    const auto inputBatch = waveInputBatch({12, 20}, DType::bfloat16);
    const auto outputOf = [&](instruments::Target& target) {
        instruments::Measurement measurement(target, inputBatch, {});
        const auto asked = measurement.ask();
        EXPECT_TRUE(asked && asked->answered());
        return asked ? asked->values : std::vector<double>();
    };
    for (const auto& [numbers, variant] :
        {std::pair(R"({"abc": [3.4445, -4.775, 2.0315], "steps": 6})", "torch-muon@6x"),
            {R"({"abc": [2, -1.5, 0.5], "steps": 9})", "torch-muon@9x2_-1.5_0.5"}}) {
        const auto target = open(m_file + ":own " + numbers);
        ASSERT_NE(target, nullptr);
        const auto values = outputOf(*target);
        const auto apart = [&](const char* other) {
            const auto replayed = outputOf(*testing::cellOf(other, Precision::bf16));
            double most = replayed.size() == values.size() ? 0 : INFINITY;
            for (std::size_t i = 0; i < replayed.size() && i < values.size(); ++i) {
                most = std::max(most, std::abs(values[i] - replayed[i]));
            }
            return most;
        };
        // A processor with products of bf16 of its own sums in another order.
        EXPECT_LT(apart(variant), 0.015) << variant;
        EXPECT_GT(apart("torch-muon@4x"), 0.03) << variant;
    }
}

TEST_F(TorchFunctions, InPlaceAliasedAndStridedTensorsAreTold)
{
    const auto inputBatch = waveInputBatch({6, 10});
    const auto inPlace = open(m_file + ":in_place");
    ASSERT_NE(inPlace, nullptr);
    instruments::Measurement measurement(*inPlace, inputBatch, {});
    const auto answer = instruments::checkInput(measurement);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->changed, 60);
    EXPECT_TRUE(answer->sharesStorage);

    const auto view = open(m_file + ":view");
    ASSERT_NE(view, nullptr);
    const auto reply = called(*view, inputBatch.input);
    ASSERT_TRUE(reply.output) << reply.complaint;
    EXPECT_EQ(reply.output->bytes, inputBatch.input.bytes) << "a view of other strides holds the same matrix";
    EXPECT_EQ(reply.inputChanged, 0);
    EXPECT_FALSE(reply.sharesStorage);
}

TEST_F(TorchFunctions, StridesOfTheCaptureArriveAndOtherAnswersAreRefused)
{
    auto input = waveInputBatch({6, 10}).input;
    input.strides = {1, 6};
    const auto strides = open(m_file + ":strides");
    ASSERT_NE(strides, nullptr);
    const auto seen = called(*strides, input);
    ASSERT_TRUE(seen.output) << seen.complaint;
    EXPECT_EQ(instruments::valuesOf(*seen.output)[0], 1);
    EXPECT_EQ(instruments::valuesOf(*seen.output)[1], 6);
    const auto pair = open(m_file + ":pair");
    EXPECT_EQ(called(*pair, input).complaint, "the function returned a tuple where a tensor was expected");
    const auto whole = open(m_file + ":whole");
    EXPECT_EQ(called(*whole, input).complaint, "the function returned elements of int32, not of a floating type");
}

TEST_F(TorchFunctions, AStormFindsAnElementThatIsNeverWritten)
{
    const auto target = open(m_file + ":unwritten");
    ASSERT_NE(target, nullptr);
    const auto inputBatch = waveInputBatch({16, 24});
    instruments::Measurement measurement(*target, inputBatch, {});
    instruments::StormRequest request;
    request.calls = 8;
    request.processes = 1;
    const auto answer = instruments::storm(measurement, target->choice(), request);
    ASSERT_TRUE(answer) << sentence(answer.error());
    const auto& filled = answer->legs[2];
    EXPECT_EQ(filled.name, "uninitialised memory filled with NaN");
    EXPECT_EQ(filled.count.nonFinite, 8);
    EXPECT_THAT(answer->sentence, HasSubstr("uninitialised memory filled with NaN (8 of 8)"));
    const auto& zeroed = answer->legs[3];
    EXPECT_EQ(zeroed.name, "uninitialised memory filled with zeros");
    EXPECT_EQ(zeroed.count.nonFinite, 0);
    EXPECT_THAT(answer->sentence,
        HasSubstr("against 0 of 8 under uninitialised memory filled with zeros; that is an element that nobody wrote"));
}

TEST_F(TorchFunctions, WhatIsCompiledHasNoControlOfZeros)
{
    const auto target = open(m_file + ":compiled");
    ASSERT_NE(target, nullptr);
    const auto inputBatch = waveInputBatch({16, 24});
    instruments::Measurement measurement(*target, inputBatch, {});
    instruments::StormRequest request;
    request.calls = 4;
    request.processes = 1;
    const auto answer = instruments::storm(measurement, target->choice(), request);
    ASSERT_TRUE(answer) << sentence(answer.error());
    EXPECT_THAT(answer->legs[3].skipped, HasSubstr("torch.compile"));
    EXPECT_THAT(answer->sentence, HasSubstr("not reproduced in this setting"));
}

/// What stands for two GPUs and their NCCL, on the CPU: each sum is a line in a file. A call takes long enough for
/// some.
constexpr auto linked = R"(
import contextlib, time, torch
zeros = torch.zeros
class Stream:
    def __init__(self, gpu): pass
    def synchronize(self): time.sleep(0.001)
def all_reduce(tensors, streams):
    with open(__file__ + ".sums", "a") as file:
        file.write(f"{len(tensors)} {len(streams)}\n")
torch.zeros = lambda *shape, device=None: zeros(1)
torch.cuda.device_count = lambda: 2
torch.cuda.Stream = Stream
torch.cuda.nccl.all_reduce = all_reduce
def f(X, epsilon):
    time.sleep(0.05)
    return X
)";

TEST_F(TorchFunctions, NcclSumsWhileTheyAreCalledAndNoLonger)
{
    const auto target = open(write(linked) + ":f");
    ASSERT_NE(target, nullptr);
    const auto inputBatch = waveInputBatch({3, 4});
    const auto sums = [&] {
        std::ifstream file((m_folder->path() / "kernels.py.sums").string());
        std::vector<std::string> lines;
        for (std::string line; std::getline(file, line);) {
            lines.push_back(line);
        }
        return lines;
    };
    instruments::BurstOptions options;
    options.calls = 4;
    ASSERT_TRUE(target->burst({inputBatch.input, 1e-7}, options, {}));
    EXPECT_TRUE(sums().empty());
    options.traffic = true;
    const auto burst = target->burst({inputBatch.input, 1e-7}, options, {});
    ASSERT_TRUE(burst) << sentence(burst.error());
    EXPECT_EQ(burst->calls.size(), 4U);
    const auto during = sums();
    ASSERT_GT(during.size(), 4U);
    EXPECT_EQ(during.front(), "2 2") << "a tensor and a stream for each GPU";
    options.traffic = false;
    ASSERT_TRUE(target->burst({inputBatch.input, 1e-7}, options, {}));
    EXPECT_EQ(sums().size(), during.size());
}

} // namespace
} // namespace nanscope
