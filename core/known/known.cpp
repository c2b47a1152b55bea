// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/known/known.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "core/diagnose/layers.h"
#include "core/ingest/ingest.h"
#include "core/known/knownplaces.h"
#include "core/known/ownvariants.h"
#include "core/report/commandwords.h"

namespace nanscope {

namespace {

std::string counted(std::size_t count, const char* one, const char* several)
{
    return fmt::format("{} {}", count, count == 1 ? one : several);
}

/// Takes what `read` gives, or keeps why there is nothing to take.
template <class Read, class Take>
void take(KnownFacts& known, KnownFile file, const Read& read, Take into)
{
    auto value = read(file.path);
    if (value) {
        file.holds = into(std::move(*value));
    } else {
        file.problem = value.error();
    }
    known.files.push_back(std::move(file));
}

void takeAdvisories(KnownFacts& known, const std::string& path, bool always)
{
    take(
        known, {KnownKind::advisories, path, {}, {}, always},
        [](const std::string& file) { return readAdvisories(file); },
        [&known](std::vector<Advisory> more) {
            auto text = more.size() == 1 ? std::string("1 advisory") : fmt::format("{} advisories", more.size());
            known.advisories = joinAdvisories(std::move(known.advisories), std::move(more));
            return text;
        });
}

Result<std::vector<Setting>> readEnvironment(const std::string& path)
{
    auto read = readLog(path, std::filesystem::path(path).filename().string());
    if (!read) {
        return tl::make_unexpected(read.error());
    }
    if (read->settings.empty()) {
        return failure(
            ErrorKind::format, "this is not what `nanscope env --json` writes in the training environment", path);
    }
    return std::move(read->settings);
}

void takeEnvironment(KnownFacts& known, const std::string& path)
{
    take(known, {KnownKind::environment, path, {}, {}}, readEnvironment, [&known](std::vector<Setting> settings) {
        known.environment = std::move(settings);
        return counted(known.environment.size(), "fact", "facts");
    });
}

std::string holdsText(const ParameterList& list)
{
    return counted(list.parameters.size(), "parameter", "parameters") + (list.shapes ? "" : ", no shapes");
}

void takeParameters(KnownFacts& known, const std::string& path)
{
    take(
        known, {KnownKind::parameters, path, {}, {}}, [](const std::string& file) { return readParameters(file); },
        [&known](ParameterList list) {
            known.parameters = std::move(list);
            return holdsText(*known.parameters);
        });
}

} // namespace

const KnownFile* KnownFacts::firstProblem() const
{
    const auto found = std::ranges::find_if(files, [](const KnownFile& file) { return file.problem.has_value(); });
    return found == files.end() ? nullptr : &*found;
}

KnownFacts knownOf(const KnownFiles& files)
{
    KnownFacts known;
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

Result<KnownFacts> readKnown(const KnownFiles& files)
{
    auto known = knownOf(files);
    if (const auto* unusable = known.firstProblem()) {
        return tl::make_unexpected(*unusable->problem);
    }
    return known;
}

void addEnvironment(RunData& run, const KnownFacts& known)
{
    std::ranges::copy(known.environment, std::back_inserter(run.settings));
}

Result<Diagnosis> diagnoseWith(const KnownFacts& known, RunData& run, DiagnoseOptions options, const JobContext& job)
{
    options.advisories = joinAdvisories(std::move(options.advisories), known.advisories);
    addEnvironment(run, known);
    auto diagnosis = diagnose(run, options, job);
    if (diagnosis && known.parameters) {
        nameLayers(*diagnosis, run, *known.parameters);
    }
    return diagnosis;
}

void repeatVariantFiles(CaptureVerdict& verdict, const KnownFiles& files, bool nameOnly)
{
    const auto words = variantFileWords(files.variants, nameOnly);
    for (auto& experiment : verdict.next) {
        const bool command = experiment.what.starts_with("nanscope ");
        // The command line may have judged the stored verdict with them.
        if (command && experiment.what.find(" --variant-file ") == std::string::npos) {
            experiment.what += words;
        }
    }
}

} // namespace nanscope
