// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include "ui/jobs/reporter.h"
#include "ui/shared/elidedlabel.h"
#include "ui/shared/paneframe.h"

class QComboBox;

class QPushButton;

namespace nanscope {

class ReportChoices;
class ReportView;

/// The report as it would leave the window now, beside what may be left out of it.
class ReportPane : public PaneFrame
{
    Q_OBJECT

public:
    enum Look { rendered, source, withPictures };

    explicit ReportPane(QWidget* parent = nullptr);

    void setPreview(std::shared_ptr<const ReportPreview> preview);
    void showMessage(const QString& message);
    void setOptions(const report::BundleOptions& options);

    ReportView* view() { return m_view; }
    ReportChoices* choices() { return m_choices; }
    QComboBox* looks() { return m_looks; }
    /// While a report is on its way to a file no other one is begun, and this one can be cancelled.
    void setSaving(bool saving);
    QString sizeText() const { return m_size->fullText(); }

Q_SIGNALS:
    void optionsChanged(const nanscope::report::BundleOptions& options);
    void copyRequested();
    void saveRequested();
    void bundleRequested();
    void cancelRequested();

private:
    QWidget* buildButtons();
    void enableButtons();
    void showPreview();

    std::shared_ptr<const ReportPreview> m_preview;
    ReportView* m_view;
    ReportChoices* m_choices;
    QComboBox* m_looks;
    ElidedLabel* m_size;
    std::vector<QPushButton*> m_buttons; ///< copy, save, save bundle
    QPushButton* m_cancel = nullptr;
    bool m_saving = false;
};

} // namespace nanscope
