// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/tensorfile/tensorfile.h"
#include "fixtures.h"

namespace nanscope {

using namespace fixtures;
using testing::HasSubstr;

namespace {

std::string safetensors(const std::string& header, const std::string& data)
{
    return little(header.size(), 8) + header + data;
}

std::string npy(const std::string& header, const std::string& data, int version = 1)
{
    return std::string("\x93NUMPY") + static_cast<char>(version) + '\0' + little(header.size(), version == 1 ? 2 : 4)
        + header + data;
}

class FormatsTest : public testing::Test
{
protected:
    Result<tensorfile::TensorFile> open(const std::string& name, const std::string& bytes)
    {
        return tensorfile::openTensorFile(folder.write(name, bytes));
    }
    std::string refusal(const std::string& name, const std::string& bytes)
    {
        const auto file = open(name, bytes);
        return file ? "opened" : sentence(file.error());
    }
    TemporaryFolder folder;
};

std::vector<double> values(const tensorfile::Tensor& tensor)
{
    std::vector<double> out(static_cast<std::size_t>(tensor.matrices().elements()));
    const auto read = tensor.read(0, std::span<double>(out));
    EXPECT_TRUE(read) << sentence(read.error());
    return out;
}

const std::string twoFloats = bytesOf(std::vector<float> {1.5F, -2});

} // namespace

TEST_F(FormatsTest, SafetensorsHoldNamedTensors)
{
    const auto file = open("x.safetensors",
        safetensors(R"({"__metadata__":{"by":"us"},"input":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},)"
                    R"("h":{"dtype":"F16","shape":[2],"data_offsets":[8,12]}})",
            twoFloats + std::string("\x00\x3c\x00\x40", 4)));
    ASSERT_TRUE(file) << sentence(file.error());
    EXPECT_EQ(file->kind, tensorfile::FileKind::safetensors);
    EXPECT_EQ(std::get<tensorfile::PickleDict>(file->root.value).size(), 2U);
    EXPECT_EQ(values(*file->root.find("input")->tensor()), (std::vector<double> {1.5, -2}));
    EXPECT_EQ(values(*file->root.find("h")->tensor()), (std::vector<double> {1, 2}));
}

TEST_F(FormatsTest, BadSafetensorsGetASentence)
{
    const auto entry = [](const std::string& shape, const std::string& offsets) {
        return R"({"t":{"dtype":"F32","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
    };
    const auto refused = [&](const std::string& header) {
        return refusal("x.safetensors", safetensors(header, twoFloats));
    };
    EXPECT_THAT(refused(entry("[2]", "[0,80]")), HasSubstr("cut off"));
    EXPECT_THAT(refused(entry("[3]", "[0,8]")), HasSubstr("does not fit"));
    EXPECT_THAT(refused(entry("[2]", "[8,0]")), HasSubstr("without a type, shape or place"));
    EXPECT_THAT(refused(entry("[-2]", "[0,8]")), HasSubstr("without a type, shape or place"));
    EXPECT_THAT(refused(entry("[4611686018427387904,4]", "[0,8]")), HasSubstr("does not fit"));
    EXPECT_THAT(refused(entry("[0,4611686018427387904,4611686018427387904]", "[0,0]")), HasSubstr("counted"));
    EXPECT_THAT(refused("{\"t\":"), HasSubstr("not JSON"));
    EXPECT_THAT(refused("{\"t\":5}"), HasSubstr("without a type"));
    EXPECT_THAT(refused(std::string(5000, '[')), HasSubstr("not JSON"));
    EXPECT_THAT(refusal("x.safetensors", little(1 << 20, 8) + "{}"), HasSubstr("longer than the file"));
    const auto twice =
        R"({"t":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"t":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
    EXPECT_THAT(refused(twice), HasSubstr("same name"));
}

TEST_F(FormatsTest, UnknownSafetensorsTypesAreOpaque)
{
    const auto file =
        open("x.safetensors", safetensors(R"({"t":{"dtype":"F4","shape":[2],"data_offsets":[0,1]}})", "x"));
    ASSERT_TRUE(file) << sentence(file.error());
    EXPECT_TRUE(std::holds_alternative<tensorfile::OpaqueObject>(file->root.find("t")->value));
}

TEST_F(FormatsTest, NumpyVersionsOrdersAndEndiansAreRead)
{
    const std::string c = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }\n";
    const std::string big = "{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }\n";
    const std::string columns = "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }\n";
    for (const int version : {1, 2, 3}) {
        const auto file = open("x.npy", npy(c, twoFloats, version));
        ASSERT_TRUE(file) << sentence(file.error());
        EXPECT_EQ(values(*file->root.tensor()), (std::vector<double> {1.5, -2}));
    }
    const auto swapped = open("x.npy", npy(big, std::string("\x3f\xc0\x00\x00\xc0\x00\x00\x00", 8)));
    ASSERT_TRUE(swapped);
    EXPECT_EQ(values(*swapped->root.tensor()), (std::vector<double> {1.5, -2}));
    const auto fortran = open("x.npy", npy(columns, bytesOf(std::vector<std::int16_t> {1, 4, 2, 5, 3, 6})));
    ASSERT_TRUE(fortran);
    EXPECT_EQ(values(*fortran->root.tensor()), (std::vector<double> {1, 2, 3, 4, 5, 6}));
}

TEST_F(FormatsTest, BadNumpyFilesGetASentence)
{
    const auto header = [](const std::string& descr, const std::string& shape) {
        return "{'descr': " + descr + ", 'fortran_order': False, 'shape': " + shape + ", }\n";
    };
    const auto refused = [&](const std::string& text) { return refusal("x.npy", npy(text, twoFloats)); };
    EXPECT_THAT(refused(header("'<f4'", "(3,)")), HasSubstr("cut off"));
    EXPECT_THAT(refused(header("'<f4'", "(-1,)")), HasSubstr("not what numpy.save writes"));
    EXPECT_THAT(refused(header("'<f4'", "(99999999999999999999,)")), HasSubstr("not what numpy.save writes"));
    EXPECT_THAT(refused(header("'<f4'", "(4611686018427387904, 4)")), HasSubstr("counted"));
    EXPECT_THAT(refused(header("'|O'", "(2,)")), HasSubstr("neither a number"));
    EXPECT_THAT(refused(header("[('a', '<f4')]", "(2,)")), HasSubstr("fields"));
    EXPECT_THAT(refused("{}"), HasSubstr("not what numpy.save writes"));
    EXPECT_THAT(refusal("x.npy", npy("x", "", 9)), HasSubstr("version"));
    EXPECT_THAT(refusal("x.npy", std::string("\x93NUMPY\x01", 7)), HasSubstr("cut off"));
    const auto good = npy(header("'<f4'", "(2,)"), twoFloats);
    for (std::size_t size = 0; size < good.size(); ++size) {
        EXPECT_FALSE(open("x.npy", good.substr(0, size))) << size;
    }
}

} // namespace nanscope
