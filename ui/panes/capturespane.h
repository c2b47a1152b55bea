// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include "core/model/model.h"
#include "ui/panes/paneframe.h"

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
    int selectedCapture() const;
    void selectCapture(int capture);
    void focusFilter();

    QTableView* view() { return m_view; }

Q_SIGNALS:
    /// Index into RunData::captures, or -1.
    void captureSelected(int capture);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void updateNote();
    void onCurrentChanged();
    void fitColumns();

    CaptureModel* m_model;
    CaptureFilter* m_filter;
    QLineEdit* m_box;
    QTableView* m_view;
    QString m_triage;
    bool m_choosing = false; ///< a selection of our own is under way
    bool m_chosenByUser = false;
};

} // namespace nanscope
