// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Captures of which the helper wrote the sidecar alone.
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "core/model/scenewords.h"
#include "core/tensorfile/capture/capturefile.h"
#include "fixtures.h"

namespace nanscope {

using testing::AllOf;
using testing::HasSubstr;

namespace {

constexpr auto fileName = "dion_nan_capture_rank3_shape2x4x6_pid123_1795234396390.json";

constexpr auto counts = R"({
    "input": [
        {"nan": 0, "inf": 0, "minus_inf": 0, "zero": 2, "absmax": 3.5, "absmin": 1e-3, "frobenius": 4.0,
         "singular_values": [0.25, 1, 1, 1, 1, 0.5, 1, 1, 1, 1, 3.0]},
        {"nan": 0, "inf": 0, "minus_inf": 0, "zero": 0, "absmax": 1, "absmin": 1, "frobenius": 2,
         "singular_values": null}],
    "output": [
        {"nan": 0, "inf": 0, "minus_inf": 0, "zero": 0, "absmax": 1, "absmin": 1, "frobenius": 2},
        {"nan": 5, "inf": 1, "minus_inf": 0, "zero": 0, "absmax": 1, "absmin": 1, "frobenius": 2}]})";

/// A sidecar as the helper writes it for a batch of two.
std::string sidecar(const std::string& fingerprint, const std::string& more = R"("privacy": "fingerprint")")
{
    return fmt::format(R"({{"schema": "nanscope.sidecar/1", "reason": "a non-finite output", "step": 41,
        "variant": "gns-gram", "epsilon": 1e-7,
        "input": {{"dtype": "torch.bfloat16", "shape": [2, 4, 6], "missing": null}},
        "output": {{"dtype": "torch.bfloat16", "shape": [2, 4, 6], "nonfinite": 6, "first_nonfinite": [1, 2, 3]}},
        "call": {{"other_tensors": 0}}, "retries": [{{"how": "same", "finite": false}}],
        "fingerprint": {}, {}}})",
        fingerprint, more);
}

class Sidecar : public testing::Test
{
protected:
    Result<tensorfile::CaptureFile> read(const std::string& text, const std::string& name = fileName)
    {
        return tensorfile::readCaptureOrCounts(folder.write(name, text));
    }
    std::string refusal(const std::string& text)
    {
        const auto file = read(text);
        return file ? "read" : file.error().what;
    }
    TemporaryFolder folder;
};

} // namespace

TEST_F(Sidecar, OfAFingerprintIsACapture)
{
    const auto file = read(sidecar(counts));
    ASSERT_TRUE(file) << sentence(file.error());
    const auto& capture = file->capture;
    EXPECT_FALSE(capture.hasTensors() || capture.holdsTheCall());
    EXPECT_EQ(capture.scene.withheld, Withheld::byPrivacy);
    EXPECT_EQ(capture.file, fileName);
    EXPECT_EQ(capture.rank, 3);
    EXPECT_EQ(capture.pid, 123);
    EXPECT_EQ(capture.timestampMs, 1795234396390);
    EXPECT_EQ(capture.step, 41);
    EXPECT_EQ(capture.variant, "gns-gram");
    EXPECT_EQ(capture.epsilon, 1e-7);
    EXPECT_FALSE(capture.identity.empty());
    EXPECT_EQ(capture.input.shape, (Shape {2, 4, 6}));
    EXPECT_EQ(capture.input.dtype, DType::bfloat16);
    const auto input = capture.input.total();
    EXPECT_EQ(input.count, 48);
    EXPECT_EQ(input.zero, 2);
    EXPECT_EQ(input.absmax, 3.5);
    EXPECT_EQ(input.sumSquares, 20);
    ASSERT_TRUE(capture.output);
    const auto output = capture.output->total();
    EXPECT_EQ(output.nan, 5);
    EXPECT_EQ(output.posInf, 1);
    EXPECT_EQ(output.firstNonFinite, 24 + 2 * 6 + 3) << "in the whole tensor";
    EXPECT_EQ(output.firstClass, ValueClass::nan);
    EXPECT_EQ(capture.scene.singular, (SingularValues {0.25, 0.5, 3.0}));
    EXPECT_EQ(capture.scene.calledAgain, 1);
}

TEST_F(Sidecar, SaysWhyThereIsNothingToReplay)
{
    const auto path = folder.write(fileName, sidecar(counts));
    const auto opened = tensorfile::openCapture(path);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().kind, ErrorKind::unsupported);
    EXPECT_THAT(opened.error().what,
        AllOf(HasSubstr("nothing to replay"), HasSubstr("NANSCOPE_CAPTURE_PRIVACY=fingerprint"),
            HasSubstr("NANSCOPE_CAPTURE_PRIVACY=rotate writes")));
    EXPECT_FALSE(tensorfile::readCapture(path)) << "of what asks for tensors";
    const auto identity = read(sidecar(counts))->capture.identity;
    EXPECT_TRUE(tensorfile::isThere({path.string(), identity}));
    EXPECT_FALSE(tensorfile::isThere({path.string(), "another"}));
    EXPECT_FALSE(tensorfile::isThere({(folder.path() / "gone.json").string(), identity}));
}

TEST_F(Sidecar, OfALimitOrALostInputSaysSo)
{
    const auto limited = read(sidecar(counts, R"("limits": {"no_tensors": "8 bytes are free"})"))->capture.scene;
    EXPECT_EQ(limited.withheld, Withheld::byLimit);
    EXPECT_THAT(withheldText(limited), HasSubstr("8 bytes are free"));
    auto text = sidecar("null");
    text.replace(text.find(R"("missing": null)"), 15, R"("missing": "nobody held it. KEEP=1 holds it")");
    const auto lost = read(text);
    ASSERT_TRUE(lost) << sentence(lost.error());
    EXPECT_EQ(lost->capture.scene.withheld, Withheld::inputLost);
    EXPECT_EQ(withheldText(lost->capture.scene), "the input could not be kept (nobody held it)");
    EXPECT_FALSE(lost->capture.input.scanned());
}

TEST_F(Sidecar, OfADumpIsReadWithTheDump)
{
    EXPECT_THAT(refusal(sidecar("null", R"("privacy": "none")")), HasSubstr("name the dump"));
    EXPECT_EQ(read(sidecar("null", R"("privacy": "none")")).error().kind, ErrorKind::unsupported)
        << "its dump may be on its way";
}

TEST_F(Sidecar, WrittenByHandMaySayThatOtherCodeRan)
{
    const auto path = folder.path() / "x.pt";
    const tensorfile::TensorToWrite input {"input", DType::float32, {2, 2}, std::vector<std::byte>(16)};
    ASSERT_TRUE(tensorfile::writePt(path, {{"input", input}}));
    const auto said = [&](const char* words) {
        folder.write("x.json", words);
        const auto file = tensorfile::openCapture(path);
        return file && file->otherCode;
    };
    EXPECT_TRUE(said(R"({"variant": "keller-jordan", "nothing_else": false})"));
    EXPECT_FALSE(said(R"({"nothing_else": true})"));
    EXPECT_FALSE(said(R"({"nothing_else": "false"})"));
    EXPECT_FALSE(said("{}"));
    EXPECT_FALSE(said(R"({"schema": "nanscope.sidecar/1", "nothing_else": false})")) << "a helper that was not told";
}

TEST_F(Sidecar, ThatIsTornOrNewerGivesOneSentence)
{
    const auto whole = sidecar(counts);
    EXPECT_THAT(refusal(whole.substr(0, whole.size() / 2)), HasSubstr("no JSON object"));
    EXPECT_THAT(refusal(""), HasSubstr("no JSON object"));
    EXPECT_THAT(refusal("[1]"), HasSubstr("no JSON object"));
    EXPECT_THAT(refusal("{}"), HasSubstr("says no schema"));
    EXPECT_THAT(refusal(std::string((1 << 20) + 1, ' ')), HasSubstr("larger than 1 MiB"));
    EXPECT_THAT(refusal(R"({"schema": "nanscope.sidecar/9"})"),
        AllOf(HasSubstr("\"nanscope.sidecar/9\""), HasSubstr("nanscope.sidecar/1")));
}

TEST_F(Sidecar, CountsNothingThatContradictsItself)
{
    const auto batches = [&](const std::string& fingerprint) {
        const auto file = read(sidecar(fingerprint));
        return file ? std::ssize(file->capture.input.batches) : -1;
    };
    const auto one = [](const std::string& nan, const std::string& zero) {
        return fmt::format(
            R"({{"input": [{{"nan": {}, "inf": 0, "minus_inf": 0, "zero": {}, "frobenius": 1}}]}})", nan, zero);
    };
    EXPECT_EQ(batches(one("24", "0")), 1);
    EXPECT_EQ(batches(one("25", "0")), 0) << "more than the matrix has";
    EXPECT_EQ(batches(one("20", "5")), 0);
    EXPECT_EQ(batches(one("-1", "0")), 0);
    EXPECT_EQ(batches(one("9223372036854775807", "9223372036854775807")), 0) << "nor is their sum taken";
    EXPECT_EQ(batches(one("\"nan\"", "0")), 0);
    EXPECT_EQ(batches("[]"), 0) << "dropped where the sidecar became too long";
    EXPECT_EQ(batches(R"({"input": [5, 5, 5]})"), 0) << "more matrices than there are";
    const auto shaped = [&](const std::string& shape) {
        auto text = sidecar(counts);
        const std::string own = "[2, 4, 6]";
        text.replace(text.find(own), own.size(), shape);
        return refusal(text);
    };
    for (const auto* shape : {"[]", "[0, 4]", "[-1, 4]", "5", "[4294967296, 4294967296, 4]", "[1.5, 2]", "null"}) {
        EXPECT_THAT(shaped(shape), HasSubstr("no shape and number format")) << shape;
    }
}

TEST_F(Sidecar, IsToldByItsName)
{
    EXPECT_TRUE(tensorfile::looksLikeSidecar(fileName));
    for (const auto* other :
        {"config.json", "dion_nan_capture_rank3_shape2x4_pid1_2.pt", "x.json", "nanscope_run_rank0_pid1_2.json"}) {
        EXPECT_FALSE(tensorfile::looksLikeSidecar(other)) << other;
    }
}

} // namespace nanscope
