// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/report/report.h"

namespace nanscope {

/// How often each kind of private text was replaced.
struct RedactionCounts
{
    int homes = 0;
    int users = 0;
    int hosts = 0;
    int addresses = 0;
    int emails = 0;
    int secrets = 0;
    int given = 0; ///< chosen by the user
    int total() const { return homes + users + hosts + addresses + emails + secrets + given; }
};

/// Redacts one text after the other. A name that was seen once in a telling place ("/home/alice") is also replaced
/// where nothing gives it away ("/data/alice").
class Redactor
{
public:
    /// `given` is replaced first and then left alone; without `rules`, nothing else is.
    Redactor(bool rules, std::vector<Redaction> given);

    /// Notes the names in a text that comes later, or not at all.
    void learn(const std::string& text);
    std::string operator()(const std::string& text);

    const RedactionCounts& counts() const { return m_counts; }
    /// What was replaced so far, in the order it was met.
    const std::vector<Redaction>& made() const { return m_made; }

private:
    std::string replaced(std::string text);
    std::string protectGiven(std::string text);
    std::string restoreGiven(const std::string& text) const;
    void applyRule(std::size_t rule, std::string& text);
    void replaceWords(std::string& text, const std::string& word, const std::string& with, int RedactionCounts::*what);
    void replaceFolders(std::string& text, const std::string& name);
    void note(std::string_view text, const std::string& with, int RedactionCounts::*what);
    void learnName(std::string_view text, int RedactionCounts::*what);

    bool m_rules;
    bool m_learning = false;
    std::vector<Redaction> m_given;
    std::set<std::string> m_users;
    std::set<std::string> m_hosts;
    RedactionCounts m_counts;
    std::vector<Redaction> m_made;
};

/// One that has seen every text of the report's input.
Redactor redactorFor(const ReportInput& input, const ReportOptions& options);

/// As redact(), adding to `counts`.
std::string redact(const std::string& text, RedactionCounts& counts);

} // namespace nanscope
