// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/tensors/tensorspane.h"

#include <algorithm>

#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QVBoxLayout>

#include "ui/heatmap/heatlegend.h"
#include "ui/heatmap/heatmap.h"
#include "ui/heatmap/heatview.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

QString classCountsText(const Scan& scan)
{
    QStringList parts;
    const std::pair<std::int64_t, ValueClass> counts[] = {
        {scan.nan, ValueClass::nan}, {scan.posInf, ValueClass::posInf}, {scan.negInf, ValueClass::negInf}};
    for (const auto& [count, value] : counts) {
        if (count > 0) {
            parts << QStringLiteral("%1 %2").arg(countLabel(count), classWord(value));
        }
    }
    if (scan.count > 0 && scan.finite()) {
        parts << (scan.allZero() ? TensorsPane::tr("all zero") : TensorsPane::tr("all finite"));
    }
    return parts.join(QStringLiteral(" · "));
}

/// "32–63", counted from zero as numpy does.
QString rangeText(std::int64_t begin, std::int64_t end)
{
    return end - begin == 1 ? QString::number(begin) : QStringLiteral("%1–%2").arg(begin).arg(end - 1);
}

} // namespace

TensorsPane::TensorsPane(QWidget* parent)
    : QWidget(parent)
    , m_view(new HeatView(this))
    , m_batch(new QSpinBox(this))
    , m_batchLabel(new QLabel(tr("matrix"), this))
{
    setAccessibleName(tr("Input and output"));
    m_output = buildSide(tr("captured output"));
    m_input = buildSide(tr("captured input"));
    m_batch->setAccessibleName(tr("Matrix of the batch"));
    m_batchLabel->setBuddy(m_batch);
    m_batchLabel->hide();
    m_batch->hide();
    auto* batchRow = new QHBoxLayout;
    batchRow->addWidget(m_batchLabel);
    batchRow->addWidget(m_batch, 1);
    auto* beside = new QVBoxLayout;
    beside->setSpacing(grid(1));
    // Beside a narrow picture the place of the damage takes two lines, and what follows is not to be lost for it.
    m_output.caption->setLines(2, 4);
    m_input.caption->setLines(3);
    m_input.box->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Preferred);
    beside->addWidget(m_input.box);
    beside->addLayout(batchRow);
    beside->addStretch(1);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(grid(3));
    row->addWidget(m_output.box, 3);
    row->addLayout(beside, 1);
    connect(m_view, &HeatView::cursorChanged, this, &TensorsPane::updateReadout);
    connect(m_batch, &QSpinBox::valueChanged, this, [this](int number) { Q_EMIT batchRequested(number - 1); });
}

TensorsPane::Side TensorsPane::buildSide(const QString& name)
{
    Side side;
    side.name = name;
    side.box = new QWidget(this);
    side.map = new HeatMap(m_view, side.box);
    side.map->setAccessibleName(sentenceCase(name));
    side.caption = new ElidedLabel(side.box);
    side.map->setCaption([this, map = side.map, name] {
        return PictureCaption {sentenceCase(name), m_note, heatLegendText(map->scale()), QFileInfo(m_file).fileName()};
    });
    auto* column = new QVBoxLayout(side.box);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(grid(1));
    column->addWidget(side.map, 1);
    column->addWidget(side.caption);
    return side;
}

void TensorsPane::setCapture(const Capture* capture)
{
    const QString file = capture ? exactText(capture->path) : QString();
    if (file != m_file) {
        m_file = file;
        m_view->reset();
        m_view->clearCursor();
    }
    if (!capture) {
        m_note.clear();
        return;
    }
    QStringList parts {shapeLabel(capture->input.shape)};
    if (capture->epsilon) {
        parts << tr("ε %1").arg(roundNumber(*capture->epsilon));
    }
    parts << qstr(capture->file);
    m_note = parts.join(QStringLiteral(" · "));
}

QString TensorsPane::damagePlace() const
{
    return tr("rows %1 × columns %2")
        .arg(rangeText(m_damage->rowBegin, m_damage->rowEnd), rangeText(m_damage->colBegin, m_damage->colEnd));
}

/// The output has two lines, of which the place of its damage has the first; the input beside it has three.
QString TensorsPane::factsOf(const Side& side, const MatrixPicture& picture) const
{
    const bool output = &side == &m_output;
    QStringList parts {classCountsText(picture.scan)};
    parts << QStringLiteral("%1, %2").arg(side.name, qstr(shortName(picture.dtype)));
    if (picture.scan.absmax > 0) {
        parts << unbroken(tr("|x| ≤ %1").arg(roundNumber(picture.scan.absmax)));
    }
    if (!output) {
        return parts.join(QChar::LineSeparator);
    }
    // A line that is too long breaks behind a comma.
    const QString facts = parts.join(QStringLiteral(", "));
    return m_damage ? damagePlace() + QChar::LineSeparator + facts : facts;
}

void TensorsPane::setSide(Side& side, const std::shared_ptr<const MatrixPicture>& picture, const QString& missing)
{
    side.map->setMessage(missing);
    side.map->setPicture(picture);
}

void TensorsPane::updateFacts()
{
    for (Side* side : {&m_output, &m_input}) {
        const MatrixPicture* picture = side->map->picture();
        // While it is read, a caption alone would say nothing.
        side->facts = picture ? factsOf(*side, *picture) : side->map->message().isEmpty() ? QString() : side->name;
    }
    updateReadout();
}

void TensorsPane::setPictures(const TensorPictures& pictures)
{
    setSide(m_input, pictures.input, pictures.inputMissing);
    setSide(m_output, pictures.output, pictures.outputMissing);
    const bool several = pictures.batches > 1;
    const QSignalBlocker quietly(m_batch);
    m_batch->setRange(1, static_cast<int>(std::max<std::int64_t>(1, pictures.batches)));
    m_batch->setValue(static_cast<int>(pictures.batch) + 1);
    m_batch->setSuffix(tr(" of %1").arg(pictures.batches));
    m_batch->setVisible(several);
    m_batchLabel->setVisible(several);
    fitInput();
    updateFacts();
}

/// As high as the matrix is at this width, so that its caption stands right below it.
void TensorsPane::fitInput()
{
    constexpr int least = grid(12);
    const MatrixPicture* picture = m_input.map->picture();
    const int wide = m_input.box->width();
    const double shape = picture && picture->tiles.cols > 0
        ? static_cast<double>(picture->tiles.rows) / static_cast<double>(picture->tiles.cols)
        : 1;
    m_input.map->setFixedHeight(std::clamp(static_cast<int>(wide * shape), least, std::max(least, height() / 2)));
}

void TensorsPane::showMessage(const QString& message)
{
    setSide(m_input, nullptr, {});
    setSide(m_output, nullptr, message);
    updateFacts();
}

void TensorsPane::setDamage(const std::optional<DamagePattern>& damage)
{
    m_damage = damage;
    m_input.map->setDamage(damage, true);
    m_output.map->setDamage(damage, false);
    updateFacts();
}

QString TensorsPane::valueText(const Side& side) const
{
    const auto at = side.map->cursorElement();
    return at ? elementText(*side.map->picture(), at->row, at->col) : QString();
}

void TensorsPane::updateReadout()
{
    QStringList both;
    for (Side* side : {&m_input, &m_output}) {
        const QString text = valueText(*side);
        side->caption->setFullText(text.isEmpty() ? side->facts : text);
        if (!text.isEmpty()) {
            both << QStringLiteral("%1 %2").arg(side->name, text);
        }
    }
    Q_EMIT readoutChanged(both.join(QStringLiteral(" · ")));
}

QSize TensorsPane::minimumSizeHint() const
{
    return {grid(24), grid(24)};
}

// In a narrow window the picture that has the damage keeps its size.
void TensorsPane::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    m_input.box->setVisible(width() >= grid(72));
    fitInput();
}

} // namespace nanscope
