// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "core/diagnose/whatif/whatifwords.h"
#include "ui/jobs/whatifjob.h"

class QComboBox;
class QLabel;
class QSpinBox;
class QTableView;

namespace nanscope {

class FactsView;
class GuardModel;
class TurningSplitter;
struct FactSection;

/// "Which ranks would a guard have left out?": what is known of the layout, each update that went bad by itself under
/// every layout and guard, and what comes of it.
class GuardView : public QWidget
{
    Q_OBJECT

public:
    explicit GuardView(QWidget* parent = nullptr);

    const diagnose::GuardQuestion& question() const { return m_question; }
    void setQuestion(const diagnose::GuardQuestion& question);
    void setAnswer(const WhatIfAnswer& answer);

    QString headline() const;
    QString text() const;
    GuardModel* model() { return m_model; }
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
    QWidget* buildSettings();
    void buildTable();
    void readSettings();
    void showDetail();
    void activate(int row);
    std::vector<FactSection> sectionsOf(const diagnose::GuardStep* step) const;

    diagnose::GuardQuestion m_question;
    GuardModel* m_model;
    QTableView* m_view;
    FactsView* m_facts;
    QLabel* m_headline;
    QComboBox* m_layout;
    QComboBox* m_scope;
    QSpinBox* m_ranks;
    TurningSplitter* m_below;
};

} // namespace nanscope
