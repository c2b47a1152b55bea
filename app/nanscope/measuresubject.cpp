// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/measuresubject.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/nanscope/sweepchoice.h"
#include "app/nanscope/words.h"
#include "core/tensorfile/capture/capturefile.h"

namespace nanscope {

namespace {

Result<std::string> chosenVariant(const SubjectOptions& options, const std::string& path, Terminal& terminal)
{
    if (!options.variant.empty()) {
        return options.variant;
    }
    auto file = tensorfile::readCapture(path);
    if (!file) {
        return tl::make_unexpected(file.error());
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

Result<instruments::CellChoice> cellChoice(const SubjectOptions& options, std::string variant)
{
    instruments::CellChoice choice;
    choice.variant = std::move(variant);
    choice.device = options.function.empty() ? options.device : "cpu";
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

Result<instruments::MeasuredSubject> openFunction(const SubjectOptions& options, Terminal& terminal)
{
    const auto impl = implChoice(options);
    if (!impl) {
        return tl::make_unexpected(impl.error());
    }
    std::optional<instruments::CellChoice> expected;
    if (!options.variant.empty()) {
        auto cell = cellChoice(options, options.variant);
        if (!cell) {
            return tl::make_unexpected(cell.error());
        }
        expected = std::move(*cell);
    }
    sayWhatRuns(*impl, terminal);
    return instruments::measuredFunction(*impl, expected, terminal.cancelToken());
}

} // namespace

void SubjectOptions::add(Options& options)
{
    options.add("--variant", variant, "The variant to replay, or that the function claims to be");
    options.add("--precision", precision, "Number format of the replay; default: the variant's own");
    options.add("--lowering", lowering, "eager or fused; default: the variant's own");
    options.add("--device", device, "cpu; of a function any that its torch knows").showDefault();
    options.add("--steps", steps, "Iterations of the replay, 1 to 100");
    function.add(options);
}

Result<instruments::ImplChoice> implChoice(const SubjectOptions& options)
{
    return options.function.choice(options.device, options.variant);
}

Result<instruments::MeasuredSubject> openSubject(
    const SubjectOptions& options, const std::string& capture, Terminal& terminal)
{
    if (!options.function.empty()) {
        return openFunction(options, terminal);
    }
    const auto variant = chosenVariant(options, capture, terminal);
    if (!variant) {
        return tl::make_unexpected(variant.error());
    }
    const auto cell = cellChoice(options, *variant);
    return cell ? instruments::measuredCell(*cell, replay::makeCoreDevice) : tl::make_unexpected(cell.error());
}

} // namespace nanscope
