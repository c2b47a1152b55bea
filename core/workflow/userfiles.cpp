// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/workflow/userfiles.h"

#include <algorithm>
#include <iterator>
#include <mutex>

#include <fmt/format.h>

#include "core/diagnose/context/layers.h"
#include "core/ingest/ingest.h"
#include "core/platform/platform.h"
#include "core/replay/variants/catalogue.h"
#include "core/replay/variants/sessionvariants.h"
#include "core/replay/variants/variantfields.h"
#include "core/replay/variants/variantjson.h"
#include "core/report/document/commandwords.h"

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

/// advisories.json in the user's configuration folder, where there is one.
std::optional<std::filesystem::path> ownAdvisories()
{
    std::error_code error;
    auto path = platform::userConfigFolder() / "advisories.json";
    return std::filesystem::exists(path, error) ? std::optional(std::move(path)) : std::nullopt;
}

/// Where files of this kind stand, whether there may be one or several.
struct Slot
{
    std::string* one = nullptr;
    std::vector<std::string>* several = nullptr;
};

Slot slotOf(UserFiles& files, UserFileKind kind)
{
    switch (kind) {
    case UserFileKind::variants:
        return {nullptr, &files.variants};
    case UserFileKind::parameters:
        return {&files.parameters, nullptr};
    case UserFileKind::environment:
        return {&files.environment, nullptr};
    case UserFileKind::advisories:
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

std::string counted(std::size_t count, const char* one, const char* several)
{
    return fmt::format("{} {}", count, count == 1 ? one : several);
}

/// Takes what `read` gives, or keeps why there is nothing to take.
template <class Read, class Take>
void take(UserFacts& known, UserFile file, const Read& read, Take into)
{
    auto value = read(file.path);
    if (value) {
        file.holds = into(std::move(*value));
    } else {
        file.problem = value.error();
    }
    known.files.push_back(std::move(file));
}

void takeAdvisories(UserFacts& known, const std::string& path, bool always)
{
    take(
        known, {UserFileKind::advisories, path, {}, {}, always},
        [](const std::string& file) { return diagnose::readAdvisories(file); },
        [&known](std::vector<diagnose::Advisory> more) {
            auto text = more.size() == 1 ? std::string("1 advisory") : fmt::format("{} advisories", more.size());
            known.advisories = diagnose::joinAdvisories(std::move(known.advisories), std::move(more));
            return text;
        });
}

Result<std::vector<Setting>> readEnvironment(const std::string& path)
{
    auto read = ingest::readLog(path, std::filesystem::path(path).filename().string());
    if (!read) {
        return tl::make_unexpected(read.error());
    }
    if (read->settings.empty()) {
        return failure(
            ErrorKind::format, "this is not what `nanscope env --json` writes in the training environment", path);
    }
    return std::move(read->settings);
}

void takeEnvironment(UserFacts& known, const std::string& path)
{
    take(known, {UserFileKind::environment, path, {}, {}}, readEnvironment, [&known](std::vector<Setting> settings) {
        known.environment = std::move(settings);
        return counted(known.environment.size(), "fact", "facts");
    });
}

std::string holdsText(const diagnose::ParameterList& list)
{
    return counted(list.parameters.size(), "parameter", "parameters") + (list.shapes ? "" : ", no shapes");
}

void takeParameters(UserFacts& known, const std::string& path)
{
    take(
        known, {UserFileKind::parameters, path, {}, {}},
        [](const std::string& file) { return diagnose::readParameters(file); },
        [&known](diagnose::ParameterList list) {
            known.parameters = std::move(list);
            return holdsText(*known.parameters);
        });
}

} // namespace

UserFiles withFile(UserFiles files, UserFileKind kind, const std::string& path)
{
    const auto slot = slotOf(files, kind);
    if (slot.one != nullptr) {
        *slot.one = path;
    } else {
        add(*slot.several, path);
    }
    return files;
}

UserFiles withoutFile(UserFiles files, UserFileKind kind, const std::string& path)
{
    const auto slot = slotOf(files, kind);
    if (slot.several != nullptr) {
        std::erase(*slot.several, path);
    } else if (*slot.one == path) {
        slot.one->clear();
    }
    return files;
}

UserFiles joined(UserFiles files, const UserFiles& more)
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

std::string stampOf(const UserFiles& files)
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

const UserFile* UserFacts::firstProblem() const
{
    const auto found = std::ranges::find_if(files, [](const UserFile& file) { return file.problem.has_value(); });
    return found == files.end() ? nullptr : &*found;
}

UserFacts readUserFiles(const UserFiles& files)
{
    UserFacts known;
    known.files = useVariantFiles(files.variants);
    if (const auto own = ownAdvisories()) {
        takeAdvisories(known, own->string(), true);
    }
    for (const auto& path : files.advisories) {
        takeAdvisories(known, path, false);
    }
    if (!files.environment.empty()) {
        takeEnvironment(known, files.environment);
    }
    if (!files.parameters.empty()) {
        takeParameters(known, files.parameters);
    }
    return known;
}

Result<UserFacts> requireUserFiles(const UserFiles& files)
{
    auto known = readUserFiles(files);
    if (const auto* unusable = known.firstProblem()) {
        return tl::make_unexpected(*unusable->problem);
    }
    return known;
}

void addEnvironment(RunData& run, const UserFacts& known)
{
    std::ranges::copy(known.environment, std::back_inserter(run.settings));
}

Result<Diagnosis> diagnoseWith(
    const UserFacts& known, RunData& run, diagnose::DiagnoseOptions options, const JobContext& job)
{
    options.advisories = diagnose::joinAdvisories(std::move(options.advisories), known.advisories);
    addEnvironment(run, known);
    auto diagnosis = diagnose::diagnose(run, options, job);
    if (diagnosis && known.parameters) {
        diagnose::nameLayers(*diagnosis, run, *known.parameters);
    }
    return diagnosis;
}

void repeatVariantFiles(CaptureVerdict& verdict, const UserFiles& files, bool nameOnly)
{
    const auto words = report::variantFileWords(files.variants, nameOnly);
    for (auto& experiment : verdict.next) {
        const bool command = experiment.what.starts_with("nanscope ");
        // The command line may have judged the stored verdict with them.
        if (command && experiment.what.find(" --variant-file ") == std::string::npos) {
            experiment.what += words;
        }
    }
}

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
