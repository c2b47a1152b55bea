// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Dumps that torch wrote on four and eight ranks, against what DTensor.full_tensor() made of them there; see
// tests/reference/make_shards.py.
#include <gmock/gmock.h>

#include <cmath>
#include <fstream>

#include <nlohmann/json.hpp>

#include "core/shards/shards.h"
#include "core/tensorfile/convert.h"
#include "tests/core/tensorfile/fixtures.h"

namespace nanscope {

using testing::IsEmpty;

namespace {

using Json = nlohmann::json;

const std::filesystem::path folder = std::filesystem::path(NANSCOPE_TEST_DATA) / "shards";

Json expectedIn(const std::filesystem::path& path)
{
    std::ifstream file(path / "expected.json");
    return Json::parse(file);
}

std::vector<std::byte> bytesOfHex(const std::string& text)
{
    std::vector<std::byte> bytes;
    for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
        bytes.push_back(static_cast<std::byte>(std::stoi(text.substr(i, 2), nullptr, 16)));
    }
    return bytes;
}

/// Counts of classes in torch's own result, taken by nothing of the code under test but the conversion of a number.
std::pair<std::int64_t, std::int64_t> nonFiniteIn(const std::string& bits, DType dtype)
{
    const auto bytes = bytesOfHex(bits);
    std::vector<double> values(bytes.size() / sizeOf(dtype));
    tensorfile::convert(dtype, bytes.data(), values.size(), values.data());
    std::int64_t nan = 0;
    std::int64_t infinite = 0;
    for (const auto value : values) {
        nan += std::isnan(value) ? 1 : 0;
        infinite += std::isinf(value) ? 1 : 0;
    }
    return {nan, infinite};
}

std::vector<tensorfile::CaptureFile> capturesIn(const std::filesystem::path& path)
{
    std::vector<tensorfile::CaptureFile> captures;
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
        auto file = tensorfile::openCapture(entry.path());
        EXPECT_TRUE(file) << sentence(file.error());
        EXPECT_TRUE(file && tensorfile::scanCapture(*file));
        captures.push_back(std::move(*file));
    }
    return captures;
}

void expectPlaces(const shards::Stitched& tensor, const Json& ranks, const std::string& name)
{
    for (const auto& shard : tensor.shards) {
        const auto& facts = ranks.at(std::to_string(shard.place.rank.value_or(-1)));
        EXPECT_EQ(*shard.place.coordinate, facts["coordinate"].get<Shape>()) << name;
        EXPECT_EQ(shard.tensor.shape(), facts["local"].get<Shape>()) << name;
        EXPECT_EQ(tensor.sharding.mesh.shape().size(), facts["coordinate"].size()) << name;
    }
}

/// One call of a case: the input is what torch gathered on every rank that took part.
void expectWhole(const shards::Stitched& tensor, const Json& ranks, const std::string& name)
{
    ASSERT_FALSE(tensor.shards.empty()) << name;
    const auto& facts = ranks.at(std::to_string(*tensor.shards.front().place.rank));
    expectPlaces(tensor, ranks, name);
    EXPECT_TRUE(tensor.complete()) << name;
    EXPECT_THAT(tensor.missing, IsEmpty()) << name;
    EXPECT_THAT(tensor.unused, IsEmpty()) << name;
    EXPECT_THAT(tensor.drift, IsEmpty()) << name;
    EXPECT_EQ(tensor.sharding.shape, facts["shape"].get<Shape>()) << name;
    const auto bytes = shards::logicalBytes(tensor);
    ASSERT_TRUE(bytes) << name << sentence(bytes.error());
    const auto bits = facts["bits"].get<std::string>();
    EXPECT_EQ(fixtures::hex(*bytes), bits) << name;
    const auto [nan, infinite] = nonFiniteIn(bits, tensor.dtype);
    EXPECT_EQ(tensor.logical.nan, nan) << name;
    EXPECT_EQ(tensor.logical.posInf + tensor.logical.negInf, infinite) << name;
    EXPECT_EQ(tensor.logicalNonFinite(), nan + infinite > 0) << name;
}

void expectCase(const std::filesystem::path& path, const Json& ranks)
{
    const auto captures = capturesIn(path);
    ASSERT_EQ(captures.size(), ranks.size()) << path;
    const auto matched = shards::matchShards(captures);
    EXPECT_THAT(matched.unmatched, IsEmpty()) << path;
    std::size_t used = 0;
    for (const auto& set : matched.sets) {
        used += set.captures.size();
        for (const auto side : {shards::ShardSide::input, shards::ShardSide::output}) {
            const auto tensor = shards::stitch(shards::shardsOf(captures, set, side));
            ASSERT_TRUE(tensor) << path << sentence(tensor.error());
            expectWhole(*tensor, ranks, path.filename().string());
        }
    }
    EXPECT_EQ(used, captures.size()) << path;
}

shards::Stitched inputOf(const std::string& name)
{
    const auto captures = capturesIn(folder / name);
    const auto matched = shards::matchShards(captures);
    EXPECT_EQ(matched.sets.size(), 1U) << name;
    auto tensor = shards::stitch(shards::shardsOf(captures, matched.sets.front(), shards::ShardSide::input));
    EXPECT_TRUE(tensor) << name;
    return tensor.value_or(shards::Stitched {});
}

} // namespace

TEST(TorchShards, EveryCaseIsWhatTorchGathers)
{
    const auto cases = expectedIn(folder);
    ASSERT_GE(cases.size(), 23U);
    for (const auto& [name, ranks] : cases.items()) {
        if (name != "descending") {
            expectCase(folder / name, ranks);
        }
    }
}

TEST(TorchShards, NothingIsClaimedWhereTorchMixesUpPlacesAndRanks)
{
    // distribute_tensor() itself scatters by rank there, and full_tensor() is not what was distributed.
    const auto matched = shards::matchShards(capturesIn(folder / "descending"));
    EXPECT_THAT(matched.sets, IsEmpty());
    ASSERT_EQ(matched.unmatched.size(), 4U);
    EXPECT_THAT(matched.unmatched[0].how, testing::HasSubstr("ranks do not ascend"));
}

TEST(TorchShards, OlderAndNewerVersionsAreReadAlike)
{
    for (const auto* version : {"torch26", "torch215"}) {
        const auto cases = expectedIn(folder / version);
        ASSERT_GE(cases.size(), 5U);
        for (const auto& [name, ranks] : cases.items()) {
            expectCase(folder / version / name, ranks);
        }
    }
}

TEST(TorchShards, ASlicedMeshGivesATensorPerSlice)
{
    for (const auto* name : {"sliced", "torch26/sliced", "torch215/sliced", "flattened", "torch215/flattened"}) {
        EXPECT_EQ(shards::matchShards(capturesIn(folder / name)).sets.size(), 2U) << name;
    }
}

TEST(TorchShards, SumsOverflowOnlyInTheWhole)
{
    for (const auto* name : {"sum_overflow", "sum_overflow_bf16"}) {
        const auto tensor = inputOf(name);
        EXPECT_FALSE(tensor.partsNonFinite()) << name;
        EXPECT_EQ(tensor.logicalNonFinite(), true) << name;
        ASSERT_TRUE(tensor.partial && tensor.partial->wide) << name;
        EXPECT_EQ(tensor.partial->own.overflowed, 3) << name;
        EXPECT_EQ(tensor.partial->wide->overflowed, 3) << name;
    }
    EXPECT_EQ(inputOf("sum_overflow").partial->wideOverflowed, 0) << "120,000 fits into fp32";
    EXPECT_EQ(inputOf("sum_overflow_bf16").partial->wideOverflowed, 3) << "fp32 has the range of bf16";
}

TEST(TorchShards, NothingButAPartialMakesTheAnswersDiffer)
{
    const auto cases = expectedIn(folder);
    for (const auto& [name, ranks] : cases.items()) {
        const auto captures = capturesIn(folder / name);
        for (const auto& set : shards::matchShards(captures).sets) {
            const auto tensor = shards::stitch(shards::shardsOf(captures, set, shards::ShardSide::input));
            ASSERT_TRUE(tensor) << name;
            if (!tensor->partial) {
                EXPECT_EQ(tensor->logicalNonFinite(), tensor->partsNonFinite()) << name;
            }
        }
    }
    const auto largest = inputOf("largest");
    EXPECT_TRUE(largest.partsNonFinite());
    EXPECT_EQ(largest.logicalNonFinite(), false) << "the largest of -Inf and a number is the number";
    EXPECT_EQ(inputOf("sum_cancels").logical.nan, 3) << "Inf - Inf";
    EXPECT_EQ(inputOf("sum_cancels").partial->own.overflowed, 0);
}

} // namespace nanscope
