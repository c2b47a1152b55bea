// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "core/instruments/target.h"
#include "core/replay/variants/catalogue.h"

namespace nanscope::instruments {

/// A function of the user's and the Python it runs in.
struct FunctionChoice
{
    std::string target; ///< "MODULE:FUNCTION" or "/path/file.py:FUNCTION"
    std::filesystem::path python;
    std::string device = "cpu"; ///< as torch names it
    double timeout = 60; ///< seconds that a call may take, and the import of what it needs
    std::string variant; ///< that it claims to be; empty: not said
    replay::Catalogue catalogue {}; ///< of that variant
};

/// Reads "python:MODULE:FUNCTION"; fails where it is none.
Result<std::string> functionTarget(std::string_view impl);

/// The program that calls the function, as it is run.
std::string_view harnessSource();

/// "python nanscope_impl.py MODULE:FUNCTION cpu", for showing before it is run.
std::string harnessCommand(const FunctionChoice& choice);

/// Calls the function in a child process, which is started when it is first needed and again where it died. Nothing of
/// Python is evaluated in this one.
class FunctionTarget : public Target
{
public:
    /// Starts the child, so that a function that cannot be loaded fails at once.
    static Result<std::unique_ptr<FunctionTarget>> make(const FunctionChoice& choice, const CancelToken& cancel);
    ~FunctionTarget() override;

    TargetFacts facts() const override;
    Result<Reply> call(const Question& question, const CancelToken& cancel) override;
    Result<Burst> burst(const Question& question, const BurstOptions& options, const JobContext& job) override;
    Result<void> renew(const CancelToken& cancel) override;

    const FunctionChoice& choice() const { return m_choice; }

private:
    class Child;
    explicit FunctionTarget(FunctionChoice choice);
    Result<void> ensureAlive(const CancelToken& cancel);
    struct BurstPart;
    Result<BurstPart> burstPart(const Question& question, const BurstOptions& options, const CancelToken& cancel);

    FunctionChoice m_choice;
    TargetFacts m_facts;
    std::unique_ptr<Child> m_child;
    std::optional<Error> m_lost; ///< it died and could not be started again, which is not tried twice
    double m_slowest = 0; ///< seconds of the slowest call so far
};

} // namespace nanscope::instruments
