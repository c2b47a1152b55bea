// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/findings/advisories.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <re2/re2.h>

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/base/try.h"
#include "core/model/verdict.h"
#include "core/platform/platform.h"

namespace nanscope::diagnose {

namespace {

constexpr int deepest = 8;
constexpr std::size_t mostValues = 100'000;

using AdvisoryJson = nlohmann::json;

constexpr std::uint64_t largestFile = std::uint64_t {1} << 20;
constexpr std::size_t mostAdvisories = 1000;
constexpr std::size_t longestText = 1000;

/// Why a part of the file cannot be read; empty where it can.
using Reason = std::string;

Reason mustBe(std::string_view key, std::string_view what)
{
    return fmt::format("\"{}\" must be {}", key, what);
}

Reason readText(const AdvisoryJson& json, std::string_view key, std::string& out, std::size_t longest = longestText)
{
    const auto found = json.find(key);
    if (found == json.end() || !found->is_string()) {
        return mustBe(key, "a text");
    }
    out = found->get<std::string>();
    const bool control = std::ranges::any_of(out, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
    return out.empty() || out.size() > longest || control
        ? mustBe(key, fmt::format("one line of 1 to {} bytes", longest))
        : Reason();
}

/// The texts of a list, or of a single text.
Reason readTexts(const AdvisoryJson& value, std::string_view key, std::vector<std::string>& out)
{
    const auto list = value.is_array() ? value : AdvisoryJson::array({value});
    constexpr std::size_t most = 100;
    for (const auto& one : list) {
        if (!one.is_string() || list.size() > most) {
            return mustBe(key, "a text or a list of at most 100 texts");
        }
        out.push_back(one.get<std::string>());
    }
    return {};
}

Reason unknownKey(const AdvisoryJson& json, std::initializer_list<std::string_view> known)
{
    for (const auto& item : json.items()) {
        if (std::ranges::find(known, item.key()) == known.end()) {
            return fmt::format("\"{}\" is not known here", item.key().substr(0, 60));
        }
    }
    return {};
}

Reason readRanges(const AdvisoryJson& value, std::string_view key, std::vector<VersionRange>& out)
{
    std::vector<std::string> texts;
    if (auto reason = readTexts(value, key, texts); !reason.empty()) {
        return reason;
    }
    for (const auto& text : texts) {
        auto range = VersionRange::parse(text);
        if (!range) {
            return mustBe(key, "such as \">=0.3.11,<=0.6.4\"");
        }
        out.push_back(std::move(*range));
    }
    return {};
}

Reason readPackage(const AdvisoryJson& json, AffectedPackage& out)
{
    if (!json.is_object()) {
        return mustBe("packages", "a list of objects");
    }
    if (auto reason = unknownKey(json, {"name", "versions"}); !reason.empty()) {
        return reason;
    }
    std::string name;
    if (auto reason = readText(json, "name", name, 100); !reason.empty()) {
        return reason;
    }
    out.name = packageName(name);
    const auto versions = json.find("versions");
    if (versions == json.end()) {
        return {};
    }
    out.everyVersion = *versions == "*";
    return out.everyVersion ? Reason() : readRanges(*versions, "versions", out.versions);
}

Reason readPackages(const AdvisoryJson& value, std::vector<AffectedPackage>& out)
{
    if (!value.is_array() || value.size() > 10) {
        return mustBe("packages", "a list of at most 10 objects");
    }
    for (const auto& one : value) {
        if (auto reason = readPackage(one, out.emplace_back()); !reason.empty()) {
            return reason;
        }
    }
    return {};
}

std::optional<NumberBound> parseBound(std::string_view text)
{
    const auto sign = takeSign(text);
    const auto value = numberIn<std::int64_t>(text);
    return sign && value ? std::optional(NumberBound {*sign, *value}) : std::nullopt;
}

Reason readBound(const AdvisoryJson& json, std::string_view key, std::optional<NumberBound>& out)
{
    const auto found = json.find(key);
    if (found == json.end()) {
        return {};
    }
    out = found->is_string() ? parseBound(found->get<std::string>()) : std::nullopt;
    return out ? Reason() : mustBe(key, "such as \">=256\"");
}

Reason readShape(const AdvisoryJson& json, CallRule& out)
{
    if (!json.is_object()) {
        return mustBe("shape", "an object");
    }
    if (auto reason = unknownKey(json, {"smaller_side", "batch", "elements", "square"}); !reason.empty()) {
        return reason;
    }
    if (const auto square = json.find("square"); square != json.end()) {
        if (!square->is_boolean()) {
            return mustBe("square", "true or false");
        }
        out.square = square->get<bool>();
    }
    for (auto [key, bound] : {std::pair("smaller_side", &out.smallerSide), std::pair("batch", &out.batch),
             std::pair("elements", &out.elements)}) {
        if (auto reason = readBound(json, key, *bound); !reason.empty()) {
            return reason;
        }
    }
    return {};
}

Reason readDtypes(const AdvisoryJson& value, std::vector<DType>& out)
{
    std::vector<std::string> names;
    if (auto reason = readTexts(value, "dtypes", names); !reason.empty()) {
        return reason;
    }
    for (const auto& text : names) {
        constexpr std::array types {DType::bfloat16, DType::float16, DType::float32, DType::float64};
        const auto* const type =
            std::find_if(types.begin(), types.end(), [&](DType one) { return shortName(one) == text; });
        if (type == types.end()) {
            return mustBe("dtypes", "of bf16, fp16, fp32, fp64");
        }
        out.push_back(*type);
    }
    return {};
}

Reason readRules(const AdvisoryJson& json, Advisory& out)
{
    const auto with = [&](const char* key, const auto& reader) {
        const auto found = json.find(key);
        return found == json.end() ? Reason() : reader(*found);
    };
    for (auto reason : {with("packages", [&](const AdvisoryJson& v) { return readPackages(v, out.packages); }),
             with("capability", [&](const AdvisoryJson& v) { return readRanges(v, "capability", out.capabilities); }),
             with("variants", [&](const AdvisoryJson& v) { return readTexts(v, "variants", out.call.variants); }),
             with("dtypes", [&](const AdvisoryJson& v) { return readDtypes(v, out.call.dtypes); }),
             with("shape", [&](const AdvisoryJson& v) { return readShape(v, out.call); }),
             with("zero_matrix", [&](const AdvisoryJson& v) {
                 out.call.zeroMatrix = v == true;
                 return v.is_boolean() ? Reason() : mustBe("zero_matrix", "true or false");
             })}) {
        if (!reason.empty()) {
            return reason;
        }
    }
    const bool any = !out.packages.empty() || !out.capabilities.empty() || !out.call.empty();
    return any ? Reason() : Reason("it has no rule and would match every run");
}

Reason readWords(const AdvisoryJson& json, Advisory& out)
{
    std::string status;
    for (auto reason : {readText(json, "title", out.title, 200), readText(json, "text", out.text),
             readText(json, "link", out.link, 300), readText(json, "status", status, 20)}) {
        if (!reason.empty()) {
            return reason;
        }
    }
    const auto known = parseAdvisoryStatus(status);
    if (!known) {
        return mustBe("status", "confirmed, suspected or fixed");
    }
    out.status = *known;
    return out.link.starts_with("https://") ? Reason() : mustBe("link", "an https:// address");
}

Reason readDate(const AdvisoryJson& json, std::string& out)
{
    static const RE2 day(R"(\d{4}-\d{2}-\d{2})");
    if (auto reason = readText(json, "dated", out, 10); !reason.empty()) {
        return reason;
    }
    return RE2::FullMatch(out, day) ? Reason() : mustBe("dated", "a day such as 2026-08-20");
}

Reason readAdvisory(const AdvisoryJson& json, const std::string& dated, Advisory& out)
{
    if (!json.is_object()) {
        return mustBe("advisories", "a list of objects");
    }
    out.dated = dated;
    if (auto reason = readText(json, "id", out.id, 60); !reason.empty()) {
        return reason;
    }
    for (auto reason : {unknownKey(json,
                            {"id", "dated", "status", "title", "text", "link", "packages", "capability", "variants",
                                "dtypes", "shape", "zero_matrix"}),
             json.contains("dated") ? readDate(json, out.dated) : Reason(), readWords(json, out),
             readRules(json, out)}) {
        if (!reason.empty()) {
            return fmt::format("{}: {}", out.id, reason);
        }
    }
    return {};
}

Reason readFile(const AdvisoryJson& json, std::vector<Advisory>& out)
{
    if (!json.is_object() || json.value("schema", AdvisoryJson()) != "nanscope.advisories/1") {
        return "it is no JSON object with \"schema\": \"nanscope.advisories/1\"";
    }
    std::string dated;
    const auto list = json.find("advisories");
    for (auto reason : {unknownKey(json, {"schema", "dated", "advisories"}), readDate(json, dated)}) {
        if (!reason.empty()) {
            return reason;
        }
    }
    if (list == json.end() || !list->is_array() || list->size() > mostAdvisories) {
        return mustBe("advisories", fmt::format("a list of at most {}", mostAdvisories));
    }
    for (const auto& one : *list) {
        if (auto reason = readAdvisory(one, dated, out.emplace_back()); !reason.empty()) {
            return reason;
        }
    }
    return {};
}

Reason checkVariants(const std::vector<Advisory>& advisories, const replay::Catalogue& catalogue)
{
    for (const auto& one : advisories) {
        for (const auto& name : one.call.variants) {
            if (!catalogue.find(name)) {
                return fmt::format("{}: there is no variant \"{}\"", one.id, name.substr(0, 60));
            }
        }
    }
    return {};
}

} // namespace

Result<std::vector<Advisory>> parseAdvisories(std::string_view json, const replay::Catalogue& catalogue)
{
    std::vector<Advisory> advisories;
    auto reason = readFile(parseBounded(json, deepest, mostValues), advisories);
    if (reason.empty()) {
        reason = checkVariants(advisories, catalogue);
    }
    if (!reason.empty()) {
        return failure(ErrorKind::format, "the advisories cannot be used: " + reason);
    }
    return advisories;
}

Result<std::vector<Advisory>> readAdvisories(const std::filesystem::path& path, const replay::Catalogue& catalogue)
{
    const auto file = TRY(platform::FileReader::open(path));
    if (file.size() > largestFile) {
        return failure(ErrorKind::format, "advisories take at most 1 MiB", path.string());
    }
    std::string text(file.size(), '\0');
    TRY(file.readAt(0, std::as_writable_bytes(std::span(text))));
    return parseAdvisories(text, catalogue).map_error([&](Error error) { return withPath(std::move(error), path); });
}

std::vector<Advisory> joinAdvisories(std::vector<Advisory> known, std::vector<Advisory> more)
{
    for (auto& one : more) {
        const auto same = std::ranges::find(known, one.id, &Advisory::id);
        if (same == known.end()) {
            known.push_back(std::move(one));
        } else {
            *same = std::move(one);
        }
    }
    return known;
}

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
    return verdict.role == Role::birth || verdict.role == Role::padding || verdict.role == Role::upstream;
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
