// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/settings/runrecord.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <re2/re2.h>

#include "core/base/text.h"
#include "core/base/try.h"
#include "core/ingest/settings/configfile.h"
#include "core/ingest/settings/settingsink.h"
#include "core/ingest/text/consoletext.h"
#include "core/platform/platform.h"

namespace nanscope::ingest {

namespace {

constexpr std::string_view schema = "nanscope.run/1";
constexpr std::uint64_t largestRunRecord = 256 << 10; // a helper's has a few KiB

Result<std::string> readRunRecord(const std::filesystem::path& path)
{
    const auto file = TRY(platform::FileReader::open(path));
    if (file.size() > largestRunRecord) {
        return failure(ErrorKind::refused,
            fmt::format("the record of the run is larger than {} KiB and was not read", largestRunRecord >> 10),
            path.string());
    }
    std::string text(file.size(), '\0');
    return file.readAt(0, std::as_writable_bytes(std::span(text))).map([&] { return std::move(text); });
}

std::string valueOf(const std::vector<Setting>& settings, std::string_view name)
{
    const auto found = std::ranges::find(settings, name, &Setting::name);
    return found == settings.end() ? std::string() : found->value;
}

Result<void> checkVersion(const std::vector<Setting>& settings)
{
    constexpr std::size_t shown = 60;
    const auto version = valueOf(settings, "schema");
    if (version == schema) {
        return {};
    }
    return failure(ErrorKind::format,
        version.empty() ? std::string("the file is named like the record of a run and says no schema")
                        : fmt::format("the record of the run is of the schema \"{}\", and this Nanscope reads {}: a "
                                      "newer one may read it",
                            clipped(version, shown), schema));
}

std::optional<int> rankOf(const std::vector<Setting>& settings, const std::string& relative)
{
    const auto said = parseInteger(valueOf(settings, "rank"));
    const bool possible = said && *said >= 0 && *said <= std::numeric_limits<int>::max();
    return possible ? std::optional(static_cast<int>(*said)) : placeOf(relative).rank;
}

/// What tells the file apart and says nothing of the run.
bool isOfTheFile(const Setting& setting)
{
    return setting.name == "schema" || setting.name == "rank" || setting.name == "pid" || setting.name == "wall_ns"
        || setting.value == "null";
}

Result<std::vector<Setting>> settingsIn(const std::string& text, const std::string& relative)
{
    SettingSink sink;
    if (const auto read = readJsonSettings(text, sink); !read) {
        return failure(ErrorKind::format,
            "the record of the run is " + read.error().what + ", and nothing was taken from it; copy it again");
    }
    auto settings = sink.take();
    TRY(checkVersion(settings));
    const auto rank = rankOf(settings, relative);
    std::erase_if(settings, isOfTheFile);
    for (auto& setting : settings) {
        setting.rank = rank;
    }
    return settings;
}

} // namespace

bool hasRunRecordName(const std::string& relative)
{
    static const RE2 name(R"((?:.*/)?nanscope_run_rank\d{1,9}_pid\d{1,10}_\d{1,20}\.json)", RE2::Latin1);
    return RE2::FullMatch(relative, name);
}

Result<std::unique_ptr<LogSource>> openRunRecord(const std::filesystem::path& path, const std::string& relative)
{
    const auto text = TRY(readRunRecord(path));
    auto settings = settingsIn(text, relative);
    if (!settings) {
        return failure(settings.error().kind, settings.error().what, path.string());
    }
    return settingsSource(text, relative, std::move(*settings));
}

} // namespace nanscope::ingest
