// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// The list of files, without a look into them.
#include <algorithm>

#include <fmt/format.h>

#include "core/known/known.h"
#include "core/known/knownplaces.h"
#include "core/platform/userconfig.h"

namespace nanscope {

namespace {

/// Where files of this kind stand, whether there may be one or several.
struct Slot
{
    std::string* one = nullptr;
    std::vector<std::string>* several = nullptr;
};

Slot slotOf(KnownFiles& files, KnownKind kind)
{
    switch (kind) {
    case KnownKind::variants:
        return {nullptr, &files.variants};
    case KnownKind::parameters:
        return {&files.parameters, nullptr};
    case KnownKind::environment:
        return {&files.environment, nullptr};
    case KnownKind::advisories:
        break;
    }
    return {nullptr, &files.advisories};
}

void add(std::vector<std::string>& list, const std::string& path)
{
    if (std::ranges::find(list, path) == list.end()) {
        list.push_back(path);
    }
}

std::string stampOfFile(const std::filesystem::path& path)
{
    std::error_code error;
    const auto size = std::filesystem::file_size(path, error);
    const auto time = error ? std::filesystem::file_time_type() : std::filesystem::last_write_time(path, error);
    return error ? fmt::format("{}: missing\n", path.string())
                 : fmt::format("{}: {} {}\n", path.string(), size, time.time_since_epoch().count());
}

} // namespace

std::optional<std::filesystem::path> ownAdvisories()
{
    std::error_code error;
    auto path = userConfigFolder() / "advisories.json";
    return std::filesystem::exists(path, error) ? std::optional(std::move(path)) : std::nullopt;
}

KnownFiles withFile(KnownFiles files, KnownKind kind, const std::string& path)
{
    const auto slot = slotOf(files, kind);
    if (slot.one != nullptr) {
        *slot.one = path;
    } else {
        add(*slot.several, path);
    }
    return files;
}

KnownFiles withoutFile(KnownFiles files, KnownKind kind, const std::string& path)
{
    const auto slot = slotOf(files, kind);
    if (slot.several != nullptr) {
        std::erase(*slot.several, path);
    } else if (*slot.one == path) {
        slot.one->clear();
    }
    return files;
}

KnownFiles joined(KnownFiles files, const KnownFiles& more)
{
    for (const auto& path : more.variants) {
        add(files.variants, path);
    }
    for (const auto& path : more.advisories) {
        add(files.advisories, path);
    }
    files.environment = more.environment.empty() ? files.environment : more.environment;
    files.parameters = more.parameters.empty() ? files.parameters : more.parameters;
    return files;
}

std::string stampOf(const KnownFiles& files)
{
    std::string stamp;
    if (const auto own = ownAdvisories()) {
        stamp += stampOfFile(*own);
    }
    for (const auto* list : {&files.advisories, &files.variants}) {
        for (const auto& path : *list) {
            stamp += stampOfFile(path);
        }
    }
    for (const auto* path : {&files.environment, &files.parameters}) {
        stamp += path->empty() ? std::string() : stampOfFile(*path);
    }
    return stamp;
}

} // namespace nanscope
