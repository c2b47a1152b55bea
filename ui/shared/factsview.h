// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <utility>
#include <vector>

#include <QTextBrowser>

#include "core/diagnose/whatif/whatifwords.h"

namespace nanscope {

/// Facts under one heading; the heading may be empty.
struct FactSection
{
    QString title;
    std::vector<diagnose::AnswerFact> facts;
};

/// Sentences of an answer with what they are about beside them. What shows one is a link.
class FactsView : public QTextBrowser
{
    Q_OBJECT

public:
    explicit FactsView(const QString& name, QWidget* parent = nullptr);

    /// Where the heading names the only log there is, its links say the line alone.
    void setFacts(const QString& heading, std::vector<FactSection> sections, const std::string& onlyLog = {});

Q_SIGNALS:
    /// Somebody wants to see what shows it.
    void factActivated(const nanscope::diagnose::AnswerFact& fact);

private:
    void fill();
    int widthOfLabels() const;
    QString linkHtml(const diagnose::AnswerFact& fact, std::size_t number) const;

    QString m_heading;
    QString m_onlyLog;
    std::vector<FactSection> m_sections;
    std::vector<const diagnose::AnswerFact*> m_links; ///< by their number in the text
};

/// The same as lines for the clipboard: "left out: 5 updates: 6-10".
QString factsText(const QString& heading, const std::vector<FactSection>& sections);

/// "train.log:41" as file and line; what names no line has line 0.
std::pair<QString, qint64> placeOfSource(const std::string& source);

} // namespace nanscope
