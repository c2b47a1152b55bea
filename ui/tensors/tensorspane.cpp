// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/tensors/tensorspane.h"

#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QSpinBox>
#include <QVBoxLayout>

#include "ui/heatmap/heatlegend.h"
#include "ui/heatmap/heatmap.h"
#include "ui/heatmap/heatview.h"
#include "ui/heatmap/matrixpicture.h"
#include "ui/shared/elidedlabel.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

QString factsText(const MatrixPicture& picture)
{
    QStringList parts;
    const Scan& scan = picture.scan;
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
    if (scan.absmax > 0) {
        parts << TensorsPane::tr("|x| ≤ %1").arg(roundNumber(scan.absmax));
    }
    parts << qstr(shortName(picture.dtype));
    return parts.join(QStringLiteral(" · "));
}

} // namespace

TensorsPane::TensorsPane(QWidget* parent)
    : PaneFrame(tr("Input and output"), parent)
    , m_view(new HeatView(this))
    , m_batch(new QSpinBox(this))
    , m_batchLabel(new QLabel(tr("matrix"), this))
{
    m_batch->setAccessibleName(tr("Matrix of the batch"));
    m_batchLabel->setBuddy(m_batch);
    m_batchLabel->hide();
    m_batch->hide();
    header()->addWidget(m_batchLabel);
    header()->addWidget(m_batch);
    auto* row = new QHBoxLayout;
    row->setContentsMargins(grid(3), 0, grid(3), grid(1));
    row->setSpacing(grid(4));
    row->addLayout(buildSide(m_sides[0], tr("Input")), 1);
    row->addLayout(buildSide(m_sides[1], tr("Output")), 1);
    body()->addLayout(row, 1);
    auto* legendRow = new QHBoxLayout;
    legendRow->setContentsMargins(grid(3), 0, grid(3), grid(2));
    legendRow->setSpacing(grid(4));
    legendRow->addWidget(new ClassLegend(this));
    auto* hint = new ElidedLabel(this);
    hint->setObjectName(QStringLiteral("muted"));
    hint->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    hint->setFullText(tr("wheel zooms, drag moves, Shift+drag zooms to a box, double click fits, Backspace goes back"));
    legendRow->addWidget(hint, 1);
    body()->addLayout(legendRow);
    connect(m_view, &HeatView::cursorChanged, this, &TensorsPane::updateReadout);
    connect(m_batch, &QSpinBox::valueChanged, this, [this](int number) { Q_EMIT batchRequested(number - 1); });
}

QLayout* TensorsPane::buildSide(Side& side, const QString& name)
{
    side.name = name;
    side.caption = new ElidedLabel(this);
    side.map = new HeatMap(m_view, this);
    side.map->setAccessibleName(name);
    side.scale = new ScaleBar(this);
    describe(side);
    auto* column = new QVBoxLayout;
    column->setSpacing(grid(1));
    column->addWidget(side.caption);
    column->addWidget(side.map, 1);
    column->addWidget(side.scale);
    return column;
}

void TensorsPane::describe(const Side& side)
{
    side.map->setCaption([this, map = side.map, title = side.name] {
        return PictureCaption {title, note(), heatLegendText(map->scale()), QFileInfo(m_file).fileName()};
    });
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
        setNote({});
        return;
    }
    QStringList parts {qstr(capture->file)};
    if (capture->epsilon) {
        parts.prepend(tr("ε %1").arg(roundNumber(*capture->epsilon)));
    }
    parts.prepend(shapeLabel(capture->input.shape));
    setNote(parts.join(QStringLiteral(" · ")));
}

void TensorsPane::setSide(Side& side, const std::shared_ptr<const MatrixPicture>& picture, const QString& missing)
{
    side.facts = picture ? QStringLiteral("%1 · %2").arg(side.name, factsText(*picture)) : side.name;
    side.caption->setFullText(side.facts);
    side.map->setMessage(missing);
    side.map->setPicture(picture);
    side.scale->setScale(side.map->scale());
    side.scale->setVisible(picture != nullptr);
}

void TensorsPane::setPictures(const TensorPictures& pictures)
{
    setSide(m_sides[0], pictures.input, pictures.inputMissing);
    setSide(m_sides[1], pictures.output, pictures.outputMissing);
    const bool several = pictures.batches > 1;
    const QSignalBlocker quietly(m_batch);
    m_batch->setRange(1, static_cast<int>(std::max<std::int64_t>(1, pictures.batches)));
    m_batch->setValue(static_cast<int>(pictures.batch) + 1);
    m_batch->setSuffix(tr(" of %1").arg(pictures.batches));
    m_batch->setVisible(several);
    m_batchLabel->setVisible(several);
    updateReadout();
}

void TensorsPane::showMessage(const QString& message)
{
    for (Side& side : m_sides) {
        setSide(side, nullptr, message);
    }
}

void TensorsPane::setDamage(const std::optional<DamagePattern>& damage)
{
    m_sides[0].map->setDamage(damage, true);
    m_sides[1].map->setDamage(damage, false);
}

QString TensorsPane::valueText(const Side& side) const
{
    const auto at = side.map->cursorElement();
    return at ? elementText(*side.map->picture(), at->row, at->col) : QString();
}

void TensorsPane::updateReadout()
{
    QStringList both;
    for (Side& side : m_sides) {
        const QString text = valueText(side);
        const QString value = QStringLiteral("%1 %2").arg(side.name, text);
        side.caption->setFullText(text.isEmpty() ? side.facts : value);
        if (!text.isEmpty()) {
            both << value;
        }
    }
    Q_EMIT readoutChanged(both.join(QStringLiteral(" · ")));
}

} // namespace nanscope
