// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/verdict/verdictcalls.h"

#include <algorithm>
#include <initializer_list>
#include <tuple>

#include <QComboBox>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QStandardItemModel>
#include <QToolButton>
#include <QVBoxLayout>

#include "core/diagnose/verdict/experiments.h"
#include "ui/shared/answerparts.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"
#include "ui/verdict/verdictflow.h"

namespace nanscope {

namespace {

/// What `nanscope diagnose --called` takes, too.
constexpr int mostCalls = 1'000'000;

QString settingText(const CallSetting& setting)
{
    if (setting.experiment.empty()) {
        return setting.sameGpu ? CallsRow::tr("as it ran, on the same GPU") : CallsRow::tr("as it ran, on another GPU");
    }
    const Experiment* experiment = diagnose::findExperiment(setting.experiment);
    const QString what = qstr(experiment ? experiment->what : setting.experiment);
    return setting.sameGpu ? CallsRow::tr("with: %1").arg(what) : CallsRow::tr("on another GPU, with: %1").arg(what);
}

QSpinBox* countBox(QWidget* parent, const QString& name, const QString& tip)
{
    auto* box = new QSpinBox(parent);
    box->setRange(0, mostCalls);
    box->setAccessibleName(name);
    box->setToolTip(tip);
    return box;
}

bool same(const CallsAgain& a, const CallsAgain& b)
{
    return std::tie(a.capture, a.failed, a.calls, a.sameGpu, a.experiment)
        == std::tie(b.capture, b.failed, b.calls, b.sameGpu, b.experiment);
}

} // namespace

CallSetting settingOf(const CallsAgain& called)
{
    return {called.sameGpu, called.experiment};
}

CallsRow::CallsRow(QWidget* parent)
    : QWidget(parent)
    , m_failed(countBox(this, tr("Failed calls"), tr("How many of the calls gave a damaged output")))
    , m_calls(countBox(this, tr("Calls made again"), tr("How often it was called with the captured input")))
    , m_setting(new QComboBox(this))
    , m_remove(makeToolButton(this, "quiet", QStringLiteral("✕"), tr("Take this count back")))
    , m_hint(new QLabel(this))
{
    fillSettings();
    build();
    connect(m_failed, &QSpinBox::valueChanged, this, &CallsRow::changed);
    connect(m_calls, &QSpinBox::valueChanged, this, &CallsRow::changed);
    connect(m_setting, &QComboBox::currentIndexChanged, this, &CallsRow::changed);
    connect(this, &CallsRow::changed, this, &CallsRow::showHint);
    connect(m_remove, &QToolButton::clicked, this, &CallsRow::removeRequested);
    showHint();
}

void CallsRow::fillSettings()
{
    m_settings = {{true, {}}, {false, {}}};
    for (const std::string_view id : diagnose::experimentIds()) {
        m_settings.push_back({true, std::string(id)});
    }
    for (const CallSetting& setting : m_settings) {
        m_setting->addItem(settingText(setting));
    }
    m_setting->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_setting->setMinimumContentsLength(18);
    m_setting->setAccessibleName(tr("How it was called again"));
    m_setting->setToolTip(tr("On which GPU, and what was changed; a change is held against the calls as it ran"));
}

void CallsRow::build()
{
    m_calls->setSpecialValueText(tr("unknown"));
    m_hint->setObjectName(QStringLiteral("muted"));
    m_hint->setWordWrap(true);
    auto* line = new QWidget(this);
    auto* flow = new VerdictFlow(line);
    flow->setSpacing(grid(2));
    for (QWidget* part : std::initializer_list<QWidget*> {new QLabel(tr("Repeated calls:"), line), m_failed,
             new QLabel(tr("of"), line), m_calls, new QLabel(tr("failed"), line), m_setting, m_remove}) {
        flow->addWidget(part);
    }
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 2);
    layout->setSpacing(2);
    layout->addWidget(line);
    layout->addWidget(m_hint);
}

void CallsRow::setCalls(const CallsAgain& called)
{
    const QSignalBlocker quiet(this);
    const CallSetting setting = settingOf(called);
    auto found = std::ranges::find(m_settings, setting);
    if (found == m_settings.end()) {
        // Of a session that was written elsewhere.
        m_settings.push_back(setting);
        m_setting->addItem(settingText(setting));
        found = m_settings.end() - 1;
    }
    m_setting->setCurrentIndex(static_cast<int>(found - m_settings.begin()));
    m_failed->setValue(static_cast<int>(std::min<std::int64_t>(called.failed, mostCalls)));
    m_calls->setValue(static_cast<int>(std::min<std::int64_t>(called.calls, mostCalls)));
    showHint();
}

CallSetting CallsRow::setting() const
{
    return m_settings[static_cast<std::size_t>(std::max(0, m_setting->currentIndex()))];
}

std::optional<CallsAgain> CallsRow::calls() const
{
    if (m_calls->value() < 1 || m_failed->value() > m_calls->value()) {
        return std::nullopt;
    }
    const CallSetting chosen = setting();
    return CallsAgain {{}, m_failed->value(), m_calls->value(), chosen.sameGpu, chosen.experiment};
}

void CallsRow::setTaken(const std::vector<CallSetting>& others)
{
    auto* model = qobject_cast<QStandardItemModel*>(m_setting->model());
    for (std::size_t i = 0; model && i < m_settings.size(); ++i) {
        const bool taken = std::ranges::find(others, m_settings[i]) != others.end();
        model->item(static_cast<int>(i))->setEnabled(!taken);
    }
}

void CallsRow::chooseFree()
{
    const QSignalBlocker quiet(this);
    const auto* model = m_setting->model();
    for (int i = 0; i < m_setting->count(); ++i) {
        if (model->flags(model->index(i, 0)) & Qt::ItemIsEnabled) {
            m_setting->setCurrentIndex(i);
            return;
        }
    }
}

void CallsRow::choose(const CallSetting& setting)
{
    const QSignalBlocker quiet(this);
    if (const auto found = std::ranges::find(m_settings, setting); found != m_settings.end()) {
        m_setting->setCurrentIndex(static_cast<int>(found - m_settings.begin()));
    }
    showHint();
}

void CallsRow::setComparable(bool comparable)
{
    m_comparable = comparable;
    showHint();
}

void CallsRow::showHint()
{
    QString text;
    if (m_failed->value() > m_calls->value()) {
        text = tr("says nothing yet: more failures than calls");
    } else if (m_calls->value() < 1) {
        text = tr("enter how often you repeated it");
    } else if (!setting().experiment.empty() && !m_comparable) {
        text = tr("enter how often it failed as it ran, on the same GPU, too");
    }
    m_hint->setText(text);
    m_hint->setVisible(!text.isEmpty());
}

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

CallsRow* VerdictCalls::rowOf(const CallSetting& setting)
{
    const auto found = std::ranges::find(m_rows, setting, &CallsRow::setting);
    if (found != m_rows.end()) {
        (*found)->callsBox()->setFocus();
        return *found;
    }
    CallsRow* row = addRow();
    if (row) {
        row->choose(setting);
        relate();
    }
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
