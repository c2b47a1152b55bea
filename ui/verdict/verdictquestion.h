// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QFrame>
#include <QStringList>

#include "core/model/fwd.h"
#include "core/model/model.h"
#include "core/replay/variants/catalogue.h"

class QLabel;
class QPushButton;

namespace nanscope {

class VerdictFlow;

/// The one question that would decide the verdict, with its answers as buttons.
class VerdictQuestion : public QFrame
{
    Q_OBJECT

public:
    explicit VerdictQuestion(QWidget* parent = nullptr);

    /// Hides itself where the verdict asks nothing.
    void ask(const CaptureVerdict& verdict, const replay::Catalogue& catalogue);

    QStringList answers() const;

Q_SIGNALS:
    void answered(const QStringList& ticks);
    void ranWanted(); ///< what ran is to be chosen of all variants and formats
    void epsilonWanted();
    void focusLeft(); ///< the button that had it is gone, and there is no other
    /// How often the captured call failed is to be said: with what changed, nothing for a call as it ran.
    void callsWanted(const QString& experiment);

private:
    void style();
    void clear();
    QPushButton* addButton(const QString& text, const QString& tip);
    void addControls(const CaptureVerdict& verdict);

    QLabel* m_text;
    QWidget* m_row;
    VerdictFlow* m_flow;
    std::vector<QPushButton*> m_buttons;
};

} // namespace nanscope
