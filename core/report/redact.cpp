// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "core/report/redaction.h"
#include "core/report/redactrules.h"
#include "core/report/redactwords.h"
#include "core/report/report.h"

namespace nanscope {

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

Redactor::Redactor(bool rules, std::vector<Redaction> given)
    : m_rules(rules)
    , m_given(std::move(given))
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
    if (what == &RedactionCounts::hosts && tellTale(std::string(text))) {
        m_hosts.emplace(text);
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
    const auto same = [&](const Redaction& made) { return made.text == was && made.replacement == with; };
    const auto found = std::find_if(m_made.begin(), m_made.end(), same);
    if (found != m_made.end()) {
        ++found->count;
    } else {
        m_made.push_back({was, with, 1});
    }
}

void Redactor::applyRule(std::size_t number, std::string& text)
{
    const auto& rule = redactionRules()[number];
    constexpr int groupCount = 4;
    std::array<re2::StringPiece, groupCount> groups;
    const auto count = std::min(groupCount, rule.pattern.NumberOfCapturingGroups() + 1);
    std::string result;
    std::size_t at = 0;
    while (rule.pattern.Match(text, at, text.size(), RE2::UNANCHORED, groups.data(), count)) {
        const auto begin = static_cast<std::size_t>(groups[0].data() - text.data());
        std::string with;
        rule.pattern.Rewrite(&with, rule.replacement, groups.data(), count);
        result.append(text, at, begin - at).append(with);
        const auto part = privatePart({groups[0].data(), groups[0].size()}, with);
        note(part, with, rule.counter);
        learnName(part, rule.counter);
        at = begin + groups[0].size();
    }
    text = at == 0 ? text : result.append(text, at);
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

/// A name as a folder, or at its front: "/data/alice/x" and "/data/alice-runs".
void Redactor::replaceFolders(std::string& text, const std::string& name)
{
    for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at)) {
        const bool folder = at > 0 && (text[at - 1] == '/' || text[at - 1] == '\\');
        if (!folder || alphanumeric(text, at + name.size())) {
            at += name.size();
            continue;
        }
        text.replace(at, name.size(), "<user>");
        note(name, "<user>", &RedactionCounts::users);
    }
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

std::string Redactor::replaced(std::string text)
{
    replaceWords(text, withStandIns(ownHome()), "<home>", &RedactionCounts::homes);
    replaceWords(text, ownHost(), "<host>", &RedactionCounts::hosts);
    if (anyRuleMatches(text)) {
        for (std::size_t i = 0; i < redactionRules().size(); ++i) {
            applyRule(i, text);
        }
    }
    for (const auto& name : m_users) {
        replaceFolders(text, name);
    }
    for (const auto& host : m_hosts) {
        replaceWords(text, host, "<host>", &RedactionCounts::hosts);
    }
    return text;
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
    if (auto known = withStandIns(text); anyRuleMatches(known)) {
        m_learning = true;
        replaced(std::move(known));
        m_learning = false;
    }
}

Redactor redactorFor(const ReportInput& input, const ReportOptions& options)
{
    Redactor redactor(options.redact, options.redactions);
    redactor.learn(input.run.root);
    redactor.learn(input.commandLine);
    for (const auto& capture : input.run.captures) {
        redactor.learn(capture.path);
    }
    for (const auto& event : input.run.events) {
        redactor.learn(event.text);
    }
    for (const auto& rejection : input.run.rejected) {
        redactor.learn(rejection.path);
    }
    return redactor;
}

std::string redact(const std::string& text, RedactionCounts& counts)
{
    Redactor redactor(true, {});
    redactor.learn(text);
    auto result = redactor(text);
    const auto& found = redactor.counts();
    for (const auto kind : {&RedactionCounts::homes, &RedactionCounts::users, &RedactionCounts::hosts,
             &RedactionCounts::addresses, &RedactionCounts::emails, &RedactionCounts::secrets}) {
        counts.*kind += found.*kind;
    }
    return result;
}

std::string redact(const std::string& text)
{
    RedactionCounts counts;
    return redact(text, counts);
}

std::vector<Redaction> redactionsIn(const std::string& text)
{
    Redactor redactor(true, {});
    redactor.learn(text);
    redactor(text);
    return redactor.made();
}

} // namespace nanscope
