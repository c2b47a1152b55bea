// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include <QWidget>

class QComboBox;

namespace nanscope {

/// "Loss spikes by [llm-foundry]": whose published rule calls a loss a spike, the default one first.
class SpikeRuleBox : public QWidget
{
    Q_OBJECT

public:
    explicit SpikeRuleBox(QWidget* parent = nullptr);

    /// Names as in FindingChoices: empty for the default one.
    void setRule(const std::string& name);
    std::string rule() const;
    QComboBox* box() { return m_box; }

Q_SIGNALS:
    /// By the user.
    void ruleChosen();

private:
    void showSource();

    QComboBox* m_box;
};

} // namespace nanscope
