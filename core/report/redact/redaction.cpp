// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/report/redact/redaction.h"

#include <algorithm>
#include <array>

#include "core/base/utf8.h"
#include "core/report/input/reportinput.h"
#include "core/report/redact/redactrules.h"
#include "core/report/redact/redactwords.h"

namespace nanscope::report {

namespace {

// Two characters that no text may hold: a noncharacter, and one of 6,400 private ones as a number. No rule matches
// the middle of them.
constexpr std::string_view guard = "\uFDD0";
constexpr std::size_t mostGiven = 6400;
constexpr std::size_t guardSize = 6;

std::string placeholder(std::size_t index)
{
    const auto code = 0xE000U + index;
    return std::string(guard) + static_cast<char>(0xE0U | (code >> 12U))
        + static_cast<char>(0x80U | (code >> 6U & 0x3FU)) + static_cast<char>(0x80U | (code & 0x3FU));
}

std::size_t placeholderIndex(std::string_view bytes)
{
    const auto bits = [&bytes](std::size_t at, unsigned mask) { return static_cast<unsigned char>(bytes[at]) & mask; };
    return (bits(0, 0x0F) << 12U | bits(1, 0x3F) << 6U | bits(2, 0x3F)) - 0xE000U;
}

void replaceAll(std::string& text, std::string_view what, std::string_view with)
{
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
        text.replace(at, what.size(), with);
    }
}

} // namespace

std::string masked(const Suspicion& suspicion)
{
    const auto& text = suspicion.text;
    return text.substr(0, 4) + "..." + text.substr(text.size() - std::min<std::size_t>(text.size(), 2));
}

Redactor::Redactor(bool rules, std::vector<Redaction> given, std::set<std::string, std::less<>> without)
    : m_rules(rules)
    , m_given(std::move(given))
    , m_without(std::move(without))
{
    std::erase_if(m_given, [](const Redaction& redaction) { return redaction.text.empty(); });
    m_given.resize(std::min(m_given.size(), mostGiven));
    // The longest first, so that "alice.b" is not torn by "alice".
    std::stable_sort(m_given.begin(), m_given.end(),
        [](const Redaction& a, const Redaction& b) { return a.text.size() > b.text.size(); });
    if (m_rules) {
        learnName(ownHome(), &RedactionCounts::homes);
    }
}

void Redactor::learnName(std::string_view text, int RedactionCounts::*what)
{
    if (what == &RedactionCounts::hosts) {
        // Of node17.cluster.example.org also node17.
        const auto own = text.substr(0, text.find('.'));
        const bool numbered = own.find_first_of("0123456789") != std::string_view::npos;
        for (const auto host : {text, numbered ? own : text}) {
            if (tellTale(std::string(host))) {
                m_hosts.emplace(host);
            }
        }
    }
    if (what == &RedactionCounts::secrets && tellTaleSecret(text)) {
        m_secrets.emplace(text);
    }
    if (what == &RedactionCounts::homes || what == &RedactionCounts::users) {
        // "alice" of "/home/alice", "alice@node12", "alice (team)" and "alice:password".
        const auto folder = text.substr(text.find_last_of("/\\~") + 1);
        if (auto name = std::string(folder.substr(0, folder.find_first_of("@ :"))); namesAPerson(name)) {
            m_users.insert(std::move(name));
        }
    }
}

void Redactor::note(std::string_view text, const std::string& with, int RedactionCounts::*what)
{
    if (m_learning) {
        return;
    }
    ++(m_counts.*what);
    const auto was = withoutStandIns(std::string(text));
    const auto [found, added] = m_madeAt.try_emplace(was + '\0' + with, m_made.size());
    if (added) {
        m_made.push_back({was, with, 0});
    }
    ++m_made[found->second].count;
}

void Redactor::applyRule(std::size_t number, std::string& text)
{
    const auto& [row, pattern, whole] = redactionRules()[number];
    std::array<re2::StringPiece, mostRuleGroups> groups;
    const auto count = pattern.NumberOfCapturingGroups() + 1;
    std::string result;
    std::size_t done = 0;
    for (std::size_t at = 0; pattern.Match(text, at, text.size(), RE2::UNANCHORED, groups.data(), count);) {
        const auto begin = static_cast<std::size_t>(groups[0].data() - text.data());
        if (row.holds != nullptr && !row.holds(std::span(groups).first(static_cast<std::size_t>(count)))) {
            // What follows the name may be a name itself.
            const auto& name = groups[1];
            at = std::max(begin + 1, name.empty() ? 0 : static_cast<std::size_t>(name.end() - text.data()));
            continue;
        }
        std::string with;
        pattern.Rewrite(&with, row.replacement, groups.data(), count);
        result.append(text, done, begin - done).append(with);
        const auto part = privatePart({groups[0].data(), groups[0].size()}, with);
        note(part, with, row.counter);
        learnName(part, row.counter);
        at = done = begin + groups[0].size();
    }
    text = done == 0 ? text : result.append(text, done);
}

void Redactor::replaceWords(
    std::string& text, const std::string& word, const std::string& with, int RedactionCounts::*what)
{
    if (word.empty()) {
        return;
    }
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at)) {
        if (insideWord(text, at, at + word.size())) {
            at += word.size();
            continue;
        }
        text.replace(at, word.size(), with);
        at += with.size();
        note(word, with, what);
    }
}

/// The longest of `names` that begins there and ends where a word may; 0 for none.
template <class Inside>
std::size_t longestName(
    const std::set<std::string, std::less<>>& names, std::string_view text, std::size_t begin, Inside inside)
{
    constexpr std::size_t longest = 128;
    std::size_t found = 0;
    for (auto end = begin + 1; end <= std::min(text.size(), begin + longest); ++end) {
        if (!inside(end) && names.contains(text.substr(begin, end - begin))) {
            found = end - begin;
        }
        if (end < text.size() && std::string_view("/\\ \t\"'=").find(text[end]) != std::string_view::npos) {
            break;
        }
    }
    return found;
}

/// A name as a folder, or at its front: "/data/alice/x" and "/data/alice-runs".
void Redactor::replaceFolders(std::string& text)
{
    for (auto at = text.find_first_of("/\\"); !m_users.empty() && at != std::string::npos;
         at = text.find_first_of("/\\", at + 1)) {
        const auto length =
            longestName(m_users, text, at + 1, [&text](std::size_t end) { return alphanumeric(text, end); });
        if (length > 0) {
            note(std::string_view(text).substr(at + 1, length), "<user>", &RedactionCounts::users);
            text.replace(at + 1, length, "<user>");
        }
    }
}

void Redactor::replaceHosts(std::string& text)
{
    const auto inside = [&text](
                            std::size_t at) { return alphanumeric(text, at) || (at < text.size() && text[at] == '_'); };
    for (std::size_t at = 0; !m_hosts.empty() && at < text.size(); ++at) {
        if (!inside(at) || (at > 0 && inside(at - 1))) {
            continue;
        }
        if (const auto length = longestName(m_hosts, text, at, inside); length > 0) {
            note(std::string_view(text).substr(at, length), "<host>", &RedactionCounts::hosts);
            text.replace(at, length, "<host>");
            at += std::string_view("<host>").size();
        }
    }
}

void Redactor::replaceSecrets(std::string& text)
{
    for (std::size_t at = 0; !m_secrets.empty() && at < text.size(); ++at) {
        const auto rest = std::string_view(text).substr(at);
        if (at > 0 && alphanumeric(text, at - 1)) {
            continue;
        }
        // Of those that begin alike, the longest stands last.
        for (auto next = m_secrets.upper_bound(rest); next != m_secrets.begin(); --next) {
            const auto& secret = *std::prev(next);
            if (rest.starts_with(secret) && !alphanumeric(rest, secret.size())) {
                note(secret, "<secret>", &RedactionCounts::secrets);
                text.replace(at, secret.size(), "<secret>");
                break;
            }
            if (secret.compare(0, 4, rest.substr(0, 4)) != 0) {
                break;
            }
        }
    }
}

void Redactor::replaceRandom(std::string& text)
{
    std::string result;
    std::size_t at = 0;
    for (const auto part : randomLooking(text)) {
        if (m_trusted.contains(part)) {
            continue;
        }
        const auto begin = static_cast<std::size_t>(part.data() - text.data());
        result.append(text, at, begin - at).append(suspicionText);
        at = begin + part.size();
        note(part, std::string(suspicionText), &RedactionCounts::suspicions);
        const auto [found, added] = m_suspicionAt.try_emplace(std::string(part), m_suspicions.size());
        if (added) {
            m_suspicions.push_back({std::string(part), m_where, 0});
        }
        ++m_suspicions[found->second].count;
    }
    text = at == 0 ? text : result.append(text, at);
}

std::string Redactor::protectGiven(std::string text)
{
    if (m_given.empty()) {
        return text;
    }
    replaceAll(text, guard, "\uFFFD");
    for (std::size_t i = 0; i < m_given.size(); ++i) {
        const auto stand = placeholder(i);
        for (auto at = text.find(m_given[i].text); at != std::string::npos; at = text.find(m_given[i].text, at)) {
            text.replace(at, m_given[i].text.size(), stand);
            at += stand.size();
            note(m_given[i].text, m_given[i].replacement, &RedactionCounts::given);
        }
    }
    return text;
}

std::string Redactor::restoreGiven(const std::string& text) const
{
    if (m_given.empty()) {
        return text;
    }
    std::string result;
    std::size_t at = 0;
    for (auto found = text.find(guard); found != std::string::npos; found = text.find(guard, at)) {
        result.append(text, at, found - at);
        const auto index = placeholderIndex(std::string_view(text).substr(found + guard.size(), 3));
        result += index < m_given.size() ? m_given[index].replacement : std::string {};
        at = found + guardSize;
    }
    return result.append(text, at);
}

std::string Redactor::replacedInLine(std::string line)
{
    replaceWords(line, withStandIns(ownHome()), "<home>", &RedactionCounts::homes);
    replaceWords(line, ownHost(), "<host>", &RedactionCounts::hosts);
    for (const auto number : rulesThatMayMatch(line)) {
        const auto rule = static_cast<std::size_t>(number);
        if (!redactionRules()[rule].wholeText && !leftOut(redactionRules()[rule].text.id)) {
            applyRule(rule, line);
        }
    }
    if (m_learning) {
        return line;
    }
    replaceSecrets(line);
    replaceFolders(line);
    replaceHosts(line);
    if (!leftOut(suspicionRule)) {
        replaceRandom(line);
    }
    return line;
}

/// Line by line, so that a rule reads only the lines it may match.
std::string Redactor::replaced(std::string text)
{
    for (std::size_t i = 0; i < redactionRules().size(); ++i) {
        if (redactionRules()[i].wholeText && !leftOut(redactionRules()[i].text.id)) {
            applyRule(i, text);
        }
    }
    std::string result;
    result.reserve(text.size());
    for (std::size_t begin = 0; begin < text.size();) {
        const auto end = std::min(text.find('\n', begin), text.size());
        result += replacedInLine(text.substr(begin, end - begin));
        result.append(text, end, 1);
        begin = end + 1;
    }
    return result;
}

std::string Redactor::operator()(const std::string& text)
{
    auto result = protectGiven(text);
    if (m_rules) {
        result = withoutStandIns(replaced(withStandIns(result)));
    }
    return restoreGiven(result);
}

void Redactor::learn(const std::string& text)
{
    if (!m_rules) {
        return;
    }
    m_learning = true;
    replaced(withStandIns(text));
    m_learning = false;
}

Redactor redactorFor(const ReportInput& input, const ReportOptions& options)
{
    Redactor redactor(options.redact, options.redactions);
    redactor.learn(input.run.root);
    redactor.learn(input.commandLine);
    redactor.trust(input.measures.sha256);
    for (const auto& capture : input.run.captures) {
        redactor.learn(capture.path);
        redactor.trust(capture.identity);
    }
    for (const auto& event : input.run.events) {
        redactor.learn(event.text);
    }
    for (const auto& rejection : input.run.rejected) {
        redactor.learn(rejection.path);
    }
    return redactor;
}

std::string redact(const std::string& text)
{
    Redactor redactor(true, {});
    redactor.learn(text);
    return redactor(text);
}

} // namespace nanscope::report
