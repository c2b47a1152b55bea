// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <set>
#include <vector>

#include <QLabel>

#include "core/model/fwd.h"
#include "core/model/model.h"
#include "ui/shared/paneframe.h"

class QAction;
class QLineEdit;
class QTableView;

namespace nanscope {

class CaptureFilter;
class CaptureModel;

/// What there is: every capture of the run with its role, filtered by a box above the list.
class CapturesPane : public PaneFrame
{
    Q_OBJECT

public:
    explicit CapturesPane(QWidget* parent = nullptr);

    /// Keeps a capture the user chose where it still exists, else selects the first one shown: the birth.
    void setRun(std::shared_ptr<const RunData> run, std::shared_ptr<const Diagnosis> diagnosis);
    /// More verdicts on the same run.
    void setVerdicts(std::shared_ptr<const Diagnosis> diagnosis);
    /// Stays what it was while a filter hides it.
    int selectedCapture() const { return m_selected; }
    void selectCapture(int capture);
    /// A capture is selected, and the filter does not list it.
    bool hidesSelected() const;
    void focusFilter();
    void setFilterText(const QString& text);
    /// "25 captures", "3 of 25 captures · filter role:birth".
    QString listed() const;
    /// What is wrong with the filter, or that it hides everything; empty otherwise.
    QString filterProblem() const { return m_problem->isHidden() ? QString() : m_problem->text(); }

    QTableView* view() { return m_view; }

Q_SIGNALS:
    /// Index into RunData::captures, or -1.
    void captureSelected(int capture);
    void listChanged(); ///< listed() is another, or hidesSelected()
    /// The capture the selected one descends from is wanted.
    void causeRequested();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void updateNote();
    void onCurrentChanged();
    void buildActions();
    void updateActions();
    void filter(const QString& text);
    void showProblem();
    void showSelected();
    void measureColumns();
    void fitColumns();
    void chooseColumns(const QPoint& at);

    CaptureModel* m_model;
    CaptureFilter* m_filter;
    QLineEdit* m_box;
    QLabel* m_problem; ///< what of the filter is not understood
    QTableView* m_view;
    QAction* m_copyPath = nullptr;
    QAction* m_openFolder = nullptr;
    QAction* m_cause = nullptr;
    QString m_triage;
    std::set<int> m_unwanted; ///< by the user; a narrow list hides others as well
    std::vector<int> m_givingWay; ///< columns that a narrow list hides, the first first
    std::vector<int> m_wanted; ///< width of each column that shows all of it
    int m_selected = -1;
    bool m_choosing = false; ///< a selection of our own is under way
    bool m_chosenByUser = false;
};

} // namespace nanscope
