// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>

#include "core/platform/platform.h"
#include "core/tensorfile/tensorfile.h"
#include "fixtures.h"

namespace nanscope {

using namespace fixtures;

namespace {

std::vector<std::byte> someBytes(std::size_t count)
{
    std::vector<std::byte> bytes(count);
    for (std::size_t i = 0; i < count; ++i) {
        bytes[i] = static_cast<std::byte>(i * 37 + 5);
    }
    return bytes;
}

std::vector<std::pair<std::string, tensorfile::ValueToWrite>> everyKind()
{
    std::vector<std::pair<std::string, tensorfile::ValueToWrite>> entries;
    for (const auto dtype : {DType::float64, DType::float32, DType::float16, DType::bfloat16, DType::float8_e4m3fn,
             DType::complex64, DType::int64, DType::int32, DType::int16, DType::int8, DType::uint16, DType::uint8}) {
        const std::string name(torchName(dtype));
        entries.emplace_back(name, tensorfile::TensorToWrite {name, dtype, {2, 3}, someBytes(6 * sizeOf(dtype))});
    }
    entries.emplace_back("empty", tensorfile::TensorToWrite {"empty", DType::float32, {0, 3}, {}});
    entries.emplace_back("scalar", tensorfile::TensorToWrite {"scalar", DType::float32, {}, someBytes(4)});
    entries.emplace_back("rank", std::int64_t {-3});
    entries.emplace_back("large", std::int64_t {1} << 40);
    entries.emplace_back("epsilon", 1e-8);
    entries.emplace_back("text", std::string("torch.bfloat16 \xe2\x88\x91"));
    entries.emplace_back("shape", Shape {1, 160, 96});
    entries.emplace_back("nothing", std::monostate());
    return entries;
}

} // namespace

TEST(WritePt, IsReadBackAsItWas)
{
    const TemporaryFolder folder;
    const auto entries = everyKind();
    const auto written = tensorfile::writePt(folder.path() / "x.pt", entries);
    ASSERT_TRUE(written) << sentence(written.error());
    const auto file = tensorfile::openTensorFile(folder.path() / "x.pt");
    ASSERT_TRUE(file) << sentence(file.error());
    for (const auto& [name, value] : entries) {
        const auto* found = file->root.find(name);
        ASSERT_NE(found, nullptr) << name;
        if (const auto* tensor = std::get_if<tensorfile::TensorToWrite>(&value)) {
            ASSERT_NE(found->tensor(), nullptr) << name;
            EXPECT_EQ(found->tensor()->dtype(), tensor->dtype);
            EXPECT_EQ(found->tensor()->shape(), tensor->shape);
            const auto matrices = found->tensor()->matrices().batch;
            EXPECT_EQ(matrices, tensor->bytes.empty() ? 0 : 1) << name;
            EXPECT_EQ(found->tensor()->readBits(0).value_or(std::vector<std::byte>()), tensor->bytes) << name;
        }
    }
    EXPECT_EQ(std::get<std::int64_t>(file->root.find("large")->value), std::int64_t {1} << 40);
    EXPECT_EQ(std::get<double>(file->root.find("epsilon")->value), 1e-8);
    EXPECT_EQ(std::get<tensorfile::PickleList>(file->root.find("shape")->value).size(), 3U);
}

TEST(WritePt, TorchLoadsItWithWeightsOnly)
{
    const auto python =
        std::filesystem::path(NANSCOPE_TEST_DATA).parent_path().parent_path().parent_path() / ".deps/venv/bin/python";
    if (!std::filesystem::exists(python)) {
        GTEST_SKIP() << "there is no private Python with torch";
    }
    if (std::system((python.string() + " -c 'import torch' 2>/dev/null").c_str()) != 0) {
        GTEST_SKIP() << "the private Python has no torch";
    }
    const TemporaryFolder folder;
    ASSERT_TRUE(tensorfile::writePt(folder.path() / "x.pt", everyKind()));
    const auto script = folder.write("check.py", R"(import sys, torch
held = torch.load(sys.argv[1], weights_only=True)
expected = lambda count: bytes((i * 37 + 5) % 256 for i in range(count))
for name, value in held.items():
    if isinstance(value, torch.Tensor) and name not in ("empty", "scalar"):
        assert str(value.dtype) == "torch." + name and tuple(value.shape) == (2, 3), name
        assert bytes(value.untyped_storage()) == expected(6 * value.element_size()), name
assert held["empty"].shape == (0, 3) and held["scalar"].shape == ()
assert held["rank"] == -3 and held["large"] == 2**40 and held["epsilon"] == 1e-8
assert held["text"] == "torch.bfloat16 \u2211" and held["shape"] == (1, 160, 96) and held["nothing"] is None
assert len(held) == 20, len(held)
)");
    EXPECT_EQ(
        std::system((python.string() + " " + script.string() + " " + (folder.path() / "x.pt").string()).c_str()), 0);
}

TEST(WritePt, ABadTargetOrTensorLeavesNothingBehind)
{
    const TemporaryFolder folder;
    EXPECT_FALSE(tensorfile::writePt(folder.path() / "none" / "x.pt", {}));
    const auto wrong = tensorfile::writePt(
        folder.path() / "x.pt", {{"t", tensorfile::TensorToWrite {"t", DType::float32, {2, 3}, someBytes(23)}}});
    EXPECT_FALSE(wrong);
    std::filesystem::create_directory(folder.path() / "taken");
    EXPECT_FALSE(tensorfile::writePt(folder.path() / "taken", {{"a", std::int64_t {1}}}));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

} // namespace nanscope
