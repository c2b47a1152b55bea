// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/model/scenewords.h"

#include <fmt/format.h>

#include "core/base/text.h"

namespace nanscope {

namespace {

std::string stateText(OwnState state)
{
    switch (state) {
    case OwnState::none:
        return {};
    case OwnState::otherValues:
        return "the function keeps values, which were others when it was called again";
    case OwnState::notKnown:
        return "it could not be told whether the function keeps values from call to call";
    case OwnState::random:
        return "the function draws random numbers";
    }
    return {};
}

std::string problemText(SidecarProblem problem)
{
    switch (problem) {
    case SidecarProblem::none:
        return {};
    case SidecarProblem::tooLong:
        return "it is larger than 1 MiB and was not read";
    case SidecarProblem::notJson:
        return "it is no JSON object, and nothing was taken from it";
    }
    return {};
}

std::string orElse(const std::string& words, const char* otherwise)
{
    return words.empty() ? otherwise : words;
}

} // namespace

std::vector<std::string> notesOf(const Scene& scene)
{
    std::vector<std::string> notes;
    if (const auto problem = problemText(scene.problem); !problem.empty()) {
        notes.push_back(problem);
    }
    if (scene.otherEpsilon) {
        notes.push_back(
            fmt::format("it says epsilon {:g}, and the dump says another, which counts", *scene.otherEpsilon));
    }
    if (!scene.exception.empty()) {
        notes.push_back(fmt::format("the call raised {}: there is no output", scene.exception));
    }
    if (scene.rotated) {
        notes.emplace_back(
            "the tensors were turned by random rotations (NANSCOPE_CAPTURE_PRIVACY=rotate): singular values "
            "stay, which values were bad, their bits and the largest value do not");
    }
    if (const auto state = stateText(scene.state); !state.empty()) {
        notes.push_back(
            fmt::format("{}: neither what came of that nor the word that nothing else ran is counted", state));
    }
    if (scene.otherTensors > 0) {
        notes.push_back(
            fmt::format("the function was given {} besides its input, which no file holds: what it makes of "
                        "the input alone is not this call",
                scene.otherTensors == 1 ? "another tensor" : fmt::format("{} other tensors", scene.otherTensors)));
    }
    if (scene.stale) {
        notes.push_back(
            fmt::format("by its checksum, matrix {} of the output is that of call {} of this process, bit for bit",
                scene.stale->matrix, scene.stale->call));
    }
    return notes;
}

std::string weightsBeforeText(const WeightsBefore& weights)
{
    return fmt::format("before the step began, {} of {} that calls are made for{} {} not finite{}",
        weights.bad == 0 ? "none" : std::to_string(weights.bad), counted(weights.lookedAt, "weight"),
        weights.shards ? ", as far as this rank holds them," : "", weights.bad <= 1 ? "was" : "were",
        weights.first.empty() ? "" : ", first " + weights.first);
}

std::string withheldText(const Scene& scene)
{
    switch (scene.withheld) {
    case Withheld::nothing:
        return {};
    case Withheld::byPrivacy:
        return "its helper was told to write no tensors (NANSCOPE_CAPTURE_PRIVACY=fingerprint)";
    case Withheld::byLimit:
        return fmt::format("its helper came to a limit and wrote no tensors ({})",
            orElse(scene.withheldBecause, "it does not say which"));
    case Withheld::inputLost:
        return fmt::format("the input could not be kept ({})", orElse(scene.withheldBecause, "it is not said why"));
    }
    return {};
}

std::string whatKeepsMore(const Scene& scene)
{
    switch (scene.withheld) {
    case Withheld::nothing:
        return {};
    case Withheld::byPrivacy:
        return "NANSCOPE_CAPTURE_PRIVACY=rotate writes tensors of the same singular values and other contents, and "
               "none "
               "(the default) writes them as they are";
    case Withheld::byLimit:
        return "with that limit raised, or NANSCOPE_CAPTURE_DIR on a larger disk, the next one is written whole";
    case Withheld::inputLost:
        return "NANSCOPE_CAPTURE_KEEP=1 holds inputs until the end of the step, NANSCOPE_CAPTURE_MODE=strict copies "
               "them";
    }
    return {};
}

} // namespace nanscope
