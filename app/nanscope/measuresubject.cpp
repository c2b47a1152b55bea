// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/measuresubject.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/nanscope/sweepchoice.h"
#include "app/nanscope/words.h"
#include "core/tensorfile/capturefile.h"

namespace nanscope {

namespace fs = std::filesystem;

namespace {

/// As a shell looks for a program; a name with a slash is taken as it is.
fs::path programPath(const std::string& name)
{
    const char* folders = std::getenv("PATH");
    if (name.find('/') != std::string::npos || folders == nullptr) {
        return name;
    }
    std::istringstream stream(folders);
    for (std::string folder; std::getline(stream, folder, ':');) {
        std::error_code error;
        if (fs::is_regular_file(fs::path(folder) / name, error)) {
            return fs::path(folder) / name;
        }
    }
    return name;
}

Result<std::string> chosenVariant(const SubjectOptions& options, const std::string& path, Terminal& terminal)
{
    if (!options.variant.empty()) {
        return options.variant;
    }
    auto file = readCapture(path);
    if (!file) {
        return tl::make_unexpected(file.error());
    }
    if (file->capture.variant && findVariant(*file->capture.variant)) {
        return *file->capture.variant;
    }
    const auto plausible = plausibleVariants(file->capture, terminal.cancelToken());
    if (!plausible) {
        return tl::make_unexpected(plausible.error());
    }
    if (plausible->size() != 1) {
        return failure(ErrorKind::usage,
            fmt::format("the capture does not tell which variant ran; name one with --variant: {}",
                fmt::join(*plausible, ", ")),
            path);
    }
    return plausible->front();
}

Result<CellChoice> cellChoice(const SubjectOptions& options, std::string variant)
{
    CellChoice choice;
    choice.variant = std::move(variant);
    choice.device = options.impl.empty() ? options.device : "cpu";
    choice.steps = options.steps;
    if (!options.precision.empty()) {
        const auto precisions = precisionsOf({options.precision});
        if (!precisions) {
            return tl::make_unexpected(precisions.error());
        }
        choice.precision = precisions->front();
    }
    if (!options.lowering.empty()) {
        const auto lowerings = loweringsOf({options.lowering});
        if (!lowerings) {
            return tl::make_unexpected(lowerings.error());
        }
        choice.lowering = lowerings->front();
    }
    return choice;
}

Result<MeasuredSubject> openFunction(const SubjectOptions& options, Terminal& terminal)
{
    const auto impl = implChoice(options);
    if (!impl) {
        return tl::make_unexpected(impl.error());
    }
    std::optional<CellChoice> expected;
    if (!options.variant.empty()) {
        auto cell = cellChoice(options, options.variant);
        if (!cell) {
            return tl::make_unexpected(cell.error());
        }
        expected = std::move(*cell);
    }
    if (!terminal.json()) {
        terminal.say(LogLevel::warning, "Runs " + harnessCommand(*impl) + " (--show prints that program)");
    }
    return measuredFunction(*impl, expected, terminal.cancelToken());
}

} // namespace

void SubjectOptions::add(CLI::App& options)
{
    options.add_option("--variant", variant, "The variant to replay, or that the function claims to be");
    options.add_option("--precision", precision, "Number format of the replay; default: the variant's own");
    options.add_option("--lowering", lowering, "eager or fused; default: the variant's own");
    options.add_option("--device", device, "cpu; of a function any that its torch knows")->capture_default_str();
    options.add_option("--steps", steps, "Iterations of the replay, 1 to 100");
    options.add_option("--impl", impl, "Your own function: python:MODULE:FUNCTION, called as f(X, epsilon)");
    options.add_option("--python", python, "The Python it runs in")->capture_default_str();
    options.add_option("--timeout", timeout, "Seconds that one call may take")->capture_default_str();
}

Result<ImplChoice> implChoice(const SubjectOptions& options)
{
    auto target = implTarget(options.impl);
    if (!target) {
        return tl::make_unexpected(target.error());
    }
    if (!(options.timeout > 0)) {
        return failure(ErrorKind::usage, "--timeout takes a positive number of seconds");
    }
    return ImplChoice {*target, programPath(options.python), options.device, options.timeout, options.variant};
}

Result<MeasuredSubject> openSubject(const SubjectOptions& options, const std::string& capture, Terminal& terminal)
{
    if (!options.impl.empty()) {
        return openFunction(options, terminal);
    }
    const auto variant = chosenVariant(options, capture, terminal);
    if (!variant) {
        return tl::make_unexpected(variant.error());
    }
    const auto cell = cellChoice(options, *variant);
    return cell ? measuredCell(*cell, makeCoreDevice) : tl::make_unexpected(cell.error());
}

} // namespace nanscope
