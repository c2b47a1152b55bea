// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/known/ownvariants.h"

#include <algorithm>
#include <iterator>
#include <mutex>

#include <fmt/format.h>

#include "core/replay/variantjson.h"

namespace nanscope {

namespace {

/// Variants that came of files, as they were made known.
struct Own
{
    std::mutex mutex;
    std::vector<Variant> variants;
};

Own& own()
{
    static Own all;
    return all;
}

std::string holdsText(const std::vector<Variant>& variants)
{
    constexpr std::size_t mostNames = 4;
    auto text = fmt::format("{} variant{}: ", variants.size(), variants.size() == 1 ? "" : "s");
    for (std::size_t i = 0; i < std::min(mostNames, variants.size()); ++i) {
        text += (i == 0 ? "" : ", ") + variants[i].name;
    }
    return text + (variants.size() > mostNames ? ", …" : "");
}

bool isKnown(const std::string& name)
{
    return std::ranges::any_of(addedVariants(), [&](const Variant* one) { return one->name == name; });
}

using ReadFile = Result<std::vector<Variant>>;

/// What is still wanted stays known all the while: another thread may be replaying it.
void forgetAllBut(const std::vector<ReadFile>& wanted, std::vector<Variant>& known)
{
    std::erase_if(known, [&](const Variant& variant) {
        const bool stays = std::ranges::any_of(
            wanted, [&](const ReadFile& file) { return file && std::ranges::find(*file, variant) != file->end(); });
        if (!stays) {
            forgetVariant(variant.name);
        }
        return !stays;
    });
}

/// All of a file or none of it.
Result<void> makeKnown(const std::vector<Variant>& variants, std::vector<Variant>& known)
{
    std::vector<Variant> fresh;
    for (const auto& variant : variants) {
        const bool before = isKnown(variant.name);
        if (auto added = addVariant(variant); !added) {
            for (const auto& one : fresh) {
                forgetVariant(one.name);
            }
            return added;
        }
        if (!before) {
            fresh.push_back(variant);
        }
    }
    std::ranges::move(fresh, std::back_inserter(known));
    return {};
}

KnownFile used(const std::string& path, const ReadFile& read, std::vector<Variant>& known)
{
    KnownFile file {KnownKind::variants, path, {}, {}};
    const auto added = read ? makeKnown(*read, known) : tl::make_unexpected(read.error());
    if (added) {
        file.holds = holdsText(*read);
    } else {
        file.problem = Error {added.error().kind, added.error().what, path};
    }
    return file;
}

} // namespace

std::vector<KnownFile> useVariantFiles(const std::vector<std::string>& paths)
{
    std::vector<ReadFile> read;
    for (const auto& path : paths) {
        read.push_back(readVariantFile(path));
    }
    const std::lock_guard lock(own().mutex);
    forgetAllBut(read, own().variants);
    std::vector<KnownFile> files;
    for (std::size_t i = 0; i < paths.size(); ++i) {
        files.push_back(used(paths[i], read[i], own().variants));
    }
    return files;
}

} // namespace nanscope
