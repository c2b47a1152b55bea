// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include "core/diagnose/findings/findings.h"
#include "core/model/finding.h"
#include "ui/shared/paneframe.h"
#include "ui/shared/rowmodel.h"

class QAction;
class QComboBox;
class QLabel;
class QPushButton;
class QTableView;
class QTextBrowser;
class QToolButton;

namespace nanscope {

class AdvisoryLines;

/// What the logs tell besides the captures: every card that fired with its evidence, and on demand those that are
/// clear, those that this data cannot show and those that the user does not want to hear of.
class FindingsPane : public PaneFrame
{
    Q_OBJECT

public:
    enum Column { title, id, step, rank, confidence };

    explicit FindingsPane(QWidget* parent = nullptr);

    /// `newest` as in showNewest(). Not `complete` while some are still looked for.
    void setFindings(
        const std::vector<Finding>& findings, const std::optional<std::int64_t>& newest = {}, bool complete = true);

    /// What the findings were asked by.
    void setChoices(const diagnose::FindingChoices& choices);
    /// What stands beside the choices while they do not hold yet; empty where they do.
    void setWaiting(const QString& text);

    RowModel<Finding>* model() { return m_model; }
    QTableView* view() { return m_view; }
    QTextBrowser* detail() { return m_detail; }
    QToolButton* chip(FindingState state) const;
    /// Where it is listed, or -1.
    int rowOf(const QString& id) const;
    QLabel* newestLabel() { return m_newest; }
    AdvisoryLines* advisories() { return m_advisories; }
    QLabel* waitingLabel() { return m_waiting; }
    /// Whose published rule calls a loss a spike, the default one first.
    QComboBox* spikeRules() { return m_spikeRules; }
    /// Silences the selected finding or shows it again; hidden where it is neither.
    QPushButton* silenceButton() { return m_silence; }
    /// The same in the menu of the table.
    QAction* silenceAction() { return m_silenceAction; }

Q_SIGNALS:
    /// Somebody wants to see the line that a finding rests on.
    void evidenceActivated(const QString& source, qint64 line);
    /// The user chose other ones; as checked() gives them.
    void choicesChanged(const nanscope::diagnose::FindingChoices& choices);

private:
    struct Chip
    {
        FindingState state;
        QToolButton* button;
    };

    QWidget* buildChips();
    QWidget* buildChoices();
    QWidget* buildSpikeRules();
    void showRuleSource();
    QWidget* buildDetail();
    void buildView();
    void buildSilence();
    void choose(diagnose::FindingChoices choices);
    void toggleSilence();
    const Finding* selected() const;
    void showSilence(const Finding* finding);
    void listChosen();
    int countOf(FindingState state) const;
    void updateCounts();
    void hideEmptyColumns();
    void selectRow(int row);
    void showDetail();
    QString emptyText() const;

    std::vector<Finding> m_all; ///< what fired first, the gravest on top
    RowModel<Finding>* m_model;
    QTableView* m_view;
    QTextBrowser* m_detail;
    QLabel* m_newest;
    AdvisoryLines* m_advisories;
    QComboBox* m_spikeRules;
    QLabel* m_waiting;
    QPushButton* m_silence;
    QAction* m_silenceAction = nullptr;
    diagnose::FindingChoices m_choices;
    bool m_complete = true;
    int m_leftRow = 0; ///< of what was silenced or shown again: the next one there is selected
    std::vector<Chip> m_chips;
};

} // namespace nanscope
