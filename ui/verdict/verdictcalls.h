// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <QLabel>
#include <QWidget>

#include "core/model/experiment.h"

class QComboBox;
class QSpinBox;
class QToolButton;
class QVBoxLayout;

namespace nanscope {

/// How calls were made again: on which GPU, and with what changed.
struct CallSetting
{
    bool sameGpu = true;
    std::string experiment {};

    bool operator==(const CallSetting&) const = default;
};

CallSetting settingOf(const CallsAgain& called);

/// One count: "called again: 3 of 200 failed, as it ran".
class CallsRow : public QWidget
{
    Q_OBJECT

public:
    explicit CallsRow(QWidget* parent = nullptr);

    /// Nothing is signalled.
    void setCalls(const CallsAgain& called);
    /// None while it cannot be: no calls, or more failures than calls. The capture is left to who asks.
    std::optional<CallsAgain> calls() const;
    CallSetting setting() const;
    /// What other rows tell of cannot be chosen here.
    void setTaken(const std::vector<CallSetting>& others);
    /// The first setting that can be chosen; nothing is signalled.
    void chooseFree();
    /// Where it is one of the settings; nothing is signalled.
    void choose(const CallSetting& setting);
    /// A changed setting is held against the calls as they ran.
    void setComparable(bool comparable);

    QSpinBox* failedBox() { return m_failed; }
    QSpinBox* callsBox() { return m_calls; }
    QComboBox* settingBox() { return m_setting; }
    QToolButton* removeButton() { return m_remove; }
    QString hint() const { return m_hint->text(); }

Q_SIGNALS:
    void changed();
    void removeRequested();

private:
    void fillSettings();
    void build();
    void showHint();

    std::vector<CallSetting> m_settings; ///< in the order of the box
    QSpinBox* m_failed;
    QSpinBox* m_calls;
    QComboBox* m_setting;
    QToolButton* m_remove;
    QLabel* m_hint;
    bool m_comparable = true;
};

/// The captured call made again: how often each setting failed.
class VerdictCalls : public QWidget
{
    Q_OBJECT

public:
    explicit VerdictCalls(QWidget* parent = nullptr);

    /// Keeps what is being typed where the rows say this already.
    void setCalls(const std::string& capture, const std::vector<CallsAgain>& all);
    /// As set, with what these rows say of their capture.
    std::vector<CallsAgain> calls() const;
    /// One more row, to be filled in; not while every setting has one.
    CallsRow* addRow();
    /// The row of this setting, which is added where there is none.
    CallsRow* rowOf(const CallSetting& setting);
    bool canAdd() const;
    const std::vector<CallsRow*>& rows() const { return m_rows; }

Q_SIGNALS:
    void changed();
    void removed();
    void lastRemoved(); ///< what had the focus is gone

private:
    CallsRow* makeRow();
    void clear();
    void remove(CallsRow* row);
    void relate();
    std::vector<CallsAgain> said() const;

    std::string m_capture;
    std::vector<CallsAgain> m_others; ///< of other captures
    std::vector<CallsRow*> m_rows;
    QVBoxLayout* m_layout;
};

} // namespace nanscope
