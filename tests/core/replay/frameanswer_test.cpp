// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/rpc/answers.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include <gmock/gmock.h>

#include "core/replay/variants/variant.h"
#include "core/rpc/requests.h"
#include "tests/core/replay/framecapture.h"

namespace nanscope {

namespace {

using testing::HasSubstr;
using testing::StartsWith;
using Json = nlohmann::ordered_json;

class Answers : public testing::Test
{
protected:
    void SetUp() override
    {
        auto values = waveValues(300 * 5);
        values[7] = -INFINITY;
        values[8] = NAN;
        m_path = writeFrameCapture(m_folder / "x.pt", {300, 5}, values);
    }

    replay::FilmRequest request(Precision precision, bool compared = false) const
    {
        const replay::CellRequest cell {"gns-gram", precision, Lowering::fused, {}, {}, "cpu", true};
        return {m_path, cell, 0, compared ? replay::againstFp64(cell) : replay::Against {}};
    }

    replay::ReplayedFrame frame(
        Precision precision, std::size_t op, const std::optional<replay::Region>& region = {}) const
    {
        return replay::FrameReplay(replay::makeCoreDevice).frame({request(precision), op, region}).value();
    }

    /// As it comes out of the pipe.
    static Json sent(const rpc::PackedAnswer& answer) { return rpc::parseServiceLine(answer.json.dump()); }

    TemporaryFolder m_folder;
    std::string m_path;
};

std::vector<std::uint64_t> bits(const std::vector<double>& values)
{
    std::vector<std::uint64_t> result;
    std::ranges::transform(
        values, std::back_inserter(result), [](double value) { return std::bit_cast<std::uint64_t>(value); });
    return result;
}

void expectSame(const OpTrace& got, const OpTrace& sent)
{
    EXPECT_EQ(got.op, sent.op);
    EXPECT_EQ(got.iteration, sent.iteration);
    EXPECT_EQ(got.rows, sent.rows);
    EXPECT_EQ(got.cols, sent.cols);
    EXPECT_EQ(got.batches, sent.batches);
    EXPECT_EQ(got.tiles, sent.tiles);
}

TEST_F(Answers, AFilmComesThroughAsItWas)
{
    for (const bool compared : {false, true}) {
        const auto film = replay::replayFilm(request(Precision::bf16, compared), replay::makeCoreDevice).value();
        const auto packed = rpc::packFilm(film);
        ASSERT_TRUE(packed) << sentence(packed.error());
        const auto got = rpc::unpackFilm(sent(*packed));
        ASSERT_TRUE(got) << sentence(got.error());
        ASSERT_EQ(got->ops.size(), film.ops.size());
        for (std::size_t op = 0; op < film.ops.size(); ++op) {
            expectSame(got->ops[op], film.ops[op]);
        }
        EXPECT_EQ(got->distances, film.distances);
        EXPECT_EQ(got->cell.environment, film.cell.environment);
        EXPECT_EQ(got->cell.variant, "gns-gram");
        EXPECT_EQ(got->batches, 1);
        EXPECT_EQ(got->cell.gauges.size(), compared ? 0U : 5U);
        EXPECT_TRUE(packed->block.taken());
        EXPECT_THAT(sentence(rpc::unpackFilm(sent(*packed)).error()), StartsWith("The shared block is gone"));
    }
}

TEST_F(Answers, AFrameComesThroughBitForBit)
{
    for (const auto precision : {Precision::fp64, Precision::fp16}) {
        const auto frame = this->frame(precision, 0, replay::Region {1, 1, 9, 4});
        const auto packed = rpc::packFrame(frame);
        ASSERT_TRUE(packed);
        const auto got = rpc::unpackFrame(sent(*packed));
        ASSERT_TRUE(got) << sentence(got.error());
        expectSame(got->trace, frame.trace);
        EXPECT_EQ(got->op, frame.op);
        EXPECT_EQ(got->region, frame.region);
        EXPECT_EQ(bits(got->doubles), bits(frame.doubles));
        EXPECT_EQ(got->floats.size(), frame.floats.size());
        EXPECT_EQ(got->hasValues(), true);
    }
}

TEST_F(Answers, AFrameWithoutValuesSaysSo)
{
    auto frame = this->frame(Precision::fp32, 0);
    frame.floats.clear();
    frame.region = {};
    const auto packed = rpc::packFrame(frame);
    ASSERT_TRUE(packed);
    EXPECT_TRUE(packed->json["frame"]["values"].is_null());
    const auto got = rpc::unpackFrame(sent(*packed));
    ASSERT_TRUE(got);
    EXPECT_FALSE(got->hasValues());
    expectSame(got->trace, frame.trace);
}

TEST_F(Answers, NothingThatContradictsItselfIsBelieved)
{
    const auto frame = this->frame(Precision::fp32, 0, replay::Region {1, 1, 9, 4});
    const std::pair<const char*, Json> damages[] = {{"/frame/rows", -1}, {"/frame/rows", 1}, {"/frame/cols", 1.5},
        {"/frame/rows", 100000000000}, {"/frame/op", "dance"}, {"/frame/op", 3}, {"/frame/iteration", nullptr},
        {"/frame/index", -1}, {"/frame/scan", 7}, {"/frame/scan/count", -1}, {"/frame/scan/absmax", "much"},
        {"/frame/scan/first_nonfinite", 1500}, {"/frame/tiles", Json::object()}, {"/frame/tiles/at", -1},
        {"/frame/tiles/at", 100000}, {"/frame/tiles/at", INT64_MAX}, {"/frame/tiles/height", 7},
        {"/frame/tiles/tile_rows", 0}, {"/frame/tiles/tile_cols", 2}, {"/frame/values", 7},
        {"/frame/values/at", 1u << 30}, {"/frame/values/rows", 300}, {"/frame/values/cols", 5},
        {"/frame/values/row", INT64_MAX}, {"/frame/values/rows", INT64_MAX}, {"/frame/values/type", "float16"},
        {"/frame/batch", "first"}, {"/frame/cell", nullptr}, {"/frame/block/bytes", "all"}, {"/frame/block/name", 7}};
    for (const auto& [where, what] : damages) {
        const auto packed = rpc::packFrame(frame);
        ASSERT_TRUE(packed);
        auto answer = sent(*packed);
        answer[Json::json_pointer(where)] = what;
        const auto got = rpc::unpackFrame(answer);
        ASSERT_FALSE(got) << where << " " << what;
        EXPECT_THAT(got.error().what, HasSubstr("contradicts itself")) << where;
    }
}

TEST_F(Answers, BlocksOfAnotherSizeVersionOrKindAreRefused)
{
    const auto film = replay::replayFilm(request(Precision::fp32), replay::makeCoreDevice).value();
    auto packed = rpc::packFilm(film).value();
    auto answer = sent(packed);
    answer["film"]["block"]["bytes"] = packed.block.size() - 1;
    EXPECT_THAT(sentence(rpc::unpackFilm(answer).error()), HasSubstr("announced"));
    answer = sent(packed);
    answer["film"]["block"]["version"] = 2;
    EXPECT_THAT(sentence(rpc::unpackFilm(answer).error()), HasSubstr("another version"));
    answer["film"]["block"] = {{"version", 1}, {"name", "/nanscope-../x"}, {"bytes", 100}};
    EXPECT_THAT(sentence(rpc::unpackFilm(answer).error()), HasSubstr("names no shared block"));
    const auto stranger = platform::SharedBlock::create(packed.block.size()).value();
    answer = sent(packed);
    answer["film"]["block"]["name"] = stranger.name();
    EXPECT_THAT(sentence(rpc::unpackFilm(answer).error()), HasSubstr("contradicts itself"));
    for (const char* line : {"{}", R"({"film":7})", R"({"film":{}})", R"({"frame":[]})"}) {
        EXPECT_FALSE(rpc::unpackFilm(rpc::parseServiceLine(line)));
        EXPECT_FALSE(rpc::unpackFrame(rpc::parseServiceLine(line)));
    }
}

TEST_F(Answers, ADiscardedAnswerLeavesNothing)
{
    const auto packed =
        rpc::packFilm(replay::replayFilm(request(Precision::fp32), replay::makeCoreDevice).value()).value();
    EXPECT_FALSE(packed.block.taken());
    rpc::discardAnswer(Json {{"film", 3}});
    rpc::discardAnswer(sent(packed));
    EXPECT_TRUE(packed.block.taken());
}

TEST(PictureRequest, ComesBackAsItWasSent)
{
    replay::FrameRequest sent {
        {"a.pt", {"gns-gram", Precision::tf32, Lowering::fused, 1.0 / 3, 7, "cuda:0", false}, 3, {}}, 11,
        replay::Region {1, 2, 3, 4}};
    for (const auto& against :
        {replay::Against {}, replay::Against {replay::Against::Kind::output, {}}, replay::againstFp64(sent.film.cell),
            replay::Against {
                replay::Against::Kind::cell, {"torch-muon", Precision::bf16, Lowering::eager, {}, {}, "cpu", false}}}) {
        sent.film.against = against;
        const auto line = rpc::frameToJson(sent);
        const auto back = rpc::frameFromJson(rpc::parseServiceLine(line.dump()), {});
        ASSERT_TRUE(back) << sentence(back.error());
        EXPECT_TRUE(back->film == sent.film);
        EXPECT_EQ(back->op, 11U);
        EXPECT_EQ(back->region, sent.region);
    }
}

TEST(PictureRequest, WhatIsLeftOutIsTheVariantsOwn)
{
    const auto film = rpc::filmFromJson(
        rpc::parseServiceLine(R"({"capture":"a.pt","variant":"gns-gram","precision":"fp16","against":"fp64"})"), {});
    ASSERT_TRUE(film) << sentence(film.error());
    EXPECT_EQ(film->cell.lowering, replay::builtInVariant("gns-gram")->lowering);
    EXPECT_EQ(film->cell.device, "cpu");
    EXPECT_EQ(film->batch, 0);
    EXPECT_EQ(film->against.kind, replay::Against::Kind::cell);
    EXPECT_EQ(film->against.cell.precision, Precision::fp64);
}

TEST(PictureRequest, EveryMistakeIsOneSentence)
{
    const std::pair<const char*, const char*> cases[] = {{R"("capture":7)", "\"capture\" is not a string"},
        {R"("capture":"")", "\"capture\" is not a string"}, {R"("variant":null)", "\"variant\" is not a string"},
        {R"("variant":"nobody")", "nobody"}, {R"("precision":"fp8")", "'fp8' in \"precision\" is not known"},
        {R"("precision":16)", "\"precision\" is not a string"}, {R"("lowering":"lazy")", "\"lowering\""},
        {R"("lowering":1)", "\"lowering\""}, {R"("device":1)", "\"device\" is not a string"},
        {R"("epsilon":"small")", "\"epsilon\" is not a number"}, {R"("steps":0)", "1 to 100"},
        {R"("batch":-1)", "\"batch\" is not a whole number"}, {R"("batch":1.5)", "\"batch\""},
        {R"("batch":18446744073709551615)", "\"batch\""}, {R"("op":-1)", "\"op\" is not a whole number"},
        {R"("op":null)", "\"op\""}, {R"("op":"gram")", "\"op\""}, {R"("region":7)", "\"region\""},
        {R"("region":[1,2,3])", "\"region\""}, {R"("region":[1,2,3,-4])", "\"region\""},
        {R"("region":[1,2,3,"4"])", "\"region\""}, {R"("against":"fp32")", "\"against\""},
        {R"("against":[])", "\"against\""}, {R"("against":{})", "\"variant\" is not a string"},
        {R"("against":{"variant":"gns-gram"})", "\"precision\" is not a string"}};
    for (const auto& [part, why] : cases) {
        auto json = rpc::parseServiceLine(R"({"capture":"a.pt","variant":"gns-gram","precision":"fp16","op":1})");
        json.update(rpc::parseServiceLine(std::string("{") + part + "}"));
        const auto refused = rpc::frameFromJson(json, {});
        ASSERT_FALSE(refused) << part;
        EXPECT_THAT(sentence(refused.error()), HasSubstr(why)) << part;
        EXPECT_EQ(sentence(refused.error()).find('\n'), std::string::npos);
    }
}

} // namespace

} // namespace nanscope
