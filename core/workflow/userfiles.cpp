// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/workflow/userfiles.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "core/base/try.h"
#include "core/diagnose/context/layers.h"
#include "core/diagnose/verdict/experiments.h"
#include "core/ingest/ingest.h"
#include "core/model/verdict.h"
#include "core/platform/platform.h"
#include "core/replay/variants/catalogue.h"
#include "core/replay/variants/sessionvariants.h"
#include "core/replay/variants/variantfields.h"
#include "core/replay/variants/variantjson.h"
#include "core/report/document/commandwords.h"

namespace nanscope::workflow {

namespace {

std::string holdsText(const std::vector<replay::Variant>& variants)
{
    constexpr std::size_t mostNames = 4;
    auto text = fmt::format("{} variant{}: ", variants.size(), variants.size() == 1 ? "" : "s");
    for (std::size_t i = 0; i < std::min(mostNames, variants.size()); ++i) {
        text += (i == 0 ? "" : ", ") + variants[i].name;
    }
    return text + (variants.size() > mostNames ? ", …" : "");
}

/// A session keeps what a variant computes; title, source and family are the file's.
Result<void> addBeside(const replay::Catalogue& kept, replay::Variant variant, replay::Catalogue& catalogue)
{
    const auto* same = kept.own(variant.name);
    if (same == nullptr) {
        return catalogue.add(std::move(variant));
    }
    return replay::differingKeys(*same, variant).empty()
        ? catalogue.put(std::move(variant))
        : failure(ErrorKind::usage, replay::keptOtherwise(*same, variant));
}

/// All of a file or none of it.
UserFile takeVariants(UserFacts& known, const std::string& path)
{
    UserFile file {UserFileKind::variants, path, {}, {}};
    auto catalogue = known.catalogue;
    const auto read = replay::readVariantFile(path, catalogue);
    auto taken = read ? Result<void>() : tl::make_unexpected(read.error());
    for (std::size_t i = 0; taken && i < read->size(); ++i) {
        taken = addBeside(known.kept, read->at(i), catalogue);
    }
    if (taken) {
        file.holds = holdsText(*read);
        known.catalogue = std::move(catalogue);
    } else {
        file.problem = Error {taken.error().kind, taken.error().what, path};
    }
    return file;
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
        [&known](const std::string& file) { return diagnose::readAdvisories(file, known.catalogue); },
        [&known](std::vector<diagnose::Advisory> more) {
            auto text = more.size() == 1 ? std::string("1 advisory") : fmt::format("{} advisories", more.size());
            known.advisories = diagnose::joinAdvisories(std::move(known.advisories), std::move(more));
            return text;
        });
}

Result<std::vector<Setting>> readEnvironment(const std::string& path)
{
    auto read = TRY(ingest::readLog(path, std::filesystem::path(path).filename().string()));
    if (read.settings.empty()) {
        return failure(
            ErrorKind::format, "this is not what `nanscope env --json` writes in the training environment", path);
    }
    return std::move(read.settings);
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

UserFacts readUserFiles(const UserFiles& files, replay::Catalogue kept)
{
    UserFacts known;
    known.catalogue = kept;
    known.kept = std::move(kept);
    for (const auto& path : files.variants) {
        known.files.push_back(takeVariants(known, path));
    }
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

Result<UserFacts> requireUserFiles(const UserFiles& files, replay::Catalogue kept)
{
    auto known = readUserFiles(files, std::move(kept));
    if (const auto* unusable = known.firstProblem()) {
        return tl::make_unexpected(*unusable->problem);
    }
    return known;
}

UserFacts readUserFilesOf(const session::Session* session, const UserFiles& files, RunData& run)
{
    replay::Catalogue kept;
    const auto notes = session != nullptr ? replay::takeVariants(*session, kept) : std::vector<std::string>();
    for (const auto& note : notes ? *notes : std::vector {sentence(notes.error())}) {
        run.rejected.push_back({session->path().string(), note});
    }
    return readUserFiles(files, std::move(kept));
}

UserFacts readUserFilesBeside(const rpc::KeptIn& place, const UserFiles& files)
{
    replay::Catalogue kept;
    if (!place.session.empty()) {
        if (const auto session = session::openSessionOfRun(place.session, session::OpenMode::readOnly, place.run)) {
            (void)replay::takeVariants(*session, kept);
        }
    }
    return readUserFiles(files, std::move(kept));
}

void addEnvironment(RunData& run, const UserFacts& known)
{
    std::ranges::copy(known.environment, std::back_inserter(run.settings));
}

Result<Diagnosis> diagnoseWith(
    const UserFacts& known, RunData& run, diagnose::DiagnoseOptions options, const JobContext& job)
{
    options.advisories = diagnose::joinAdvisories(std::move(options.advisories), known.advisories);
    options.catalogue = known.catalogue;
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
        // The command line may have judged the stored verdict with them.
        if (diagnose::isCommand(experiment) && experiment.what.find(" --variant-file ") == std::string::npos) {
            experiment.what += words;
        }
    }
}

} // namespace nanscope::workflow
