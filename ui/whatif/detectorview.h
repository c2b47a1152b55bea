// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLabel>
#include <QWidget>

#include "core/diagnose/whatif/whatifwords.h"
#include "ui/jobs/whatifjob.h"
#include "ui/shared/rowmodel.h"

class QCheckBox;
class QComboBox;
class QSpinBox;
class QTableView;

namespace nanscope {

class FactsView;
class TurningSplitter;
struct FactSection;

/// "What would a NaN detector have done?": its settings, what each process of the run would have met, and why;
/// processes with something to tell come first.
class DetectorView : public QWidget
{
    Q_OBJECT

public:
    enum Column { process, action, step, rollback, leftOut, message };

    explicit DetectorView(QWidget* parent = nullptr);

    const diagnose::DetectorQuestion& question() const { return m_question; }
    void setQuestion(const diagnose::DetectorQuestion& question);
    void setAnswer(const WhatIfAnswer& answer);

    QString headline() const { return m_headline->text(); }
    /// All processes as text.
    QString text() const;
    RowModel<diagnose::DetectorReplay>* model() { return m_model; }
    QTableView* view() { return m_view; }
    FactsView* facts() { return m_facts; }
    QComboBox* actionBox() { return m_action; }
    QSpinBox* patienceBox() { return m_patience; }
    QCheckBox* gradientsBox() { return m_gradients; }

Q_SIGNALS:
    void questionChanged();
    /// Somebody wants to see where that is.
    void factActivated(const nanscope::diagnose::AnswerFact& fact);

private:
    QWidget* buildSettings();
    void buildTable();
    void readSettings();
    void showDetail();
    void activate(int row);
    std::vector<FactSection> sectionsOf(int row) const;

    diagnose::DetectorQuestion m_question;
    RowModel<diagnose::DetectorReplay>* m_model;
    QTableView* m_view;
    FactsView* m_facts;
    QLabel* m_headline;
    QComboBox* m_action;
    QSpinBox* m_patience;
    QCheckBox* m_gradients;
    TurningSplitter* m_below;
};

} // namespace nanscope
