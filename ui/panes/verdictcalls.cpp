// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panes/verdictcalls.h"

#include <algorithm>
#include <tuple>

#include <QComboBox>
#include <QSpinBox>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/panes/callsrow.h"

namespace nanscope {

namespace {

bool same(const CallsAgain& a, const CallsAgain& b)
{
    return std::tie(a.capture, a.failed, a.calls, a.sameGpu, a.experiment)
        == std::tie(b.capture, b.failed, b.calls, b.sameGpu, b.experiment);
}

} // namespace

VerdictCalls::VerdictCalls(QWidget* parent)
    : QWidget(parent)
    , m_layout(new QVBoxLayout(this))
{
    m_layout->setContentsMargins(0, 0, 0, 0);
    m_layout->setSpacing(0);
}

std::vector<CallsAgain> VerdictCalls::said() const
{
    std::vector<CallsAgain> all;
    for (const CallsRow* row : m_rows) {
        if (auto calls = row->calls()) {
            calls->capture = m_capture;
            all.push_back(std::move(*calls));
        }
    }
    return all;
}

std::vector<CallsAgain> VerdictCalls::calls() const
{
    auto all = m_others;
    std::ranges::move(said(), std::back_inserter(all));
    return all;
}

void VerdictCalls::setCalls(const std::string& capture, const std::vector<CallsAgain>& all)
{
    std::vector<CallsAgain> own;
    m_others.clear();
    for (const CallsAgain& called : all) {
        (called.capture == capture ? own : m_others).push_back(called);
    }
    if (capture != m_capture || !std::ranges::equal(own, said(), same)) {
        clear();
        m_capture = capture;
        for (const CallsAgain& called : own) {
            makeRow()->setCalls(called);
        }
    }
    relate();
}

CallsRow* VerdictCalls::makeRow()
{
    auto* row = new CallsRow(this);
    connect(row, &CallsRow::changed, this, [this] {
        relate();
        Q_EMIT changed();
    });
    connect(row, &CallsRow::removeRequested, this, [this, row] { remove(row); });
    m_layout->addWidget(row);
    m_rows.push_back(row);
    return row;
}

CallsRow* VerdictCalls::addRow()
{
    if (!canAdd()) {
        return nullptr;
    }
    CallsRow* row = makeRow();
    relate();
    row->chooseFree();
    relate();
    row->callsBox()->setFocus();
    row->callsBox()->selectAll();
    return row;
}

bool VerdictCalls::canAdd() const
{
    return m_rows.empty() || static_cast<int>(m_rows.size()) < m_rows.front()->settingBox()->count();
}

void VerdictCalls::remove(CallsRow* row)
{
    const bool spoke = row->calls().has_value();
    std::erase(m_rows, row);
    m_layout->removeWidget(row);
    row->hide();
    row->deleteLater();
    relate();
    Q_EMIT removed();
    if (m_rows.empty()) {
        Q_EMIT lastRemoved();
    } else {
        m_rows.back()->removeButton()->setFocus();
    }
    if (spoke) {
        Q_EMIT changed();
    }
}

void VerdictCalls::clear()
{
    for (CallsRow* row : m_rows) {
        m_layout->removeWidget(row);
        row->hide();
        row->deleteLater();
    }
    m_rows.clear();
}

void VerdictCalls::relate()
{
    const bool comparable = std::ranges::any_of(
        m_rows, [](const CallsRow* row) { return row->calls() && row->setting() == CallSetting(); });
    for (CallsRow* row : m_rows) {
        std::vector<CallSetting> others;
        for (const CallsRow* other : m_rows) {
            if (other != row) {
                others.push_back(other->setting());
            }
        }
        row->setTaken(others);
        row->setComparable(comparable);
    }
    setVisible(!m_rows.empty());
}

} // namespace nanscope
