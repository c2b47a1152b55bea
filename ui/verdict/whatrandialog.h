// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>
#include <QStringList>

#include "core/replay/variants/catalogue.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QPushButton;

namespace nanscope {

/// Asks which function ran, in which format, and with which steps and epsilon; the answer is in the words of --ran.
class WhatRanDialog : public QDialog
{
    Q_OBJECT

public:
    /// `plausible` come first in the list, the first of them is chosen; `said` is what was answered before.
    WhatRanDialog(const replay::Catalogue& catalogue, const QStringList& plausible, const QStringList& said,
        QWidget* parent = nullptr);

    void askEpsilon();

    /// As in --ran, "keller-jordan@0:fp16"; empty while what was entered names nothing that can run.
    QStringList answer() const;

Q_SIGNALS:
    /// Empty for "I do not know".
    void answered(const QStringList& ran);

private:
    void fillVariants(const QStringList& plausible);
    QString wordsOfChoice() const;
    void showChoice();

    replay::Catalogue m_catalogue;
    QStringList m_said;
    QComboBox* m_variant;
    QComboBox* m_format;
    QComboBox* m_steps;
    QComboBox* m_epsilon;
    QCheckBox* m_besides; ///< what was said before may have run, too
    QLabel* m_note;
    QPushButton* m_judge = nullptr;
};

} // namespace nanscope
