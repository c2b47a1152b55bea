// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include "core/model/model.h"
#include "ui/panes/paneframe.h"

class QLabel;
class QTableView;
class QTextBrowser;
class QToolButton;

namespace nanscope {

class AdvisoryLines;
class FindingModel;

/// What the logs tell besides the captures: every card that fired with its evidence, and on demand those that are
/// clear and those that this data cannot show.
class FindingsPane : public PaneFrame
{
    Q_OBJECT

public:
    explicit FindingsPane(QWidget* parent = nullptr);

    /// `newest` as in showNewest().
    void setFindings(const std::vector<Finding>& findings, const std::optional<std::int64_t>& newest = {});

    FindingModel* model() { return m_model; }
    QTableView* view() { return m_view; }
    QTextBrowser* detail() { return m_detail; }
    QToolButton* chip(FindingState state);
    QLabel* newestLabel() { return m_newest; }
    AdvisoryLines* advisories() { return m_advisories; }

Q_SIGNALS:
    /// Somebody wants to see the line that a finding rests on.
    void evidenceActivated(const QString& source, qint64 line);

protected:
    void changeEvent(QEvent* event) override;

private:
    struct Chip
    {
        FindingState state;
        QToolButton* button;
    };

    QWidget* buildChips();
    void buildView();
    void showChosenStates();
    void updateCounts();
    void selectFirst();
    void showDetail();

    FindingModel* m_model;
    QTableView* m_view;
    QTextBrowser* m_detail;
    QLabel* m_newest;
    AdvisoryLines* m_advisories;
    std::vector<Chip> m_chips;
};

} // namespace nanscope
