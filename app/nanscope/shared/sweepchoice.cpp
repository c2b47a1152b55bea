// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/shared/sweepchoice.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "app/nanscope/shared/source.h"
#include "app/nanscope/shared/words.h"
#include "core/diagnose/identify/identify.h"

namespace nanscope {

namespace {

std::vector<const Capture*> allOf(const RunData& run)
{
    std::vector<const Capture*> captures;
    std::transform(run.captures.begin(), run.captures.end(), std::back_inserter(captures),
        [](const Capture& capture) { return &capture; });
    return captures;
}

/// A replay of an input that is damaged already says nothing, so those are left out unless they are asked for.
std::vector<const Capture*> worthReplaying(const RunData& run, Terminal& terminal)
{
    auto all = allOf(run);
    std::vector<const Capture*> finite;
    std::copy_if(all.begin(), all.end(), std::back_inserter(finite),
        [](const Capture* capture) { return capture->input.total().finite(); });
    if (finite.empty() || finite.size() == all.size()) {
        return all;
    }
    terminal.say(LogLevel::warning,
        fmt::format("{} of {} captures are replayed: the input of the others is damaged already (--capture all takes "
                    "them too)",
            finite.size(), all.size()));
    return finite;
}

/// Forms that nobody recommends fit wherever their published sibling does; alone, they are an answer.
std::vector<std::string> recommended(const std::vector<std::string>& names, const replay::Catalogue& catalogue)
{
    std::vector<std::string> published;
    std::copy_if(names.begin(), names.end(), std::back_inserter(published), [&](const std::string& name) {
        const auto variant = catalogue.find(name);
        return variant && (*variant)->published;
    });
    return published.empty() ? names : published;
}

Result<std::vector<const Capture*>> capturesNamed(
    const RunData& run, const std::vector<std::string>& names, Terminal& terminal)
{
    if (names.empty()) {
        return worthReplaying(run, terminal);
    }
    std::vector<const Capture*> captures;
    for (const auto& wanted : names) {
        if (wanted == "all") {
            return allOf(run);
        }
        const auto found = captureNamed(run, wanted);
        if (!found) {
            return tl::make_unexpected(found.error());
        }
        captures.push_back(*found);
    }
    return captures;
}

/// What is replayed of a part is Newton-Schulz of that part, which is no part of what ran.
void warnOfParts(const std::vector<const Capture*>& captures, Terminal& terminal)
{
    const auto parts =
        std::count_if(captures.begin(), captures.end(), [](const Capture* capture) { return !capture->part.empty(); });
    if (parts > 0) {
        terminal.say(LogLevel::warning,
            fmt::format(
                "{} of {} captures hold a part of a DTensor, and a replay of a part tells nothing of the whole; "
                "nanscope inspect --stitch -o whole.pt puts them together",
                parts, captures.size()));
    }
}

} // namespace

Result<std::vector<const Capture*>> chosenCaptures(
    const RunData& run, const std::vector<std::string>& names, Terminal& terminal)
{
    auto captures = capturesNamed(run, names, terminal);
    if (captures) {
        warnOfParts(*captures, terminal);
    }
    return captures;
}

Result<std::vector<std::string>> plausibleVariants(
    const Capture& capture, const replay::Catalogue& catalogue, const CancelToken& cancel)
{
    // The format that a sidecar names is one of those that are swept.
    const auto recorded = capture.variant.value_or(std::string());
    if (const auto said = recorded.substr(0, recorded.find(':')); catalogue.find(said)) {
        return std::vector {said};
    }
    const auto file = tensorfile::openCapture(capture);
    if (!file) {
        return tl::make_unexpected(file.error());
    }
    auto device = replay::makeEigenDevice();
    const auto found = diagnose::identify(*file, catalogue, *device, cancel);
    if (!found && found.error().kind == ErrorKind::cancelled) {
        return tl::make_unexpected(found.error());
    }
    const bool fits = found && found->how == IdentifiedBy::fit && !found->matchesNone && !found->names.empty();
    return fits ? recommended(found->names, catalogue) : allVariants(catalogue);
}

} // namespace nanscope
