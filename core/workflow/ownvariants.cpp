// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/workflow/ownvariants.h"

#include <algorithm>
#include <iterator>
#include <mutex>

#include <fmt/format.h>

#include "core/replay/variants/sessionvariants.h"
#include "core/replay/variants/variantjson.h"

namespace nanscope::workflow {

namespace {

/// Variants by where they came from, as they were made known. One may have come from both.
struct Own
{
    std::mutex mutex;
    std::vector<replay::Variant> ofFiles;
    std::vector<replay::Variant> kept; ///< by the session of the open run
};

Own& own()
{
    static Own all;
    return all;
}

std::string holdsText(const std::vector<replay::Variant>& variants)
{
    constexpr std::size_t mostNames = 4;
    auto text = fmt::format("{} variant{}: ", variants.size(), variants.size() == 1 ? "" : "s");
    for (std::size_t i = 0; i < std::min(mostNames, variants.size()); ++i) {
        text += (i == 0 ? "" : ", ") + variants[i].name;
    }
    return text + (variants.size() > mostNames ? ", …" : "");
}

const replay::Variant* find(const std::vector<replay::Variant>& variants, const std::string& name)
{
    const auto found = std::ranges::find(variants, name, &replay::Variant::name);
    return found == variants.end() ? nullptr : &*found;
}

const replay::Variant* findAdded(const std::string& name)
{
    const auto added = replay::addedVariants();
    const auto found = std::ranges::find(added, name, &replay::Variant::name);
    return found == added.end() ? nullptr : *found;
}

using ReadFile = Result<std::vector<replay::Variant>>;

std::vector<ReadFile> readAll(const std::vector<std::string>& paths)
{
    std::vector<ReadFile> read;
    std::ranges::transform(
        paths, std::back_inserter(read), [](const auto& path) { return replay::readVariantFile(path); });
    return read;
}

/// What is still wanted stays known all the while: another thread may be replaying it.
void forgetOfFilesBut(const std::vector<ReadFile>& wanted, Own& all)
{
    std::erase_if(all.ofFiles, [&](const replay::Variant& variant) {
        const bool stays = std::ranges::any_of(
            wanted, [&](const ReadFile& file) { return file && std::ranges::find(*file, variant) != file->end(); });
        if (!stays && !find(all.kept, variant.name)) {
            replay::forgetVariant(variant.name);
        }
        return !stays;
    });
}

void forgetKeptBut(const std::vector<replay::Variant>& wanted, Own& all)
{
    std::erase_if(all.kept, [&](const replay::Variant& variant) {
        const replay::Variant* same = find(wanted, variant.name);
        const bool stays = same && replay::differingKeys(*same, variant).empty();
        if (!stays && !find(all.ofFiles, variant.name)) {
            replay::forgetVariant(variant.name);
        }
        return !stays;
    });
}

/// A session keeps a name for what it computes; how it is told of is the file's.
Result<void> addBeside(const std::vector<replay::Variant>& kept, const replay::Variant& variant)
{
    const replay::Variant* same = find(kept, variant.name);
    if (!same) {
        return replay::addVariant(variant);
    }
    return replay::differingKeys(*same, variant).empty()
        ? replay::putVariant(variant)
        : failure(ErrorKind::usage, replay::keptOtherwise(*same, variant));
}

/// All of a file or none of it.
Result<void> makeKnown(const std::vector<replay::Variant>& variants, Own& all)
{
    std::vector<replay::Variant> fresh;
    for (const auto& variant : variants) {
        const bool isKept = find(all.kept, variant.name) != nullptr;
        const bool before = isKept ? find(all.ofFiles, variant.name) != nullptr : findAdded(variant.name) != nullptr;
        if (auto added = addBeside(all.kept, variant); !added) {
            std::erase_if(fresh, [&](const replay::Variant& one) { return find(all.kept, one.name) != nullptr; });
            std::ranges::for_each(fresh, [](const replay::Variant& one) { replay::forgetVariant(one.name); });
            return added;
        }
        if (!before) {
            fresh.push_back(variant);
        }
    }
    std::ranges::move(fresh, std::back_inserter(all.ofFiles));
    return {};
}

UserFile used(const std::string& path, const ReadFile& read, Own& all)
{
    UserFile file {UserFileKind::variants, path, {}, {}};
    const auto added = read ? makeKnown(*read, all) : tl::make_unexpected(read.error());
    if (added) {
        file.holds = holdsText(*read);
    } else {
        file.problem = Error {added.error().kind, added.error().what, path};
    }
    return file;
}

/// The variant that is known by this name computes the same, or nothing.
Result<void> takeKept(const replay::Variant& variant, Own& all)
{
    const replay::Variant* known = findAdded(variant.name);
    if (known && !replay::differingKeys(variant, *known).empty()) {
        return failure(ErrorKind::usage, replay::keptOtherwise(variant, *known));
    }
    auto added = known ? Result<void>() : replay::addVariant(variant);
    if (added && !find(all.kept, variant.name)) {
        all.kept.push_back(known ? *known : variant);
    }
    return added;
}

std::vector<std::string> useKept(const session::Session& session, const UserFiles& files)
{
    auto kept = replay::keptVariants(session);
    if (!kept) {
        return {sentence(kept.error())};
    }
    auto notes = useKeptVariants(kept->variants, files.variants);
    std::ranges::copy(kept->leftOut, std::back_inserter(notes));
    return notes;
}

} // namespace

std::vector<UserFile> useVariantFiles(const std::vector<std::string>& paths)
{
    const auto read = readAll(paths);
    const std::lock_guard lock(own().mutex);
    forgetOfFilesBut(read, own());
    std::vector<UserFile> files;
    for (std::size_t i = 0; i < paths.size(); ++i) {
        files.push_back(used(paths[i], read[i], own()));
    }
    return files;
}

std::vector<std::string> useKeptVariants(
    const std::vector<replay::Variant>& kept, const std::vector<std::string>& paths)
{
    const auto read = readAll(paths);
    const std::lock_guard lock(own().mutex);
    forgetKeptBut(kept, own());
    forgetOfFilesBut(read, own());
    std::vector<std::string> problems;
    for (const auto& variant : kept) {
        if (const auto taken = takeKept(variant, own()); !taken) {
            problems.push_back(sentence(taken.error()));
        }
    }
    return problems;
}

std::vector<UserFile> useVariantsOf(const session::Session* session, const UserFiles& files, RunData& run)
{
    const auto notes = session ? useKept(*session, files) : useKeptVariants({}, files.variants);
    for (const auto& note : notes) {
        run.rejected.push_back({session ? session->path().string() : run.root, note});
    }
    return readUserFiles(files).files;
}

UserFacts readUserFilesBeside(const rpc::KeptIn& place, const UserFiles& files)
{
    if (!place.session.empty()) {
        if (const auto session = session::openSessionOfRun(place.session, session::OpenMode::readOnly, place.run)) {
            (void)useKept(*session, files);
        }
    }
    return readUserFiles(files);
}

std::vector<std::string> keptVariantNames()
{
    const std::lock_guard lock(own().mutex);
    std::vector<std::string> names;
    std::ranges::transform(own().kept, std::back_inserter(names), &replay::Variant::name);
    return names;
}

} // namespace nanscope::workflow
