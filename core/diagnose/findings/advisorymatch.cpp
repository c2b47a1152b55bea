// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/findings/advisorymatch.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nanscope::diagnose {

namespace {

enum class Truth { no, unknown, yes };

/// What a rule says of a run, and the facts that made it say so or are missing for it.
struct Answer
{
    Truth truth = Truth::yes;
    std::string fact;
};

std::string placeOf(const Saying& saying)
{
    constexpr std::size_t listed = 8;
    if (saying.ranks.empty()) {
        return saying.files.empty() ? std::string() : fmt::format(" ({})", *saying.files.begin());
    }
    if (saying.ranks.size() > listed) {
        return fmt::format(
            " on {} ranks from {} to {}", saying.ranks.size(), *saying.ranks.begin(), *saying.ranks.rbegin());
    }
    return fmt::format(" on rank{} {}", saying.ranks.size() == 1 ? "" : "s", fmt::join(saying.ranks, ", "));
}

// "quack-kernels 0.4.1"; where several are installed, also who has which.
std::string versionsText(const std::string& package, const Versions& versions, const std::vector<std::string>& chosen)
{
    std::vector<std::string> parts;
    for (const auto& version : chosen) {
        parts.push_back(
            fmt::format("{} {}{}", package, version, versions.size() > 1 ? placeOf(versions.at(version)) : ""));
    }
    return fmt::format("{}", fmt::join(parts, " and "));
}

/// Versions by what a range makes of them.
struct Sorted
{
    std::vector<std::string> affected;
    std::vector<std::string> sound;
    std::vector<std::string> notComparable; ///< a commit, "main": not as PEP 440 writes them
};

Sorted sorted(const AffectedPackage& package, const Versions& versions)
{
    Sorted found;
    for (const auto& [text, saying] : versions) {
        const auto version = parseVersion(text);
        const auto affected = [&](const VersionRange& range) { return range.contains(*version); };
        auto& group = !version                                ? found.notComparable
            : std::ranges::any_of(package.versions, affected) ? found.affected
                                                              : found.sound;
        group.push_back(text);
    }
    return found;
}

Answer answerPackage(const AffectedPackage& package, const RunFacts& facts)
{
    const auto known = facts.packages.find(package.name);
    if (known == facts.packages.end()) {
        return facts.allPackages ? Answer {Truth::no, {}}
                                 : Answer {Truth::unknown, fmt::format("the version of {}", package.name)};
    }
    const auto text = [&](const std::vector<std::string>& chosen) {
        return versionsText(package.name, known->second, chosen);
    };
    std::vector<std::string> all;
    for (const auto& [version, saying] : known->second) {
        all.push_back(version);
    }
    if (package.everyVersion) {
        return {Truth::yes, text(all)};
    }
    if (package.versions.empty()) {
        return {Truth::unknown, fmt::format("whether {} has the mend", text(all))};
    }
    const auto [affected, sound, notComparable] = sorted(package, known->second);
    if (!affected.empty()) {
        return {Truth::yes, text(affected) + (sound.empty() ? "" : fmt::format(", not {}", text(sound)))};
    }
    return notComparable.empty()
        ? Answer {Truth::no, {}}
        : Answer {Truth::unknown, fmt::format("which version {} is (not comparable)", text(notComparable))};
}

Answer answerCapability(const Advisory& advisory, const RunFacts& facts)
{
    for (const auto& gpu : facts.gpus) {
        const auto text = cards::textOf(gpu);
        const auto version = parseVersion(text);
        if (std::ranges::any_of(advisory.capabilities, [&](const auto& range) { return range.contains(*version); })) {
            return {Truth::yes, "compute capability " + text};
        }
    }
    return facts.gpus.empty() ? Answer {Truth::unknown, "the GPU"} : Answer {Truth::no, {}};
}

Answer answerVariant(const CallRule& rule, const CallFacts& call)
{
    const auto affected = [&](const std::string& name) { return std::ranges::count(rule.variants, name) > 0; };
    const auto hits = std::ranges::count_if(call.variants, affected);
    if (!call.variants.empty() && hits == 0) {
        return {Truth::no, {}};
    }
    if (!call.variants.empty() && hits == std::ssize(call.variants)) {
        return {Truth::yes, fmt::format("{}", fmt::join(call.variants, " or "))};
    }
    return {Truth::unknown, "which function ran (--ran)"};
}

Answer answerShape(const CallRule& rule, const CallFacts& call)
{
    const auto& shape = call.shape;
    const bool fits = (!rule.smallerSide || rule.smallerSide->holds(std::min(shape.rows, shape.cols)))
        && (!rule.batch || rule.batch->holds(shape.batch))
        && (!rule.elements || rule.elements->holds(shape.batch * shape.elements()))
        && (!rule.square || *rule.square == (shape.rows == shape.cols));
    return fits ? Answer {Truth::yes, fmt::format("shape {}x{}x{}", shape.batch, shape.rows, shape.cols)}
                : Answer {Truth::no, {}};
}

std::vector<Answer> answersOf(const CallRule& rule, const CallFacts& call)
{
    std::vector<Answer> answers;
    if (!rule.variants.empty()) {
        answers.push_back(answerVariant(rule, call));
    }
    if (!rule.dtypes.empty()) {
        const bool fits = std::ranges::count(rule.dtypes, call.dtype) > 0;
        answers.push_back({fits ? Truth::yes : Truth::no, std::string(shortName(call.dtype)) + " input"});
    }
    if (rule.asksShape()) {
        answers.push_back(answerShape(rule, call));
    }
    if (rule.zeroMatrix) {
        answers.push_back({call.zeroMatrix ? Truth::yes : Truth::no, "an all-zero matrix"});
    }
    return answers;
}

Truth worst(const std::vector<Answer>& answers)
{
    auto truth = Truth::yes;
    for (const auto& answer : answers) {
        truth = std::min(truth, answer.truth);
    }
    return truth;
}

/// The call that fits best speaks for the run.
std::vector<Answer> answerCalls(const CallRule& rule, const RunFacts& facts)
{
    if (rule.empty()) {
        return {};
    }
    if (facts.calls.empty()) {
        return {{Truth::unknown, "a capture of a call"}};
    }
    std::vector<Answer> best {{Truth::no, {}}};
    for (const auto& call : facts.calls) {
        auto answers = answersOf(rule, call);
        if (worst(answers) > worst(best)) {
            best = std::move(answers);
        }
    }
    return best;
}

std::string factsThat(const std::vector<Answer>& answers, Truth truth)
{
    std::vector<std::string> facts;
    for (const auto& answer : answers) {
        if (answer.truth == truth) {
            facts.push_back(answer.fact);
        }
    }
    return fmt::format("{}", fmt::join(facts, ", "));
}

std::vector<Answer> answersTo(const Advisory& advisory, const RunFacts& facts)
{
    std::vector<Answer> answers;
    for (const auto& package : advisory.packages) {
        answers.push_back(answerPackage(package, facts));
    }
    if (!advisory.capabilities.empty()) {
        answers.push_back(answerCapability(advisory, facts));
    }
    auto calls = answerCalls(advisory.call, facts);
    answers.insert(answers.end(), calls.begin(), calls.end());
    return answers;
}

bool wentWrong(const CaptureVerdict& verdict)
{
    return verdict.role != Role::healthy && verdict.role != Role::downstream;
}

CallFacts callOf(const Capture& capture, const CaptureVerdict& verdict)
{
    CallFacts call {matrixShape(capture.input.shape), capture.input.dtype, {}, false};
    if (verdict.variant.how != IdentifiedBy::unknown && !verdict.variant.matchesNone) {
        call.variants = verdict.variant.names;
    }
    call.zeroMatrix = std::ranges::any_of(capture.input.batches, [](const Scan& scan) { return scan.allZero(); });
    return call;
}

void addCalls(RunFacts& facts, const RunData& run, std::span<const CaptureVerdict> verdicts)
{
    std::map<std::pair<std::string, std::int64_t>, const Capture*> captures;
    for (const auto& capture : run.captures) {
        captures.emplace(std::pair(capture.file, capture.id), &capture);
    }
    facts.damaged = std::ranges::any_of(verdicts, wentWrong);
    for (const auto& verdict : verdicts) {
        const auto capture = captures.find(std::pair(verdict.capture, verdict.captureId));
        if (capture != captures.end() && wentWrong(verdict) == facts.damaged) {
            facts.calls.push_back(callOf(*capture->second, verdict));
        }
    }
}

constexpr std::string_view listedPackages = "packages.";

// In the list of an environment; other settings that end in "version" may be of anything.
bool isListed(const Setting& setting)
{
    const auto at = setting.name.find(listedPackages);
    return at != std::string::npos && (at == 0 || setting.name[at - 1] == '.');
}

/// "packages.quack_kernels" as `nanscope env --json` has it, "torch.version" and "quack_version" as logs have it.
std::string packageIn(const Setting& setting)
{
    constexpr std::string_view version = "version";
    std::string_view name = setting.name;
    if (isListed(setting)) {
        return packageName(name.substr(name.find(listedPackages) + listedPackages.size()));
    }
    if (!name.ends_with(version) || name.size() <= version.size() + 1) {
        return {};
    }
    const char before = name[name.size() - version.size() - 1];
    if (before != '.' && before != '_' && before != '-') {
        return {};
    }
    name.remove_suffix(version.size() + 1);
    return packageName(name.substr(name.rfind('.') + 1));
}

// What the package installs as, beside the name of its distribution.
std::string distribution(const std::string& package)
{
    return package == "quack" ? "quack-kernels" : package;
}

void addPackages(RunFacts& facts, const RunData& run)
{
    for (const auto& setting : run.settings) {
        const auto package = packageIn(setting);
        if (!package.empty() && (parseVersion(setting.value) || (isListed(setting) && !setting.value.empty()))) {
            auto& saying = facts.packages[distribution(package)][setting.value];
            if (setting.rank) {
                saying.ranks.insert(*setting.rank);
            } else if (!setting.source.empty()) {
                saying.files.insert(setting.source);
            }
        }
        // The list of an environment is one of all that concerns training.
        facts.allPackages = facts.allPackages || (setting.name == "packages.torch" && !setting.value.empty());
    }
}

} // namespace

RunFacts factsOf(const RunData& run, std::span<const CaptureVerdict> verdicts)
{
    RunFacts facts;
    addPackages(facts, run);
    facts.gpus = cards::gpusOf(run);
    addCalls(facts, run, verdicts);
    return facts;
}

std::vector<AdvisoryMatch> matchAdvisories(std::span<const Advisory> advisories, const RunFacts& facts)
{
    std::vector<AdvisoryMatch> matches;
    for (const auto& advisory : advisories) {
        const auto answers = answersTo(advisory, facts);
        const auto truth = worst(answers);
        auto matched = factsThat(answers, Truth::yes);
        if (truth == Truth::no || (truth == Truth::unknown && (matched.empty() || !facts.damaged))) {
            continue;
        }
        matches.push_back({advisory.id, advisory.status, truth == Truth::yes, advisory.title, advisory.text,
            advisory.link, std::move(matched), factsThat(answers, Truth::unknown), advisory.dated});
    }
    std::stable_partition(matches.begin(), matches.end(), [](const AdvisoryMatch& one) { return one.certain; });
    return matches;
}

} // namespace nanscope::diagnose
