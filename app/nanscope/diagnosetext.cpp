// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/diagnosetext.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "app/nanscope/shared/words.h"
#include "core/base/table.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "core/model/words.h"

namespace nanscope {

namespace {

std::string bullets(std::string_view label, const std::vector<EvidenceLine>& lines)
{
    std::string text;
    for (const auto& line : lines) {
        const auto source = line.source.empty() ? std::string {} : fmt::format(" [{}]", line.source);
        text += fact(text.empty() ? label : "", line.text + source);
    }
    return text;
}

std::string experiments(const std::vector<Experiment>& next)
{
    std::string text;
    for (std::size_t i = 0; i < next.size(); ++i) {
        text += fact(i == 0 ? "next" : "", fmt::format("{}. {}", i + 1, lineOf(next[i])));
    }
    return text;
}

std::string replays(const std::vector<MemberResult>& members)
{
    if (members.empty()) {
        return {};
    }
    constexpr auto right = Table::Align::right;
    Table table({{"replayed as"}, {"precision"}, {"finite", right}, {"same damage", right}, {"slack", right},
        {"max|Q|", right}, {"headroom", right}, {"first bad"}});
    for (const auto& member : members) {
        const bool replayed = member.forecastBy.empty();
        table.add({member.variant, member.precision,
            replayed ? fmt::format("{} of {}", member.finite, member.roundings) : "forecast",
            replayed ? std::to_string(member.reproducing) : "-",
            member.slackPercent ? fmt::format("{:.3g} %", *member.slackPercent) : "-",
            member.absmaxQ ? numberText(*member.absmaxQ) : "-", fmt::format("{:.3g} binades", member.headroomBinades),
            member.firstBad.empty() ? "-" : member.firstBad});
    }
    return "\n" + table.text(2);
}

std::string damageText(const DamagePattern& damage)
{
    if (damage.shape == DamageShape::none) {
        return {};
    }
    return fact("damage",
        damage.text.empty() ? std::string(name(damage.shape)) : fmt::format("{}: {}", name(damage.shape), damage.text));
}

/// Finite in and out, and yet somebody has to say what it is.
bool isAsked(const CaptureVerdict& verdict)
{
    return verdict.role == Role::healthy && !verdict.question.empty();
}

std::string_view roleText(const CaptureVerdict& verdict)
{
    if (verdict.rule == RuleId::noOutput) {
        return "without an output";
    }
    return isAsked(verdict) ? "finite" : name(verdict.role);
}

std::string verdictText(const CaptureVerdict& verdict)
{
    auto text = fmt::format("\n{}  {}\n", roleText(verdict), printable(verdict.capture));
    text +=
        fact("when", verdict.rank ? fmt::format("rank {}, {}", *verdict.rank, stepText(verdict)) : stepText(verdict));
    if (!verdict.layer.empty()) {
        text += fact("layer", verdict.layer);
    }
    text += fact("verdict",
        isAsked(verdict) ? blameText(verdict) : fmt::format("{}: {}", blameText(verdict), strengthText(verdict)));
    text += fact("", verdict.summary);
    text += fact("variant", variantText(verdict.variant));
    text += damageText(verdict.facts.damage);
    text += verdict.endsLikeTried > 0 ? fact("spread", endsLikeText(verdict)) : "";
    text += bullets("for", verdict.speaksFor);
    text += bullets("against", verdict.speaksAgainst);
    text += bullets("not testable", verdict.notTestable);
    if (!verdict.question.empty()) {
        text += fact("question", verdict.question);
    }
    return text + experiments(verdict.next) + replays(verdict.members);
}

bool explained(const CaptureVerdict& verdict)
{
    return verdict.role == Role::birth || verdict.role == Role::upstream || verdict.role == Role::padding
        || isAsked(verdict);
}

std::string othersText(const Diagnosis& diagnosis)
{
    std::map<std::pair<std::string_view, std::optional<int>>, std::int64_t> counts;
    for (const auto& verdict : diagnosis.captures) {
        if (!explained(verdict)) {
            ++counts[{roleText(verdict), verdict.rank}];
        }
    }
    std::string text;
    for (const auto& [key, count] : counts) {
        const auto rank = key.second ? fmt::format(" on rank {}", *key.second) : std::string {};
        text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", countText(count), key.first, rank);
    }
    return text.empty() ? text : "\n" + text + "\n";
}

std::string placeOf(const Finding::Evidence& line)
{
    return line.line > 0 ? fmt::format("{}:{}", line.file, line.line) : line.file;
}

std::string firedText(const Finding& finding)
{
    auto text = fact(finding.severity, fmt::format("{} {}", finding.id, finding.title));
    if (!finding.reason.empty()) {
        const auto sure =
            finding.confidence.empty() ? std::string() : fmt::format(" ({} confidence)", finding.confidence);
        text += fact("", asSentence(finding.reason + sure));
    }
    for (const auto& line : finding.evidence) {
        text += fact("", fmt::format("{}  {}", placeOf(line), clipped(line.text, 160)));
    }
    if (!finding.threshold.empty()) {
        text += fact("", fmt::format("rule: {}", finding.threshold));
    }
    if (!finding.advice.empty()) {
        text += fact("", fmt::format("try: {}", finding.advice.front()));
    }
    return text;
}

/// "clear: P2, P5", or with what is missing to see them, those of one reason together.
std::string quietText(const std::vector<Finding>& findings, FindingState state, std::string_view label)
{
    std::vector<std::pair<std::string, std::string>> groups;
    for (const auto& finding : findings) {
        if (finding.state != state) {
            continue;
        }
        const auto& reason = state == FindingState::notCheckable ? finding.reason : std::string();
        const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == reason; });
        if (same == groups.end()) {
            groups.emplace_back(reason, finding.id);
        } else {
            same->second += ", " + finding.id;
        }
    }
    std::string text;
    for (const auto& [reason, ids] : groups) {
        text += text.empty() ? "" : "; ";
        text += reason.empty() ? ids : fmt::format("{} ({})", ids, reason);
    }
    return text.empty() ? text : fact(label, text);
}

std::string findingsText(const std::vector<Finding>& findings)
{
    std::string text;
    for (const auto& finding : findings) {
        text += finding.state == FindingState::fired ? firedText(finding) : std::string();
    }
    text += quietText(findings, FindingState::clear, "clear");
    text += quietText(findings, FindingState::notCheckable, "not checkable");
    text += quietText(findings, FindingState::silenced, "silenced");
    return text.empty() ? text : "\nfindings\n" + text;
}

std::string checkpointText(const CheckpointAdvice& advice)
{
    auto text = fmt::format("step {}: {}, {}", advice.step, name(advice.status), advice.reason);
    for (const auto& line : advice.proof) {
        text += line.source.empty() ? fmt::format(" ({})", line.text)
                                    : fmt::format(" ({} [{}])", clipped(line.text, 120), line.source);
    }
    return text;
}

std::string rollbackText(const std::optional<Rollback>& rollback)
{
    constexpr std::size_t most = 8;
    if (!rollback) {
        return {};
    }
    auto text = std::string("\nrollback\n") + fact("tonight", rollback->tonight);
    text += fact("go back to",
        rollback->recommended ? fmt::format("step {}: {}", *rollback->recommended, rollback->reason)
                              : rollback->reason);
    for (std::size_t i = 0; i < std::min(most, rollback->checkpoints.size()); ++i) {
        text += fact(i == 0 ? "checkpoints" : "", checkpointText(rollback->checkpoints[i]));
    }
    if (rollback->checkpoints.size() > most) {
        text += fact("", fmt::format("and {} older ones (--json has them all)", rollback->checkpoints.size() - most));
    }
    return text;
}

std::string clustersText(const std::vector<Cluster>& clusters)
{
    constexpr std::size_t most = 10;
    std::string text;
    for (std::size_t i = 0; i < std::min(most, clusters.size()); ++i) {
        text += fact(i == 0 ? "clusters" : "", clusters[i].text);
    }
    return clusters.size() > most ? text + fact("", fmt::format("and {} more", clusters.size() - most)) : text;
}

/// Published problems are told apart from evidence: a version that is affected says nothing of this call.
std::string advisoriesText(const std::vector<AdvisoryMatch>& advisories)
{
    std::string text;
    std::string open;
    for (const auto& one : advisories) {
        if (!one.certain) {
            open += fact(open.empty() ? "cannot tell" : "",
                fmt::format("{}: {} ({}); needs {}", one.id, one.title, one.matched, one.missing));
            continue;
        }
        text += fact(name(one.status), fmt::format("{}: {}", one.id, one.title));
        text += fact("", one.text);
        text += fact("", fmt::format("matches {}; {} (as of {})", one.matched, one.link, one.dated));
    }
    return text.empty() && open.empty() ? text : "\nadvisories (no evidence)\n" + text + open;
}

} // namespace

std::string diagnosisText(const Diagnosis& diagnosis)
{
    constexpr std::size_t most = 10;
    auto text = printable(diagnosis.headline) + "\n" + clustersText(diagnosis.clusters);
    std::size_t shown = 0;
    for (const auto& verdict : diagnosis.captures) {
        if (explained(verdict) && ++shown <= most) {
            text += verdictText(verdict);
        }
    }
    if (shown > most) {
        text += fmt::format("\nand {} more like these (--json has them all)\n", shown - most);
    }
    return text + othersText(diagnosis) + findingsText(diagnosis.findings) + advisoriesText(diagnosis.advisories)
        + rollbackText(diagnosis.rollback);
}

} // namespace nanscope
