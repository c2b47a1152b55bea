// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What a user knows of a run beside what it left, in files: variants of their own, the environment of the training,
// names of the model's parameters, published problems of packages. The command line and the window judge with it alike.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/diagnose/diagnose.h"
#include "core/diagnose/parameters.h"
#include "core/model/model.h"

namespace nanscope {

enum class KnownKind { variants, parameters, environment, advisories };

inline constexpr KnownKind everyKnownKind[] = {
    KnownKind::variants, KnownKind::parameters, KnownKind::environment, KnownKind::advisories};

/// The files, as they were named. Of environments and of lists of parameters there is one.
struct KnownFiles
{
    std::string environment;
    std::vector<std::string> advisories;
    std::string parameters;
    std::vector<std::string> variants;

    bool empty() const { return *this == KnownFiles(); }
    bool operator==(const KnownFiles&) const = default;
};

/// With one more; what there is one of takes the place of the one before.
KnownFiles withFile(KnownFiles files, KnownKind kind, const std::string& path);
KnownFiles withoutFile(KnownFiles files, KnownKind kind, const std::string& path);
/// `more` over `files`.
KnownFiles joined(KnownFiles files, const KnownFiles& more);

/// One file as it was read.
struct KnownFile
{
    KnownKind kind = KnownKind::variants;
    std::string path;
    std::string holds; ///< "2 variants: a, b"; empty where it cannot be used
    std::optional<Error> problem; ///< why not
    bool always = false; ///< advisories.json in the user's configuration folder
};

struct KnownFacts
{
    std::vector<Setting> environment;
    std::vector<Advisory> advisories; ///< of advisories.json in the user's configuration folder, and those named
    std::optional<ParameterList> parameters;
    std::vector<KnownFile> files; ///< every one, also those that cannot be used

    const KnownFile* firstProblem() const;
};

/// What cannot be used is left out and says why. The variants of the files are known by their names from then on, and
/// those of the call before no longer are, unless they are in these files, too.
KnownFacts knownOf(const KnownFiles& files);

/// The same, where a file that cannot be used is a failure.
Result<KnownFacts> readKnown(const KnownFiles& files);

/// The environment becomes part of the run's settings.
void addEnvironment(RunData& run, const KnownFacts& known);

/// diagnose() with it: the environment becomes part of the run's settings, and layers get their names.
Result<Diagnosis> diagnoseWith(
    const KnownFacts& known, RunData& run, DiagnoseOptions options, const JobContext& job = {});

/// Names, sizes and times of the files, that in the configuration folder included: another text where one of them is
/// another than it was. Empty where there is none.
std::string stampOf(const KnownFiles& files);

/// Commands among what to try next name the user's own variants; with `nameOnly` without their folders.
void repeatVariantFiles(CaptureVerdict& verdict, const KnownFiles& files, bool nameOnly);

} // namespace nanscope
