// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <optional>

#include <QLabel>
#include <QWidget>

#include "core/diagnose/whatif/whatifwords.h"
#include "ui/jobs/whatifjob.h"
#include "ui/shared/rowmodel.h"

class QComboBox;
class QSpinBox;
class QTableView;

namespace nanscope {

class FactsView;
class TurningSplitter;
struct FactSection;

/// Points into the answer.
struct GuardRow
{
    const diagnose::GuardStep* step = nullptr;
    std::optional<probe::Layout> layout {}; ///< none where every layout is ruled out
    std::array<const diagnose::GuardOutcome*, 3> outcomes {}; ///< by scope
};

/// "Which ranks would a guard have left out?": what is known of the layout, each update that went bad by itself under
/// every layout and guard, and what comes of it: a row per cause and layout, a column per guard.
class GuardView : public QWidget
{
    Q_OBJECT

public:
    enum Column { cause, layout, stack, local, group, full };

    explicit GuardView(QWidget* parent = nullptr);

    const diagnose::GuardQuestion& question() const { return m_question; }
    void setQuestion(const diagnose::GuardQuestion& question);
    void setAnswer(const WhatIfAnswer& answer);

    QString headline() const { return m_headline->text(); }
    QString text() const;
    RowModel<GuardRow>* model() { return m_model; }
    QTableView* view() { return m_view; }
    FactsView* facts() { return m_facts; }
    QComboBox* layoutBox() { return m_layout; }
    QComboBox* scopeBox() { return m_scope; }
    QSpinBox* ranksBox() { return m_ranks; }

Q_SIGNALS:
    void questionChanged();
    void factActivated(const nanscope::diagnose::AnswerFact& fact);

protected:
    bool eventFilter(QObject* object, QEvent* event) override;

private:
    std::vector<RowColumn<GuardRow>> columns() const;
    QString layoutTip(const GuardRow& row) const;
    void setWhatIf(diagnose::GuardWhatIf whatIf);
    const diagnose::GuardStep* stepAt(int row) const;
    QWidget* buildSettings();
    void buildTable();
    void readSettings();
    void showDetail();
    void activate(int row);
    std::vector<FactSection> sectionsOf(const diagnose::GuardStep* step) const;

    diagnose::GuardQuestion m_question;
    diagnose::GuardWhatIf m_whatIf;
    RowModel<GuardRow>* m_model;
    QTableView* m_view;
    FactsView* m_facts;
    QLabel* m_headline;
    QComboBox* m_layout;
    QComboBox* m_scope;
    QSpinBox* m_ranks;
    TurningSplitter* m_below;
};

} // namespace nanscope
