// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// A small capture cut off at every byte and with every byte changed: either one sentence, or the same contents.
#include <gtest/gtest.h>

#include "core/tensorfile/capture/capturefile.h"
#include "fixtures.h"

namespace nanscope {

using namespace fixtures;

namespace {

struct Contents
{
    std::vector<std::byte> input;
    std::vector<std::byte> output;
    std::optional<int> rank;
    std::optional<double> epsilon;
    bool operator==(const Contents&) const = default;
};

/// Opens, scans and reads everything; the sentence of the first failure otherwise.
Result<Contents> readFully(const std::filesystem::path& path)
{
    auto file = tensorfile::openCapture(path);
    if (!file) {
        return tl::make_unexpected(file.error());
    }
    if (auto scanned = tensorfile::scanCapture(*file); !scanned) {
        return tl::make_unexpected(scanned.error());
    }
    const auto input = file->input.readBits(0);
    const auto output = file->output ? file->output->readBits(0) : Result<std::vector<std::byte>> {};
    if (!input || !output) {
        return tl::make_unexpected(input ? output.error() : input.error());
    }
    return Contents {*input, *output, file->capture.rank, file->capture.epsilon};
}

void expectSentence(const Error& error, const std::string& where)
{
    EXPECT_FALSE(error.what.empty()) << where;
    EXPECT_EQ(error.what.find('\n'), std::string::npos) << where;
    EXPECT_NE(error.what.back(), '.') << where;
    EXPECT_FALSE(error.path.empty()) << where << error.what;
    EXPECT_NE(error.kind, ErrorKind::internal) << where << error.what;
}

class DamageTest : public testing::TestWithParam<bool>
{
protected:
    std::string bytes() const { return smallCapture({GetParam(), GetParam(), ""}); }
    TemporaryFolder folder;
};

} // namespace

TEST_P(DamageTest, CutOffAtEveryByteGivesASentence)
{
    const auto whole = bytes();
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const auto read = readFully(folder.write("x.pt", whole.substr(0, size)));
        ASSERT_FALSE(read) << "cut to " << size;
        expectSentence(read.error(), "cut to " + std::to_string(size) + ": ");
    }
}

TEST_P(DamageTest, EveryChangedByteIsNoticedOrHarmless)
{
    const auto whole = bytes();
    const auto original = readFully(folder.write("x.pt", whole));
    ASSERT_TRUE(original) << sentence(original.error());
    std::size_t harmless = 0;
    for (std::size_t at = 0; at < whole.size(); ++at) {
        for (const int change : {0x01, 0x80, 0xff}) {
            auto changed = whole;
            changed[at] = static_cast<char>(changed[at] ^ change);
            const auto where = "byte " + std::to_string(at) + " xor " + std::to_string(change) + ": ";
            const auto read = readFully(folder.write("x.pt", changed));
            if (!read) {
                expectSentence(read.error(), where);
                continue;
            }
            EXPECT_EQ(*read, *original) << where;
            ++harmless;
        }
    }
    EXPECT_LT(harmless, whole.size()); // dates, versions and attributes
}

INSTANTIATE_TEST_SUITE_P(
    Forms, DamageTest, testing::Values(false, true), [](const auto& info) { return info.param ? "Zip64" : "Plain"; });

} // namespace nanscope
