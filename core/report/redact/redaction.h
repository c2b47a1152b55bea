// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/report/input/reportoptions.h"

namespace nanscope::report {

struct ReportInput;

/// A text that no rule knows and that looks like a key. It is hidden until the user says that it is none.
struct Suspicion
{
    std::string text;
    std::string where; ///< of the first: "console.log:12", or the place in report.json
    int count = 1;
};

/// Stands for a Suspicion.
constexpr std::string_view suspicionText = "<secret?>";
/// The id, beside those of the rules, of what finds them.
constexpr std::string_view suspicionRule = "random";

/// "Ab3d...x9": enough to find it again for who has it, and for nobody else.
std::string masked(const Suspicion& suspicion);

/// Redacts one text after the other. A name or a key that was seen once in a telling place ("/home/alice", "password=")
/// is also replaced where nothing gives it away ("/data/alice").
class Redactor
{
public:
    /// `given` is replaced first and then left alone; without `rules`, nothing else is. Rules may be left out by id.
    Redactor(bool rules, std::vector<Redaction> given, std::set<std::string, std::less<>> without = {});

    /// Notes the names in a text that comes later, or not at all.
    void learn(const std::string& text);
    /// A text of the program's own, such as a digest, that is no key.
    void trust(const std::string& text) { m_trusted.insert(text); }
    /// Where the texts that follow stand.
    void enter(std::string where) { m_where = std::move(where); }
    std::string operator()(const std::string& text);

    const RedactionCounts& counts() const { return m_counts; }
    /// What was replaced so far, in the order it was met.
    const std::vector<Redaction>& made() const { return m_made; }
    const std::vector<Suspicion>& suspicions() const { return m_suspicions; }

private:
    std::string replaced(std::string text);
    std::string replacedInLine(std::string line);
    std::string protectGiven(std::string text);
    std::string restoreGiven(const std::string& text) const;
    void applyRule(std::size_t rule, std::string& text);
    void replaceWords(std::string& text, const std::string& word, const std::string& with, int RedactionCounts::*what);
    void replaceFolders(std::string& text);
    void replaceHosts(std::string& text);
    void replaceSecrets(std::string& text);
    void replaceRandom(std::string& text);
    void note(std::string_view text, const std::string& with, int RedactionCounts::*what);
    void learnName(std::string_view text, int RedactionCounts::*what);
    bool leftOut(std::string_view rule) const { return m_without.contains(rule); }

    bool m_rules;
    bool m_learning = false;
    std::vector<Redaction> m_given;
    std::set<std::string, std::less<>> m_without;
    std::set<std::string, std::less<>> m_users;
    std::set<std::string, std::less<>> m_hosts;
    std::set<std::string, std::less<>> m_secrets;
    std::set<std::string, std::less<>> m_trusted;
    std::string m_where;
    RedactionCounts m_counts;
    std::vector<Redaction> m_made;
    std::map<std::string, std::size_t> m_madeAt;
    std::vector<Suspicion> m_suspicions;
    std::map<std::string, std::size_t, std::less<>> m_suspicionAt;
};

/// One that has seen every text of the report's input.
Redactor redactorFor(const ReportInput& input, const ReportOptions& options);

/// Replaces host names, user names and home paths as they occur in console text and paths.
std::string redact(const std::string& text);

} // namespace nanscope::report
