// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "workfolder.h"

#include <cstring>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>

#include <gtest/gtest.h>

namespace nanscope::testing {

namespace fs = std::filesystem;

namespace {

std::vector<std::byte> bytesOf(const std::vector<float>& values)
{
    std::vector<std::byte> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

std::uint32_t crc32(const std::string& text)
{
    std::uint32_t crc = 0xFFFFFFFFU;
    for (const auto byte : text) {
        crc ^= static_cast<unsigned char>(byte);
        for (int bit = 0; bit < 8; ++bit) {
            crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
        }
    }
    return ~crc;
}

void put(std::string& out, std::uint64_t value, int size)
{
    for (int i = 0; i < size; ++i) {
        out += static_cast<char>(i < 8 ? (value >> (8 * i)) & 0xFFU : 0);
    }
}

/// The fields that local header and directory entry share, from "version needed" to "extra length".
std::string zipFields(const std::string& name, const std::string& data)
{
    std::string fields;
    put(fields, 20, 2);
    put(fields, 0, 8); // flags, method: stored, time, date
    put(fields, crc32(data), 4);
    put(fields, data.size(), 4);
    put(fields, data.size(), 4);
    put(fields, name.size(), 2);
    put(fields, 0, 2);
    return fields;
}

} // namespace

WorkFolder::WorkFolder()
{
    std::random_device random;
    m_path = fs::path(::testing::TempDir()) / ("nanscope-" + std::to_string(random()) + "-" + std::to_string(random()));
    fs::create_directories(m_path);
}

WorkFolder::~WorkFolder()
{
    std::error_code error;
    fs::permissions(m_path, fs::perms::owner_all, fs::perm_options::add, error);
    fs::remove_all(m_path, error);
}

std::string writeCapture(const fs::path& path, const MadeCapture& wanted)
{
    std::mt19937 random(7);
    std::normal_distribution<float> normal(0, 0.01F);
    const Shape shape {1, wanted.rows, wanted.cols};
    std::vector<float> input(static_cast<std::size_t>(wanted.rows * wanted.cols));
    for (auto& value : input) {
        value = normal(random);
    }
    auto output = input;
    const auto nan = std::numeric_limits<float>::quiet_NaN();
    if (wanted.nanInput) {
        input[5] = nan;
    }
    if (wanted.nanInput && wanted.nanOutput) {
        output.assign(output.size(), nan); // as an iteration hands it on
    } else if (wanted.nanOutput) {
        output[static_cast<std::size_t>(3 * wanted.cols + 4)] = nan;
    }
    const auto written = tensorfile::writePt(path,
        {{"input", tensorfile::TensorToWrite {"input", DType::float32, shape, bytesOf(input)}},
            {"output", tensorfile::TensorToWrite {"output", DType::float32, shape, bytesOf(output)}},
            {"rank", std::int64_t {0}}, {"shape", shape}, {"dtype", std::string("torch.float32")},
            {"epsilon", wanted.epsilon}});
    EXPECT_TRUE(written) << sentence(written.error());
    return path.string();
}

std::string contentsOf(const fs::path& path)
{
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

void writeText(const fs::path& path, const std::string& text)
{
    std::ofstream(path, std::ios::binary) << text;
}

void writeArchive(const fs::path& path, const std::string& pickle)
{
    const std::pair<std::string, std::string> entries[] = {{"archive/data.pkl", pickle}, {"archive/version", "3\n"}};
    std::string file;
    std::string directory;
    for (const auto& [name, data] : entries) {
        const auto fields = zipFields(name, data);
        put(directory, 0x02014b50, 4);
        put(directory, 20, 2);
        directory += fields;
        put(directory, 0, 10); // comment length, disk, attributes
        put(directory, file.size(), 4);
        directory += name;
        put(file, 0x04034b50, 4);
        file.append(fields).append(name).append(data);
    }
    const auto start = file.size();
    file += directory;
    put(file, 0x06054b50, 4);
    put(file, 0, 4);
    put(file, std::size(entries), 2);
    put(file, std::size(entries), 2);
    put(file, directory.size(), 4);
    put(file, start, 4);
    put(file, 0, 2);
    writeText(path, file);
}

} // namespace nanscope::testing
