// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/known.h"

#include <filesystem>

#include "core/ingest/ingest.h"
#include "core/platform/userconfig.h"

namespace nanscope {

namespace {

Result<void> addAdvisories(const std::filesystem::path& path, std::vector<Advisory>& out)
{
    auto more = readAdvisories(path);
    if (!more) {
        return tl::make_unexpected(more.error());
    }
    out = joinAdvisories(std::move(out), std::move(*more));
    return {};
}

Result<void> readEveryAdvisory(const KnownWords& words, std::vector<Advisory>& out)
{
    std::error_code error;
    const auto own = userConfigFolder() / "advisories.json";
    if (std::filesystem::exists(own, error)) {
        if (auto added = addAdvisories(own, out); !added) {
            return added;
        }
    }
    for (const auto& path : words.advisories) {
        if (auto added = addAdvisories(path, out); !added) {
            return added;
        }
    }
    return {};
}

Result<std::vector<Setting>> readEnvironment(const std::string& path)
{
    auto read = readLog(path, std::filesystem::path(path).filename().string());
    if (!read) {
        return tl::make_unexpected(read.error());
    }
    if (read->settings.empty()) {
        return failure(
            ErrorKind::format, "--env takes what `nanscope env --json` wrote in the training environment", path);
    }
    return std::move(read->settings);
}

} // namespace

void addKnownOptions(CLI::App& options, KnownWords& words)
{
    options.add_option("--env", words.environment,
        "What `nanscope env --json` wrote in the training environment, where it does not lie among the inputs");
    options
        .add_option("--advisories", words.advisories,
            "More published problems of packages to look for (docs/advisories.md); may be repeated")
        ->allow_extra_args(false);
    options.add_option("--params", words.parameters,
        "Names and shapes of the model's parameters: .safetensors, its index, JSON, or lines NAME [512, 1408]");
}

Result<Known> readKnown(const KnownWords& words)
{
    Known known;
    if (auto read = readEveryAdvisory(words, known.advisories); !read) {
        return tl::make_unexpected(read.error());
    }
    if (!words.environment.empty()) {
        auto settings = readEnvironment(words.environment);
        if (!settings) {
            return tl::make_unexpected(settings.error());
        }
        known.environment = std::move(*settings);
    }
    if (!words.parameters.empty()) {
        auto parameters = readParameters(words.parameters);
        if (!parameters) {
            return tl::make_unexpected(parameters.error());
        }
        known.parameters = std::move(*parameters);
    }
    return known;
}

} // namespace nanscope
