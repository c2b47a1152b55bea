// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints that torch wrote, against what torch counted in them; see tests/reference/make_checkpoints.py.
#include "core/tensorfile/checkpoint/checkpoint.h"

#include <gmock/gmock.h>

#include <fstream>

#include <nlohmann/json.hpp>

#include "core/tensorfile/checkpoint/checkpointindex.h"
#include "tests/core/tensorfile/fixtures.h"

namespace nanscope::tensorfile {

using testing::HasSubstr;
using testing::IsEmpty;

namespace {

namespace fs = std::filesystem;

const fs::path folder = fs::path(NANSCOPE_TEST_DATA) / "checkpoints";

nlohmann::json expected()
{
    std::ifstream file(folder / "expected.json");
    return nlohmann::json::parse(file);
}

CheckpointScan scan(const fs::path& path)
{
    auto result = scanCheckpoint(path, {});
    EXPECT_TRUE(result) << (result ? "" : result.error().what);
    return result ? *result : CheckpointScan {};
}

const Parameter* named(const CheckpointScan& scan, const std::string& name)
{
    const auto found = std::ranges::find(scan.parameters, name, &Parameter::name);
    EXPECT_NE(found, scan.parameters.end()) << name;
    return found == scan.parameters.end() ? nullptr : &*found;
}

void expectAsTorch(const Parameter& parameter, const nlohmann::json& torch)
{
    SCOPED_TRACE(parameter.name);
    EXPECT_EQ(parameter.problem, "");
    EXPECT_EQ(nlohmann::json(parameter.shape), torch["shape"]);
    EXPECT_EQ(torchName(parameter.dtype.value_or(DType::boolean)), torch["dtype"].get<std::string>());
    EXPECT_EQ(parameter.scan.nan, torch["nan"]);
    EXPECT_EQ(parameter.scan.posInf, torch["pos_inf"]);
    EXPECT_EQ(parameter.scan.negInf, torch["neg_inf"]);
    EXPECT_EQ(parameter.scan.absmax, torch["absmax"].get<double>());
    EXPECT_EQ(nlohmann::json(parameter.firstNonFinite()), torch["first"]);
}

void expectAll(const CheckpointScan& scanned, const std::string& prefix)
{
    EXPECT_THAT(scanned.rejected, IsEmpty());
    const auto all = expected();
    for (const auto& [name, torch] : all.items()) {
        if (const auto* parameter = name.starts_with(prefix) ? named(scanned, name) : nullptr) {
            expectAsTorch(*parameter, torch);
        }
    }
}

/// A copy of the checkpoint that two ranks saved, to be damaged.
fs::path copyOf(const TemporaryFolder& place, const std::string& name)
{
    fs::copy(folder / name, place.path() / name, fs::copy_options::recursive);
    return place.path() / name;
}

} // namespace

TEST(Checkpoint, ShardsOfTwoRanksAreThoseOfTorch)
{
    const auto scanned = scan(folder / "sharded");
    expectAll(scanned, "");
    EXPECT_EQ(scanned.parameters.size(), expected().size() + 1); // and "model.copied"
    EXPECT_EQ(scanned.others, 1);
    EXPECT_EQ(named(scanned, "model.copied")->scan.count, 4);
}

TEST(Checkpoint, FileOfTorchSaveIsReadThroughItsDicts)
{
    const auto scanned = scan(folder / "trainer.pt");
    expectAll(scanned, "");
    EXPECT_EQ(named(scanned, "model.tied")->scan, named(scanned, "model.head")->scan);
}

TEST(Checkpoint, SafetensorsOfSeveralFiles)
{
    const auto scanned = scan(folder / "hf");
    expectAll(scanned, "model.");
    EXPECT_EQ(scanned.files, 2);
}

TEST(Checkpoint, InfinitiesThatMayBeMeantStandApart)
{
    const auto scanned = scan(folder / "sharded");
    EXPECT_EQ(named(scanned, "model.mask")->state(), ParameterState::sentinel);
    EXPECT_EQ(named(scanned, "model.lowest")->state(), ParameterState::sentinel);
    EXPECT_EQ(named(scanned, "model.head")->state(), ParameterState::nonFinite);
    EXPECT_EQ(named(scanned, "model.bias")->state(), ParameterState::finite);
}

TEST(Checkpoint, OptimizerStateIsToldFromWeights)
{
    const auto scanned = scan(folder / "trainer.pt");
    EXPECT_TRUE(named(scanned, "optimizer.experts.exp_avg")->optimizerState);
    EXPECT_FALSE(named(scanned, "model.experts")->optimizerState);

    const TemporaryFolder place;
    fs::copy(folder / "trainer.pt", place.path() / "model_optim_rng.pt");
    fs::copy(folder / "trainer.pt", place.path() / "mp_rank_00_optim_states.pt");
    for (const auto& parameter : scan(place.path()).parameters) {
        EXPECT_EQ(parameter.optimizerState,
            parameter.file == "mp_rank_00_optim_states.pt" || parameter.name.starts_with("optimizer."))
            << parameter.file << ' ' << parameter.name;
    }
}

TEST(Checkpoint, WeightsThatLieAmongTheStateOfAnOptimizerAreWeights)
{
    const TemporaryFolder place;
    const auto path = place.path() / "zero_pp_rank_0_mp_rank_00_optim_states.pt";
    const TensorToWrite one {"t", DType::float32, {2}, std::vector<std::byte>(8)};
    ASSERT_TRUE(writePt(path,
        {{"optimizer_state_dict.fp32_flat_groups.0", one},
            {"optimizer_state_dict.single_partition_of_fp32_groups.0", one},
            {"optimizer.fp32_from_fp16_params.0.0", one},
            {"optimizer_state_dict.base_optimizer_state.state.0.exp_avg", one},
            {"optimizer_state_dict.optimizer_state_dict.state.0.exp_avg_sq", one}}));
    std::vector<bool> states;
    for (const auto& parameter : scan(path).parameters) {
        states.push_back(parameter.optimizerState);
    }
    EXPECT_THAT(states, testing::ElementsAre(false, false, false, true, true));
}

TEST(Checkpoint, LostFileCostsItsOwnTensorsOnly)
{
    const TemporaryFolder place;
    const auto copy = copyOf(place, "sharded");
    fs::remove(copy / "__0_0.distcp");
    const auto scanned = scan(copy);
    EXPECT_EQ(named(scanned, "model.experts")->state(), ParameterState::nonFinite); // rank 1 has the NaN
    EXPECT_THAT(named(scanned, "model.experts")->problem, HasSubstr("__0_0.distcp"));
    EXPECT_EQ(named(scanned, "model.mask")->problem, "");
}

TEST(Checkpoint, CutFileIsSaid)
{
    const TemporaryFolder place;
    const auto copy = copyOf(place, "sharded");
    fs::resize_file(copy / "__0_0.distcp", 1000);
    EXPECT_THAT(named(scan(copy), "model.experts")->problem, HasSubstr("cut off"));
}

TEST(Checkpoint, FlippedByteIsFoundByItsChecksum)
{
    const TemporaryFolder place;
    const auto copy = copyOf(place, "sharded");
    std::ifstream read(copy / "__1_0.distcp", std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(read)), {});
    const auto nan = bytes.find(std::string("\0\0\xc0\x7f", 4)); // the NaN of model.experts
    ASSERT_NE(nan, std::string::npos);
    bytes[nan] = '\1';
    place.write("sharded/__1_0.distcp", bytes);
    EXPECT_THAT(named(scan(copy), "model.experts")->problem, HasSubstr("checksum"));
    EXPECT_EQ(named(scan(copy), "model.experts")->scan.nan, 0);
}

TEST(Checkpoint, UnfinishedSaveIsSaid)
{
    const TemporaryFolder place;
    const auto copy = copyOf(place, "sharded");
    fs::remove(copy / ".metadata");
    const auto scanned = scan(copy);
    EXPECT_THAT(scanned.parameters, IsEmpty());
    ASSERT_EQ(scanned.rejected.size(), 2U);
    EXPECT_THAT(scanned.rejected.front().reason, HasSubstr("saving was not finished"));
}

TEST(Checkpoint, FileThatAnIndexNamesAndIsNotHere)
{
    const TemporaryFolder place;
    const auto copy = copyOf(place, "hf");
    fs::remove(copy / "model-00002-of-00002.safetensors");
    const auto scanned = scan(copy);
    ASSERT_EQ(scanned.rejected.size(), 1U);
    EXPECT_EQ(scanned.rejected.front().path, "model-00002-of-00002.safetensors");
}

TEST(Checkpoint, DamagedMetadataIsOneSentence)
{
    const TemporaryFolder place;
    const auto copy = copyOf(place, "sharded");
    fs::resize_file(copy / ".metadata", 1000);
    EXPECT_FALSE(readCheckpointIndex(copy / ".metadata"));
    place.write("sharded/.metadata", fixtures::pickle(fixtures::dict({{"a", fixtures::integer(1)}})));
    const auto index = readCheckpointIndex(copy / ".metadata");
    ASSERT_FALSE(index);
    EXPECT_THAT(index.error().what, HasSubstr("no .metadata of torch.distributed.checkpoint"));
}

TEST(Checkpoint, NameThatLeadsOutIsRefused)
{
    const TemporaryFolder place;
    const auto copy = copyOf(place, "sharded");
    std::ifstream file(copy / ".metadata", std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(file)), {});
    const auto at = bytes.find("__0_0.distcp");
    ASSERT_NE(at, std::string::npos);
    place.write("sharded/.metadata", bytes.replace(at, 12, "../../x/file"));
    const auto index = readCheckpointIndex(copy / ".metadata");
    ASSERT_FALSE(index);
    EXPECT_EQ(index.error().kind, ErrorKind::refused);
}

TEST(Checkpoint, DumpsOfCallsAreNoCheckpoint)
{
    const TemporaryFolder place;
    place.write("dump.pt", fixtures::smallCapture());
    const auto scanned = scanCheckpoint(place.path(), {});
    ASSERT_FALSE(scanned);
    EXPECT_THAT(scanned.error().what, HasSubstr("dump of one call"));
}

TEST(Checkpoint, FolderWithoutTensorsAndCancel)
{
    const TemporaryFolder place;
    place.write("notes.txt", "text");
    EXPECT_EQ(scanCheckpoint(place.path(), {}).error().kind, ErrorKind::unsupported);
    JobContext job;
    job.cancel.cancel();
    EXPECT_EQ(scanCheckpoint(folder / "sharded", job).error().kind, ErrorKind::cancelled);
}

TEST(Checkpoint, OneLargeTensorTellsOfItsBytesAndStopsWhenAsked)
{
    constexpr std::int64_t elements = std::int64_t {1} << 22;
    const TemporaryFolder place;
    const auto weights = fixtures::tensor("FloatStorage", "0", elements, {2048, 2048}, {2048, 1});
    const auto path = place.write("model.pt",
        fixtures::torchFile(fixtures::pickle(fixtures::dict({{"weight", weights}})),
            {fixtures::bytesOf(std::vector<float>(elements, 1.0F))}));
    std::vector<std::int64_t> told;
    JobContext job;
    job.progress = [&](const Progress& progress) {
        EXPECT_EQ(progress.unit, "bytes");
        EXPECT_EQ(progress.total, static_cast<std::int64_t>(fs::file_size(path)));
        told.push_back(progress.done);
        job.cancel.cancel();
    };
    const auto cancelled = scanCheckpoint(path, job);
    ASSERT_FALSE(cancelled);
    EXPECT_EQ(cancelled.error().kind, ErrorKind::cancelled);
    ASSERT_FALSE(told.empty());
    EXPECT_LT(told.front(), elements * 4);
}

} // namespace nanscope::tensorfile
