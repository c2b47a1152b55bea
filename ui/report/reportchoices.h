// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QWidget>

#include "core/report/reportfiles.h"

class QLineEdit;
class QTreeWidget;
class QTreeWidgetItem;

namespace nanscope {

/// Everything but the permission to send a capture, which is given each time.
QByteArray saveReportOptions(const report::BundleOptions& options);
/// The defaults where `state` is damaged or of another version.
report::BundleOptions restoreReportOptions(const QByteArray& state);

/// What goes into a report, as ticks: hidden texts, sections, pictures, the capture.
class ReportChoices : public QWidget
{
    Q_OBJECT

public:
    explicit ReportChoices(QWidget* parent = nullptr);

    const report::BundleOptions& options() const { return m_options; }
    void setOptions(const report::BundleOptions& options);
    /// What the report as it is now replaces.
    void setMade(std::vector<report::Redaction> made);
    /// Hides a text wherever it stands.
    void hideText(const QString& text);

    QTreeWidget* tree() { return m_tree; }
    QLineEdit* field() { return m_field; }

Q_SIGNALS:
    void optionsChanged();

private:
    void fill();
    void fillTexts();
    void fillSections();
    void onTicked(QTreeWidgetItem* item);
    void setHidden(const QString& text, bool hidden);

    report::BundleOptions m_options;
    std::vector<report::Redaction> m_made;
    QTreeWidget* m_tree;
    QTreeWidgetItem* m_texts;
    QTreeWidgetItem* m_sections;
    QTreeWidgetItem* m_files;
    QLineEdit* m_field;
};

} // namespace nanscope
