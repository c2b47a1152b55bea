// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>
#include <QProcess>
#include <QString>
#include <QTemporaryFile>

#include "core/replay/engine/capturecells.h"

class QComboBox;
class QPlainTextEdit;
class QPushButton;
class QSpinBox;

namespace nanscope {

/// Whether every GPU replays a capture to the same bits: `nanscope agree`, run in the background.
class AgreeDialog : public QDialog
{
    Q_OBJECT

public:
    struct Programs
    {
        QString nanscope;
        QString worker; ///< empty: the one beside nanscope
    };

    /// `cell` says which variant and format are offered first.
    AgreeDialog(const Programs& programs, const QString& capture, const replay::CellRequest& cell,
        const replay::Catalogue& catalogue, QWidget* parent = nullptr);
    ~AgreeDialog() override;

    QPushButton* runButton() { return m_run; }
    QComboBox* variantBox() { return m_variant; }
    QString answer() const;

private:
    void startOrCancel();
    QStringList arguments() const;
    bool writeDefinition();
    const replay::Variant* ownVariant() const;
    void onEnded(int code, QProcess::ExitStatus status);
    void showRunning(bool running);

    Programs m_programs;
    QString m_capture;
    replay::Catalogue m_catalogue;
    QTemporaryFile m_definition; ///< of a variant of the user's own
    QProcess m_process;
    bool m_cancelled = false;
    QComboBox* m_variant;
    QComboBox* m_precision;
    QSpinBox* m_repeats;
    QPlainTextEdit* m_answer;
    QPushButton* m_run;
    QPushButton* m_copy;
};

} // namespace nanscope
