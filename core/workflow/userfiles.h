// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What a user adds to what a run left, in files: variants of their own, the environment of the training,
// names of the model's parameters, published problems of packages. The command line and the window judge with it alike.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/diagnose/context/layers.h"
#include "core/diagnose/diagnose.h"
#include "core/model/fwd.h"
#include "core/model/model.h"
#include "core/replay/variants/catalogue.h"
#include "core/rpc/requests.h"
#include "core/session/session.h"

namespace nanscope::workflow {

enum class UserFileKind { variants, parameters, environment, advisories };

inline constexpr UserFileKind everyUserFileKind[] = {
    UserFileKind::variants, UserFileKind::parameters, UserFileKind::environment, UserFileKind::advisories};

/// The files, as they were named. Of environments and of lists of parameters there is one.
struct UserFiles
{
    std::string environment;
    std::vector<std::string> advisories;
    std::string parameters;
    std::vector<std::string> variants;

    bool empty() const { return *this == UserFiles(); }
    bool operator==(const UserFiles&) const = default;
};

/// With one more; what there is one of takes the place of the one before.
UserFiles withFile(UserFiles files, UserFileKind kind, const std::string& path);
UserFiles withoutFile(UserFiles files, UserFileKind kind, const std::string& path);
/// `more` over `files`.
UserFiles joined(UserFiles files, const UserFiles& more);

/// One file as it was read.
struct UserFile
{
    UserFileKind kind = UserFileKind::variants;
    std::string path;
    std::string holds; ///< "2 variants: a, b"; empty where it cannot be used
    std::optional<Error> problem; ///< why not
    bool always = false; ///< advisories.json in the user's configuration folder
};

struct UserFacts
{
    std::vector<Setting> environment;
    std::vector<diagnose::Advisory>
        advisories; ///< of advisories.json in the user's configuration folder, and those named
    std::optional<diagnose::ParameterList> parameters;
    replay::Catalogue kept; ///< what the session of the run keeps
    replay::Catalogue catalogue; ///< with the variants of the files
    std::vector<UserFile> files; ///< every one, also those that cannot be used

    const UserFile* firstProblem() const;
};

/// What cannot be used is left out and says why. What the session of the run keeps goes before the files: none of them
/// can give such a name to another variant.
UserFacts readUserFiles(const UserFiles& files, replay::Catalogue kept);

/// The same, where a file that cannot be used is a failure.
Result<UserFacts> requireUserFiles(const UserFiles& files, replay::Catalogue kept);

/// With what the session of a run keeps, if it has one. What is wrong with a variant that it keeps stands with the
/// files of the run that could not be read.
UserFacts readUserFilesOf(const session::Session* session, const UserFiles& files, RunData& run);

/// With what the session there keeps by now.
UserFacts readUserFilesBeside(const rpc::KeptIn& place, const UserFiles& files);

/// The environment becomes part of the run's settings.
void addEnvironment(RunData& run, const UserFacts& known);

/// diagnose() with it: the environment becomes part of the run's settings, and layers get their names.
Result<Diagnosis> diagnoseWith(
    const UserFacts& known, RunData& run, diagnose::DiagnoseOptions options, const JobContext& job = {});

/// Names, sizes and times of the files, that in the configuration folder included: another text where one of them is
/// another than it was. Empty where there is none.
std::string stampOf(const UserFiles& files);

/// Commands among what to try next name the user's own variants; with `nameOnly` without their folders.
void repeatVariantFiles(CaptureVerdict& verdict, const UserFiles& files, bool nameOnly);

} // namespace nanscope::workflow
