// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Files written by torch and NumPy, and what they hold as torch and NumPy say; see tests/reference/make_torchfiles.py.
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include <nlohmann/json.hpp>

#include "core/tensorfile/scan/scantensor.h"
#include "core/tensorfile/tensorsource.h"
#include "tests/core/tensorfile/fixtures.h"

namespace nanscope {

namespace {

using Json = nlohmann::json;

std::filesystem::path fixture(const std::string& name)
{
    return std::filesystem::path(NANSCOPE_TEST_DATA) / "torchfiles" / name;
}

struct Held
{
    std::map<std::string, tensorfile::Tensor> tensors;
    std::map<std::string, Json> values;
    std::map<std::string, std::size_t> lengths;
};

std::string keyText(const tensorfile::PickleValue& key)
{
    const auto* text = std::get_if<std::string>(&key.value);
    return text != nullptr ? *text : std::to_string(std::get<std::int64_t>(key.value));
}

void flatten(const tensorfile::PickleValue& value, const std::string& path, Held& out)
{
    if (const auto* tensor = value.tensor()) {
        out.tensors[path] = *tensor;
    } else if (const auto* dict = std::get_if<tensorfile::PickleDict>(&value.value)) {
        for (const auto& [key, held] : *dict) {
            flatten(held, path + "/" + keyText(key), out);
        }
    } else if (const auto* list = std::get_if<tensorfile::PickleList>(&value.value)) {
        out.lengths[path] = list->size();
        for (std::size_t i = 0; i < list->size(); ++i) {
            flatten((*list)[i], path + "/" + std::to_string(i), out);
        }
    } else if (const auto* flag = std::get_if<bool>(&value.value)) {
        out.values[path] = *flag;
    } else if (const auto* whole = std::get_if<std::int64_t>(&value.value)) {
        out.values[path] = *whole;
    } else if (const auto* real = std::get_if<double>(&value.value)) {
        out.values[path] = *real;
    } else if (const auto* text = std::get_if<std::string>(&value.value)) {
        out.values[path] = *text;
    } else if (std::holds_alternative<std::monostate>(value.value)) {
        out.values[path] = nullptr;
    } else {
        ADD_FAILURE() << path << " is opaque: " << std::get<tensorfile::OpaqueObject>(value.value).name;
    }
}

std::string allBits(const tensorfile::Tensor& tensor)
{
    std::string text;
    for (std::int64_t batch = 0; batch < tensor.matrices().batch; ++batch) {
        const auto bits = tensor.readBits(batch);
        EXPECT_TRUE(bits) << sentence(bits.error());
        text += bits ? fixtures::hex(*bits) : "";
    }
    return text;
}

void expectTensor(const Json& expected, const tensorfile::Tensor& tensor, const std::string& where)
{
    EXPECT_EQ(torchName(tensor.dtype()), expected["dtype"].get<std::string>()) << where;
    EXPECT_EQ(tensor.shape(), expected["shape"].get<Shape>()) << where;
    if (expected.contains("strides")) {
        EXPECT_EQ(tensor.strides(), expected["strides"].get<Shape>()) << where;
        EXPECT_EQ(tensor.storageOffset(), expected["offset"].get<std::int64_t>()) << where;
    }
    EXPECT_EQ(allBits(tensor), expected["bits"].get<std::string>()) << where;
}

Json expectedFiles()
{
    std::ifstream file(fixture("expected.json"));
    return Json::parse(file);
}

} // namespace

TEST(TorchReference, ReadsEveryFileAsItsWriterDoes)
{
    const auto files = expectedFiles();
    ASSERT_GE(files.size(), 19U);
    for (const auto& [name, expected] : files.items()) {
        const auto file = tensorfile::openTensorFile(fixture(name));
        ASSERT_TRUE(file) << sentence(file.error());
        Held held;
        flatten(file->root, "", held);
        EXPECT_EQ(held.tensors.size(), expected["tensors"].size()) << name;
        for (const auto& [path, facts] : expected["tensors"].items()) {
            ASSERT_TRUE(held.tensors.contains(path)) << name << path;
            expectTensor(facts, held.tensors[path], name + path);
        }
        EXPECT_EQ(Json(held.values), expected["values"]) << name;
        EXPECT_EQ(Json(held.lengths), expected["lengths"].empty() ? Json(held.lengths) : expected["lengths"]) << name;
        EXPECT_TRUE(file->opaque.empty()) << name;
    }
}

TEST(TorchReference, SharedStoragesStayShared)
{
    const auto file = tensorfile::openTensorFile(fixture("views.pt"));
    ASSERT_TRUE(file);
    std::set<std::string> keys;
    for (const auto& [name, value] : std::get<tensorfile::PickleDict>(file->root.value)) {
        keys.insert(value.tensor()->storageKey());
    }
    EXPECT_EQ(keys.size(), 2U);
}

TEST(TorchReference, OtherObjectsAreNamedAndTheTensorsBesideThemLoad)
{
    const auto file = tensorfile::openTensorFile(fixture("objects.pt"));
    ASSERT_TRUE(file) << sentence(file.error());
    EXPECT_NE(file->root.find("input")->tensor(), nullptr);
    const auto* module = std::get_if<tensorfile::OpaqueObject>(&file->root.find("module")->value);
    ASSERT_NE(module, nullptr);
    EXPECT_EQ(module->name, "torch.nn.modules.linear Linear");
    EXPECT_TRUE(std::holds_alternative<tensorfile::OpaqueObject>(file->root.find("lazy")->value));
    EXPECT_EQ(file->opaque.size(), 2U);
}

TEST(TorchReference, TheOldFormatIsRecognisedAndRefused)
{
    const auto file = tensorfile::openTensorFile(fixture("old_format.pt"));
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().kind, ErrorKind::unsupported);
    EXPECT_NE(file.error().what.find("old format"), std::string::npos);
}

TEST(TorchReference, RealDumpsScanClean)
{
    const std::filesystem::path runs = std::filesystem::path(NANSCOPE_SHARED_DATA) / "runs";
    if (!std::filesystem::exists(runs)) {
        GTEST_SKIP() << "the shared data folder is not here";
    }
    int dumps = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(runs)) {
        if (entry.path().extension() != ".pt") {
            continue;
        }
        const auto file = tensorfile::openTensorFile(entry.path());
        ASSERT_TRUE(file) << sentence(file.error());
        for (const char* name : {"input", "output"}) {
            const auto* tensor = file->root.find(name)->tensor();
            ASSERT_NE(tensor, nullptr);
            const auto matches = tensorfile::checksumMatches(*tensor, {});
            EXPECT_TRUE(matches && *matches) << entry.path();
            EXPECT_TRUE(tensorfile::scanTensor(*tensor)) << entry.path();
        }
        ++dumps;
    }
    EXPECT_GE(dumps, 26);
}

} // namespace nanscope
