// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/cliff/cliffpane.h"

#include <algorithm>
#include <utility>

#include <QDoubleSpinBox>
#include <QGridLayout>
#include <QSignalBlocker>
#include <QToolButton>
#include <QVBoxLayout>

#include "core/replay/program/program.h"
#include "ui/cliff/cliffcurve.h"
#include "ui/cliff/cliffladder.h"
#include "ui/cliff/cliffstrip.h"
#include "ui/shared/answerparts.h"
#include "ui/shared/copying.h"
#include "ui/shared/elidedlabel.h"
#include "ui/shared/marks.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

// The other roundings follow by themselves where they take no longer than this.
constexpr double patienceSeconds = 1.5;

int allRoundings(const Cell& cell)
{
    return static_cast<int>(replay::envelopeOf(cell.lowering).size());
}

/// What a replay of a cell has in common with it.
bool isOf(const Cell& replay, const Cell& cell)
{
    return replay.capture == cell.capture && replay.variant == cell.variant && replay.precision == cell.precision
        && replay.lowering == cell.lowering;
}

bool sameReplay(const Cell& a, const Cell& b)
{
    return isOf(a, b) && a.device == b.device && a.epsilon == b.epsilon && a.gauges.size() == b.gauges.size();
}

QDoubleSpinBox* addNumber(QGridLayout& grid, int row, const QString& name, double low, double high, int decimals)
{
    auto* box = new QDoubleSpinBox;
    box->setDecimals(decimals);
    box->setRange(low, high);
    box->setKeyboardTracking(false);
    box->setAccessibleName(name);
    auto* label = makeMutedLabel(nullptr, name);
    label->setBuddy(box);
    grid.addWidget(label, row, 0);
    grid.addWidget(box, row, 1);
    return box;
}

} // namespace

CliffPane::CliffPane(QWidget* parent)
    : PaneFrame(tr("Cliff"), parent)
    , m_pages(new QStackedWidget(this))
    , m_message(new QLabel(this))
    , m_curve(new CliffCurve(this))
    , m_ladder(new CliffLadder(this))
    , m_strip(new CliffStrip(this))
    , m_reset(makeToolButton(this, "chip", tr("Reset"), tr("Scale 1 and the variant's own safety factor")))
    , m_envelope(makeToolButton(this, "chip", tr("All roundings"),
          tr("Kernels add in different orders and so round differently. Replays this setting once for each way of "
             "rounding, for the bar about the dot")))
    , m_mark(new MarkLabel(this))
    , m_readout(new ElidedLabel(this))
{
    buildHeader();
    buildBody();
    // A drag reports every pixel; a replay for each would only be stopped by the next.
    constexpr int throttleMs = 40;
    m_throttle.setSingleShot(true);
    m_throttle.setInterval(throttleMs);
    connect(&m_throttle, &QTimer::timeout, this, [this] { ask(1); });
    connect(m_strip, &CliffStrip::scaleChosen, this, &CliffPane::setScale);
    connect(m_scale, &QDoubleSpinBox::valueChanged, this, &CliffPane::setScale);
    connect(m_safety, &QDoubleSpinBox::valueChanged, this, &CliffPane::setSafety);
    connect(m_ladder, &CliffLadder::stepChosen, this, &CliffPane::setStep);
    connect(m_ladder, &CliffLadder::readoutChanged, this, &CliffPane::refreshReadout);
    connect(m_curve, &CliffCurve::readoutChanged, this, &CliffPane::refreshReadout);
    showMessage(tr("Sweep this capture, then choose a cell to see how far it is from its cliff"));
}

void CliffPane::buildHeader()
{
    header()->insertWidget(0, m_mark);
    m_mark->setRole(-1);
    header()->addWidget(m_envelope);
    header()->addWidget(m_reset);
    connect(m_envelope, &QToolButton::clicked, this, [this] { ask(allRoundings(*m_cell)); });
    connect(m_reset, &QToolButton::clicked, this, [this] { reset(); });
}

void CliffPane::buildBody()
{
    auto* plots = new QHBoxLayout;
    plots->setSpacing(grid(2));
    plots->addWidget(m_curve, 3);
    plots->addWidget(m_ladder, 2);
    auto* numbers = new QGridLayout;
    numbers->setHorizontalSpacing(grid(1));
    numbers->setVerticalSpacing(2);
    m_scale = addNumber(*numbers, 0, tr("Scale"), 1e-5, 1e6, 5);
    m_scale->setStepType(QAbstractSpinBox::AdaptiveDecimalStepType);
    m_scale->setToolTip(tr("Multiplies the normalised input, as a norm that is wrong by the inverse would"));
    m_safety = addNumber(*numbers, 1, tr("Safety factor"), 0.5, 2, 4);
    m_safety->setSingleStep(0.005);
    m_safety->setToolTip(
        tr("Every step p(s) becomes p(s / factor); above the variant's own it gives slack and converges slower"));
    auto* controls = new QHBoxLayout;
    controls->setSpacing(grid(3));
    controls->addWidget(m_strip, 1);
    controls->addLayout(numbers);
    m_readout->setObjectName(QStringLiteral("muted"));
    auto* page = new QWidget;
    auto* inner = new QVBoxLayout(page);
    inner->setContentsMargins(grid(3), 0, grid(3), grid(2));
    inner->setSpacing(2);
    inner->addLayout(plots, 1);
    inner->addWidget(m_readout);
    inner->addLayout(controls);
    m_message->setObjectName(QStringLiteral("muted"));
    m_message->setAlignment(Qt::AlignCenter);
    m_message->setWordWrap(true);
    m_pages->addWidget(m_message);
    m_pages->addWidget(page);
    makeCopyable(*page,
        {tr("Cliff"), [this] { return cliffTsv(m_history); }, [this] { return plotsPicture(); },
            [this] { return caption(); }});
    body()->addWidget(m_pages, 1);
}

void CliffPane::setCell(const Cell& cell, int batch, const replay::Catalogue& catalogue, const QString& overrides,
    const CaptureRef& capture)
{
    if (m_cell && sameReplay(*m_cell, cell) && m_batch == batch && m_capture == capture) {
        return;
    }
    const auto variant = catalogue.find(cell.variant);
    if (!variant) {
        showMessage(tr("This program knows no polynomial of %1, so there is no curve to draw").arg(qstr(cell.variant)));
        return;
    }
    Q_EMIT replayUnwanted();
    keepHistory();
    m_capture = capture;
    m_cell = cell;
    m_overrides = overrides;
    m_batch = batch;
    m_variant = **variant;
    const bool otherCount = !cell.gauges.empty() && cell.gauges.size() != m_variant.steps.size();
    m_steps = otherCount ? std::optional(static_cast<int>(cell.gauges.size())) : std::nullopt;
    takeHistory();
    m_shown = nullptr;
    m_step = 1;
    m_strip->resetRange();
    m_strip->setExpected(std::nullopt);
    m_pages->setCurrentIndex(1);
    m_reset->show();
    reset();
}

void CliffPane::keepHistory()
{
    constexpr std::size_t mostCells = 8;
    if (!m_cell || m_history.all().empty()) {
        return;
    }
    if (m_past.size() == mostCells) {
        m_past.erase(m_past.begin());
    }
    m_past.push_back({m_capture, *m_cell, m_variant, m_batch, std::exchange(m_history, {})});
}

void CliffPane::takeHistory()
{
    m_history.clear();
    const auto past = std::ranges::find_if(m_past, [this](const Past& each) {
        return each.capture == m_capture && each.batch == m_batch && sameReplay(each.cell, *m_cell)
            && each.variant == m_variant;
    });
    if (past != m_past.end()) {
        m_history = std::move(past->history);
        m_past.erase(past);
    }
}

void CliffPane::showMessage(const QString& message)
{
    m_throttle.stop();
    if (m_cell) {
        Q_EMIT replayUnwanted();
    }
    keepHistory();
    m_cell.reset();
    m_shown = nullptr;
    m_message->setText(message);
    m_pages->setCurrentIndex(0);
    m_mark->setRole(-1);
    m_envelope->hide();
    m_reset->hide();
    setNote({});
}

void CliffPane::reset()
{
    const QSignalBlocker quietly(m_safety);
    m_safety->setValue(m_variant.safetyFactor);
    setScale(1);
}

void CliffPane::setScale(double scale)
{
    if (!m_cell) {
        return;
    }
    m_strip->setScale(scale);
    const QSignalBlocker quietly(m_scale);
    m_scale->setValue(scale);
    settingChanged();
}

void CliffPane::setSafety(double safety)
{
    if (!m_cell) {
        return;
    }
    const QSignalBlocker quietly(m_safety);
    m_safety->setValue(safety);
    settingChanged();
}

void CliffPane::setStep(int step)
{
    if (m_cell && step >= 1 && step <= static_cast<int>(m_picture.schedule.size())) {
        m_step = step;
        refresh();
    }
}

void CliffPane::settingChanged()
{
    m_failure.clear();
    if (const SharedCliff known = m_history.find(m_strip->scale(), m_safety->value())) {
        m_shown = known;
        m_throttle.stop();
        Q_EMIT replayUnwanted();
    } else {
        askWhenShown();
    }
    refresh();
}

void CliffPane::askWhenShown()
{
    if (isVisible() && !m_throttle.isActive()) {
        m_throttle.start();
    }
}

void CliffPane::ask(int roundings)
{
    if (!m_cell) {
        return;
    }
    replay::CliffRequest request;
    request.cell.variant = m_cell->variant;
    request.cell.precision = m_cell->precision;
    request.cell.lowering = m_cell->lowering;
    request.cell.epsilon = m_cell->epsilon;
    request.cell.device = m_cell->device;
    request.cell.steps = m_steps;
    request.batch = m_batch;
    request.scale = m_strip->scale();
    request.safety = m_safety->value();
    request.roundings = roundings;
    Q_EMIT replayRequested(request);
}

bool CliffPane::isCurrent(const replay::ReplayedCliff& cliff) const
{
    return cliff.scale == m_strip->scale() && cliff.safety == m_safety->value();
}

void CliffPane::setReplay(const SharedCliff& cliff)
{
    if (!m_cell || cliff->batch != m_batch || !isOf(cliff->replays.front().cell, *m_cell)) {
        return;
    }
    m_history.add(cliff);
    m_shown = cliff;
    m_failure.clear();
    refresh();
    const int all = allRoundings(*m_cell);
    const bool alone = cliff->replays.size() == 1;
    if (isCurrent(*cliff) && alone && cliff->replays.front().cell.seconds * (all - 1) < patienceSeconds) {
        ask(all);
    }
}

void CliffPane::setFailure(const QString& sentence)
{
    m_failure = sentence;
    refresh();
}

QString CliffPane::outcomeText() const
{
    if (!m_cell) {
        return {};
    }
    QString cell = QStringLiteral("%1 · %2").arg(qstr(m_cell->variant), qstr(name(m_cell->precision)));
    if (!m_overrides.isEmpty()) {
        cell += QStringLiteral(" · ") + m_overrides;
    }
    if (!m_failure.isEmpty()) {
        return tr("%1: %2").arg(cell, m_failure);
    }
    if (!m_shown || !isCurrent(*m_shown)) {
        return tr("%1: replaying…").arg(cell);
    }
    return tr("%1 replayed: %2").arg(cell, cliffOutcomeText(*m_shown));
}

void CliffPane::refresh()
{
    if (!m_cell) {
        return;
    }
    const bool current = m_shown && isCurrent(*m_shown);
    const auto schedule = replay::stepsOf(m_variant, m_steps, m_safety->value());
    m_picture = makeCliffPicture(schedule, m_shown.get(), current);
    m_curve->setPicture(m_picture, m_step);
    m_ladder->setPicture(m_picture, m_step);
    m_strip->setReplays(m_history.along(m_safety->value()));
    if (m_shown) {
        m_strip->setExpected(expectedLimitScale(*m_shown, m_picture.steps.front().limit));
    }
    m_mark->setOutcome(current ? std::optional(m_shown->replays.front().cell.outcome) : std::nullopt);
    m_envelope->setVisible(current && m_shown->replays.size() == 1);
    setNote(outcomeText());
    refreshReadout({});
}

void CliffPane::refreshReadout(const QString& hovered)
{
    if (!hovered.isEmpty()) {
        m_readout->setFullText(sentenceCase(hovered));
    } else if (m_cell) {
        m_readout->setFullText(
            sentenceCase(cliffStepText(m_picture, m_picture.steps[static_cast<std::size_t>(m_step) - 1])));
    }
}

Picture CliffPane::plotsPicture() const
{
    const QPoint beside(m_curve->width(), 0);
    const QPoint below(0, std::max(m_curve->height(), m_ladder->height()));
    return together({{{}, m_curve->picture()}, {beside, m_ladder->picture()}, {below, m_strip->picture()}});
}

PictureCaption CliffPane::caption() const
{
    const QString setting =
        tr("scale %1, safety factor %2").arg(exactNumber(m_strip->scale()), exactNumber(m_safety->value()));
    return {tr("Cliff"), QStringLiteral("%1 · %2").arg(outcomeText(), setting),
        tr("Lines are theory, everything else was replayed").toHtmlEscaped(), qstr(m_cell->capture)};
}

void CliffPane::showEvent(QShowEvent* event)
{
    PaneFrame::showEvent(event);
    if (m_cell && !(m_shown && isCurrent(*m_shown))) {
        askWhenShown();
    }
}

} // namespace nanscope
