// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include <QWidget>

#include "core/model/experiment.h"

class QVBoxLayout;

namespace nanscope {

class CallsRow;

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
