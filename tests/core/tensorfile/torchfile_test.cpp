// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>

#include "core/tensorfile/tensorsource.h"
#include "fixtures.h"

namespace nanscope {

using namespace fixtures;

namespace {

class TorchFileTest : public testing::Test
{
protected:
    Result<tensorfile::TensorFile> open(const std::string& bytes, const std::string& name = "x.pt")
    {
        return tensorfile::openTensorFile(folder.write(name, bytes));
    }

    TemporaryFolder folder;
};

std::vector<float> readAll(const tensorfile::Tensor& tensor, std::int64_t batch = 0)
{
    std::vector<float> out(static_cast<std::size_t>(tensor.matrices().elements()));
    const auto read = tensor.read(batch, std::span<float>(out));
    EXPECT_TRUE(read) << sentence(read.error());
    return out;
}

} // namespace

TEST_F(TorchFileTest, ReadsEveryWayOfStatingSizesInTheZip)
{
    for (const bool zip64 : {false, true}) {
        for (const bool descriptors : {false, true}) {
            const auto file = open(smallCapture({zip64, descriptors, ""}));
            ASSERT_TRUE(file) << sentence(file.error());
            const auto* input = file->root.find("input");
            ASSERT_NE(input, nullptr);
            ASSERT_NE(input->tensor(), nullptr);
            EXPECT_EQ(input->tensor()->shape(), (Shape {6, 4}));
            EXPECT_EQ(readAll(*input->tensor()), smallInput());
            const auto matches = tensorfile::checksumMatches(*input->tensor(), {});
            EXPECT_TRUE(matches && *matches);
        }
    }
}

TEST_F(TorchFileTest, FindsTheDirectoryBehindALongComment)
{
    const auto file = open(smallCapture({false, false, std::string(60000, 'c')}));
    EXPECT_TRUE(file) << sentence(file.error());
}

TEST_F(TorchFileTest, KeepsNaNPayloadsInBitsAndFloats)
{
    const auto file = open(smallCapture());
    ASSERT_TRUE(file);
    const auto& output = *file->root.find("output")->tensor();
    const auto bits = output.readBits(0);
    ASSERT_TRUE(bits);
    std::uint32_t word = 0;
    std::memcpy(&word, bits->data() + 7 * sizeof(word), sizeof(word));
    EXPECT_EQ(word, 0x7fc12345U);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(readAll(output)[7]), 0x7fc12345U);
}

TEST_F(TorchFileTest, ReadsBigEndianStorages)
{
    const auto body = pickle(tensor("FloatStorage", "0", 2, {2}, {1}));
    const auto file = open(zip({{"a/data.pkl", body}, {"a/byteorder", "big"},
        {"a/data/0", std::string("\x3f\x80\x00\x00\xc0\x00\x00\x00", 8)}}));
    ASSERT_TRUE(file) << sentence(file.error());
    EXPECT_EQ(readAll(*file->root.tensor()), (std::vector<float> {1, -2}));
}

TEST_F(TorchFileTest, MapsCudaStoragesToTheFile)
{
    const auto body = global("torch._utils", "_rebuild_tensor_v2") + "(" + storage("HalfStorage", "0", 2, "cuda:3")
        + integer(0) + tuple({2}) + tuple({1}) + "\x89" + global("collections", "OrderedDict") + ")RtR";
    const auto file = open(torchFile(pickle(body), {std::string("\x00\x3c\x00\xc0", 4)}));
    ASSERT_TRUE(file) << sentence(file.error());
    EXPECT_EQ(readAll(*file->root.tensor()), (std::vector<float> {1, -2}));
}

TEST_F(TorchFileTest, IdentityIgnoresTheNameAndSeesEachByte)
{
    const auto bytes = smallCapture();
    const auto first = open(bytes, "one.pt");
    const auto second = open(bytes, "two.pt");
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->identity, second->identity);
    auto values = smallInput();
    values[0] = 5;
    const auto body = pickle(tensor("FloatStorage", "0", 24, {6, 4}, {4, 1}));
    const auto third = open(torchFile(body, {bytesOf(values)}));
    const auto fourth = open(torchFile(body, {bytesOf(smallInput())}));
    ASSERT_TRUE(third && fourth);
    EXPECT_NE(third->identity, fourth->identity);
}

TEST_F(TorchFileTest, IdentitySeesContentsWhereNoChecksumsAre)
{
    const auto body = pickle(tensor("FloatStorage", "0", 24, {6, 4}, {4, 1}));
    auto values = smallInput();
    std::vector<std::string> identities;
    for (const float change : {0.0F, 1.0F}) {
        values[3] += change;
        const auto file = open(zip({{"a/data.pkl", body, 0, 0, 0U}, {"a/data/0", bytesOf(values), 0, 0, 0U}}));
        ASSERT_TRUE(file) << sentence(file.error());
        identities.push_back(file->identity);
        const auto matches = tensorfile::checksumMatches(*file->root.tensor(), {});
        EXPECT_TRUE(matches && *matches);
    }
    EXPECT_NE(identities[0], identities[1]);
}

TEST_F(TorchFileTest, ALaterEntryOfTheSameKeyWins)
{
    const auto file = open(torchFile(pickle(dict({{"k", integer(1)}, {"other", integer(5)}, {"k", integer(2)}})), {}));
    ASSERT_TRUE(file);
    EXPECT_EQ(std::get<tensorfile::PickleDict>(file->root.value).size(), 2U);
    EXPECT_EQ(std::get<std::int64_t>(file->root.find("k")->value), 2);
}

TEST_F(TorchFileTest, AFileThatChangesIsNoticedAndNeverFaults)
{
    const auto path = folder.write("x.pt", smallCapture());
    const auto file = tensorfile::openTensorFile(path);
    ASSERT_TRUE(file);
    const auto tensor = *file->root.find("input")->tensor();
    std::filesystem::resize_file(path, 100);
    std::vector<float> out(24);
    const auto read = tensor.read(0, std::span<float>(out));
    ASSERT_FALSE(read);
    EXPECT_NE(sentence(read.error()).find("changed"), std::string::npos);
    EXPECT_FALSE(tensorfile::checksumMatches(tensor, {}));
}

TEST_F(TorchFileTest, ReadingIntoTheWrongRoomIsAnError)
{
    const auto file = open(smallCapture());
    ASSERT_TRUE(file);
    std::vector<float> small(3);
    EXPECT_FALSE(file->root.find("input")->tensor()->read(0, std::span<float>(small)));
    std::vector<float> right(24);
    EXPECT_FALSE(file->root.find("input")->tensor()->read(1, std::span<float>(right)));
    EXPECT_FALSE(tensorfile::Tensor().readBits(0));
}

TEST_F(TorchFileTest, KnowsTheNamesItWouldTry)
{
    for (const char* name : {"a.pt", "b.PTH", "c.bin", "d.safetensors", "e.Npy"}) {
        EXPECT_TRUE(tensorfile::looksLikeTensorFile(name)) << name;
    }
    for (const char* name : {"a.txt", "pt", "x.pt.tmp", "log.json"}) {
        EXPECT_FALSE(tensorfile::looksLikeTensorFile(name)) << name;
    }
}

} // namespace nanscope
