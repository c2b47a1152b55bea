// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/tensorfile/capture/splitcall.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace nanscope::tensorfile {

namespace {

using WordPair = std::pair<std::string_view, std::string_view>;
constexpr std::array<WordPair, 10> sides {{{"in", "out"}, {"input", "output"}, {"inputs", "outputs"}, {"x", "y"},
    {"X", "Y"}, {"In", "Out"}, {"Input", "Output"}, {"IN", "OUT"}, {"INPUT", "OUTPUT"}, {"Inputs", "Outputs"}}};

/// The words of a name, without what stands between them.
std::vector<std::string_view> wordsOf(std::string_view stem)
{
    const auto isPart = [](unsigned char letter) { return std::isalnum(letter) != 0; };
    std::vector<std::string_view> words;
    for (auto at = stem.begin(); at != stem.end();) {
        const auto begin = std::find_if(at, stem.end(), isPart);
        at = std::find_if_not(begin, stem.end(), isPart);
        words.push_back(
            stem.substr(static_cast<std::size_t>(begin - stem.begin()), static_cast<std::size_t>(at - begin)));
    }
    return words;
}

/// The file beside `path` whose name has `to` where that has `from`.
std::optional<std::filesystem::path> renamed(
    const std::filesystem::path& path, std::string_view WordPair::*from, std::string_view WordPair::*to)
{
    const auto stem = path.stem().string();
    for (const auto word : wordsOf(stem)) {
        const auto side = std::ranges::find(sides, word, from);
        if (side == sides.end()) {
            continue;
        }
        auto name = stem;
        name.replace(static_cast<std::size_t>(word.data() - stem.data()), word.size(), (*side).*to);
        auto other = path.parent_path() / (name + path.extension().string());
        std::error_code ignored;
        if (std::filesystem::is_regular_file(other, ignored)) {
            return other;
        }
    }
    return std::nullopt;
}

bool areOneCall(const TensorFile& input, const TensorFile& output)
{
    const auto* in = input.root.tensor();
    const auto* out = output.root.tensor();
    return in != nullptr && out != nullptr && in->shape() == out->shape();
}

} // namespace

std::optional<TensorFile> outputBeside(const std::filesystem::path& path, const TensorFile& file)
{
    const auto other =
        file.root.tensor() != nullptr ? renamed(path, &WordPair::first, &WordPair::second) : std::nullopt;
    auto output = other ? openTensorFile(*other) : Result<TensorFile> {};
    return other && output && areOneCall(file, *output) ? std::optional(std::move(*output)) : std::nullopt;
}

std::optional<std::filesystem::path> inputBeside(const std::filesystem::path& path)
{
    auto other = renamed(path, &WordPair::second, &WordPair::first);
    const auto input = other ? openTensorFile(*other) : Result<TensorFile> {};
    const auto output = other ? openTensorFile(path) : Result<TensorFile> {};
    return other && input && output && areOneCall(*input, *output) ? other : std::nullopt;
}

bool namesAnInput(std::string_view stem)
{
    constexpr std::array<std::string_view, 6> others {"grad", "gradient", "momentum", "update", "g", "m"};
    return std::ranges::any_of(wordsOf(stem), [&](std::string_view word) {
        return std::ranges::find(sides, word, &WordPair::first) != sides.end()
            || std::ranges::find(others, word) != others.end();
    });
}

} // namespace nanscope::tensorfile
