// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/model/verdict.h"
#include "core/report/input/reportinput.h"
#include "core/reproduce/reproduce.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "core/platform/platform.h"
#include "core/replay/variants/variant.h"
#include "core/reproduce/pythonprogram.h"
#include "core/reproduce/reducedcapture.h"
#include "core/tensorfile/capture/capturefile.h"
#include "tests/core/session/temporaryfolder.h"

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

namespace nanscope {

namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

std::string pythonOf(const std::string& name, Precision precision, const MatrixShape& shape)
{
    const auto* variant = replay::builtInVariant(name);
    replay::CompileOptions options;
    options.precision = precision;
    options.rounding.lowering = variant->lowering;
    return reproduce::pythonFunction(*variant, *replay::compileProgram(*variant, shape, options));
}

/// Three matrices of which the second is damaged, and a verdict that names what ran.
class ReproducerFiles : public testing::Test
{
protected:
    void SetUp() override
    {
        for (std::size_t i = 0; i < m_values.size(); ++i) {
            m_values[i] = std::sin(static_cast<float>(i * i));
        }
        m_output = m_values;
        std::fill(m_output.begin() + 24, m_output.begin() + 48, nan);
    }

    Result<report::Reproducer> made(const reproduce::ReproducerOptions& options)
    {
        const auto tensor = [&](const char* name, const std::vector<float>& values) {
            const auto bytes = std::as_bytes(std::span(values));
            return tensorfile::TensorToWrite {name, DType::float32, {3, 4, 6}, {bytes.begin(), bytes.end()}};
        };
        const auto path = m_folder / "dump.pt";
        EXPECT_TRUE(
            tensorfile::writePt(path, {{"input", tensor("input", m_values)}, {"output", tensor("output", m_output)}}));
        auto file = tensorfile::readCapture(path);
        EXPECT_TRUE(file);
        file->capture.path = path.string();
        report::ReportInput input;
        input.run.captures = {file->capture};
        CaptureVerdict verdict;
        verdict.capture = file->capture.file;
        verdict.blame = m_blame;
        verdict.role = m_role;
        verdict.rule = m_rule;
        verdict.summary = "the output is what torch-muon gives, to 0.1 %";
        verdict.variant.names = {"torch-muon", "dion-ns5"};
        input.diagnosis.captures = {verdict};
        return reproduce::makeReproducer(input, options);
    }

    static nlohmann::json expectedOf(const report::Reproducer& made)
    {
        return nlohmann::json::parse(made.files[1].bytes);
    }

    TemporaryFolder m_folder;
    std::vector<float> m_values = std::vector<float>(3 * 4 * 6);
    std::vector<float> m_output;
    Blame m_blame = Blame::implementation;
    Role m_role = Role::birth;
    RuleId m_rule = RuleId::unjudged;
};

} // namespace

TEST(PythonProgram, IsALineForEachInstruction)
{
    const auto text = pythonOf("gns-gram", Precision::fp16, {1, 96, 160});
    EXPECT_THAT(text, HasSubstr("def gns_gram_fp16(op, x):\n"));
    EXPECT_THAT(text, HasSubstr("restart before step 3"));
    EXPECT_THAT(text, HasSubstr("# Step 2: a, b, c = 3.911484868135431, -2.5464635929060884, 0.4268988319673074\n"));
    EXPECT_THAT(text, HasSubstr("op.say(\"restart\", 3, op.mm(1, g5, x1, \"fp16\"))"));
    EXPECT_THAT(text, Not(HasSubstr("None")));
    const auto halfSums = pythonOf("gns-gram", Precision::fp16Acc16, {1, 96, 160});
    EXPECT_THAT(halfSums, HasSubstr("def gns_gram_fp16_acc16(op, x):\n")) << "a name in Python";
    EXPECT_THAT(halfSums, HasSubstr("op.mm(1, g5, x1, \"fp16-acc16\")"));
    const auto tall = pythonOf("gns-gram", Precision::fp16, {1, 160, 96});
    EXPECT_THAT(tall, AllOf(HasSubstr("op.cast(x.mT, \"fp32\")"), HasSubstr("return x8.mT\n")));
}

TEST(PythonProgram, EveryInstructionOfEveryVariantIsWritten)
{
    for (const auto& variant : replay::variants()) {
        for (const auto precision : {Precision::fp64, variant.precision}) {
            replay::CompileOptions options;
            options.precision = precision;
            options.rounding.lowering = variant.lowering;
            const auto program = replay::compileProgram(variant, {2, 8, 12}, options);
            ASSERT_TRUE(program) << variant.name;
            const auto text = reproduce::pythonFunction(variant, *program);
            EXPECT_THAT(text, Not(HasSubstr("None"))) << variant.name;
            std::size_t lines = 0;
            for (auto at = text.find(" = op."); at != std::string::npos; at = text.find(" = op.", at + 1)) {
                ++lines;
            }
            EXPECT_EQ(lines, program->code.size()) << variant.name;
        }
    }
}

TEST(PythonProgram, NamesAreOnesThatPythonTakes)
{
    EXPECT_EQ(reproduce::pythonName("dion-ns5", Precision::bf16), "dion_ns5_bf16");
    EXPECT_EQ(reproduce::pythonName("5 steps; import os", Precision::fp64), "v5_steps__import_os_fp64");
}

TEST(Sha256, IsThatOfTheStandard)
{
    EXPECT_EQ(reproduce::sha256(std::as_bytes(std::span("abc", 3))),
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_F(ReproducerFiles, KeepsTheDamagedMatrixBitForBit)
{
    reproduce::ReproducerOptions options;
    options.synthetic = false;
    const auto result = made(options);
    ASSERT_TRUE(result) << result.error().what;
    const auto expected = expectedOf(*result);
    EXPECT_THAT(expected["capture"]["elements"], ElementsAre(1));
    EXPECT_THAT(expected["capture"]["shape"], ElementsAre(1, 4, 6));
    EXPECT_EQ(expected["dump"]["whole"], true);
    EXPECT_EQ(expected["numbers"].size(), 4U) << "both that may have run, each in its own format and in fp64";
    EXPECT_EQ(expected["numbers"][2]["variant"], "dion-ns5");
    EXPECT_EQ(expected["expected_status"], 1) << "both stay finite";
    const auto& file = result->files[2];
    EXPECT_EQ(file.name, "capture_min.pt");
    EXPECT_EQ(expected["capture"]["sha256"], reproduce::sha256(std::as_bytes(std::span(file.bytes))));
    ASSERT_TRUE(platform::writeFileAtomically(m_folder / "min.pt", std::as_bytes(std::span(file.bytes))));
    const auto read = tensorfile::openCapture(m_folder / "min.pt");
    ASSERT_TRUE(read) << sentence(read.error());
    std::vector<float> values(24);
    ASSERT_TRUE(read->input.read(0, std::span(values)));
    EXPECT_TRUE(std::equal(values.begin(), values.end(), m_values.begin() + 24));
    EXPECT_TRUE(read->output);
}

TEST_F(ReproducerFiles, ATwinHoldsNeitherInputNorOutput)
{
    const auto result = made({});
    ASSERT_TRUE(result) << result.error().what;
    ASSERT_TRUE(platform::writeFileAtomically(m_folder / "min.pt", std::as_bytes(std::span(result->files[2].bytes))));
    const auto read = tensorfile::openCapture(m_folder / "min.pt");
    ASSERT_TRUE(read);
    EXPECT_FALSE(read->output);
    EXPECT_EQ(expectedOf(*result)["capture"]["synthetic"], true);
    EXPECT_THAT(result->readme, HasSubstr("No captured number was put into it"));
}

TEST_F(ReproducerFiles, OnlyTheSamePatternIsTheSameDamage)
{
    // Beyond bf16: the cast makes Inf of it, and Inf / Inf is NaN in all of the matrix.
    m_blame = Blame::numerics;
    for (auto i = 24; i < 48; ++i) {
        m_values[static_cast<std::size_t>(i)] = 3.4e38F;
    }
    reproduce::ReproducerOptions options;
    options.synthetic = false;
    EXPECT_EQ(expectedOf(*made(options))["expected_status"], 0);
    m_output[30] = 1;
    const auto other = made(options);
    EXPECT_EQ(expectedOf(*other)["expected_status"], 1) << "one element is finite";
    EXPECT_THAT(other->why, HasSubstr("under some roundings of the verdict"));
    EXPECT_THAT(made({})->why, HasSubstr("The twin leaves the finite, too, but the places"));
}

TEST_F(ReproducerFiles, WhatTheNumbersDoIsMadeSmallUnlessAskedNotTo)
{
    m_blame = Blame::numerics;
    std::fill(m_values.begin() + 24, m_values.begin() + 48, 3.4e38F);
    reproduce::ReproducerOptions options;
    options.synthetic = false;
    const auto small = made(options);
    ASSERT_TRUE(small) << small.error().what;
    const auto expected = expectedOf(*small);
    EXPECT_THAT(expected["capture"]["minimised"]["from"], ElementsAre(1, 4, 6));
    EXPECT_THAT(expected["capture"]["shape"], ElementsAre(1, 1, 3)) << "wide still, and neither side a multiple of 8";
    EXPECT_EQ(expected["capture"]["minimised"]["elements_left"], 1);
    EXPECT_EQ(expected["shown"]["not_finite"], 3);
    EXPECT_EQ(expected["whole"], nullptr);
    EXPECT_EQ(expected["expected_status"], 0);
    EXPECT_THAT(
        small->capture, AllOf(HasSubstr("1x1x3 of 1x4x6, 1 of 3 elements not zero"), HasSubstr("may be private")));
    EXPECT_EQ(small->files.size(), 3U);

    options.minimise = false;
    const auto whole = made(options);
    EXPECT_THAT(expectedOf(*whole)["capture"]["shape"], ElementsAre(1, 4, 6));
    EXPECT_EQ(expectedOf(*whole)["capture"]["minimised"], nullptr);
    EXPECT_THAT(whole->capture, HasSubstr("It is whole: it was not to be made smaller (--no-minimise)"));
}

TEST_F(ReproducerFiles, WhereMoreThanTheNumbersMayBeAtFaultTheWholeIsThereToo)
{
    m_blame = Blame::undecided;
    std::fill(m_values.begin() + 24, m_values.begin() + 48, 3.4e38F);
    reproduce::ReproducerOptions options;
    options.synthetic = false;
    const auto result = made(options);
    ASSERT_EQ(result->files.size(), 4U);
    EXPECT_EQ(result->files[3].name, "capture_whole.pt");
    const auto expected = expectedOf(*result);
    EXPECT_THAT(expected["whole"]["shape"], ElementsAre(1, 4, 6));
    EXPECT_EQ(expected["whole"]["sha256"], reproduce::sha256(std::as_bytes(std::span(result->files[3].bytes))));
    EXPECT_THAT(result->readme, HasSubstr("capture_whole.pt\n"));
    m_blame = Blame::implementation;
    m_values = std::vector<float>(m_values.size(), 1);
    const auto innocent = made(options);
    EXPECT_EQ(innocent->files.size(), 3U);
    EXPECT_THAT(innocent->capture,
        HasSubstr("no replay of it ends like the dump, so nothing tells which smaller matrix would fail"));
}

TEST_F(ReproducerFiles, OfAHealthyCaptureOneSaysThatThereIsNoDamage)
{
    m_output = m_values;
    m_blame = Blame::undecided;
    m_role = Role::healthy;
    m_rule = RuleId::fits;
    const auto healthy = made({});
    ASSERT_TRUE(healthy) << sentence(healthy.error());
    EXPECT_EQ(healthy->expectedStatus, 0);
    EXPECT_THAT(healthy->why,
        AllOf(HasSubstr("The capture is healthy: the output is what torch-muon gives"), Not(HasSubstr("fault"))));
    EXPECT_THAT(healthy->readme, Not(HasSubstr("where the damage is reproduced")));
    EXPECT_THAT(healthy->capture, HasSubstr("It is whole: it is healthy"));
    EXPECT_TRUE(expectedOf(*healthy)["healthy"].get<bool>());
    EXPECT_TRUE(expectedOf(*healthy)["numbers"][0]["like_dump"].get<bool>());
    m_rule = RuleId::finiteOfNoKnownVariant;
    const auto suspect = made({});
    ASSERT_TRUE(suspect);
    EXPECT_EQ(suspect->expectedStatus, 1);
    EXPECT_FALSE(expectedOf(*suspect)["healthy"].get<bool>());
}

TEST_F(ReproducerFiles, WhatCannotBeMadeIsSaid)
{
    m_values[30] = nan;
    EXPECT_THAT(made({}).error().what, HasSubstr("not finite"));
    reproduce::ReproducerOptions small;
    small.limit = 100;
    EXPECT_EQ(made(small).error().kind, ErrorKind::refused);
    m_values[30] = 0;
    reproduce::ReproducerOptions hidden;
    hidden.hidden = {{"torch-muon", "x", 0}};
    EXPECT_THAT(made(hidden).error().what, HasSubstr("to be hidden"));
    EXPECT_THAT(reproduce::reproducerOrReason({}, {})->readme, HasSubstr("There is no repro.py: there is no capture"));
}

} // namespace nanscope
