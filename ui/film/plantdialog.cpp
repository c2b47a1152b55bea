// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/film/plantdialog.h"

#include <algorithm>

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QVBoxLayout>

#include "core/diagnose/damage/candidateorigins.h"
#include "ui/film/filmstrip.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

constexpr int usualTile = 64; ///< rows and columns of a tile that kernels often work on

QString placeLabel(OpName op, int iteration)
{
    FilmFrame frame;
    frame.name = op;
    frame.iteration = iteration;
    return frameLabel(frame);
}

QString valueWord(const replay::PlantedFault& fault)
{
    switch (fault.value) {
    case replay::PlantedValue::nan:
        return PlantDialog::tr("NaN");
    case replay::PlantedValue::posInf:
        return PlantDialog::tr("+Inf");
    case replay::PlantedValue::negInf:
        return PlantDialog::tr("−Inf");
    case replay::PlantedValue::zero:
        return PlantDialog::tr("zero");
    case replay::PlantedValue::held:
        return PlantDialog::tr("stale memory");
    case replay::PlantedValue::number:
        break;
    }
    return roundNumber(fault.number);
}

/// Where a tile of this size begins, on its own grid, so that it covers this part of the matrix.
int beginOfTile(double part, int side, int size)
{
    const int element = std::clamp(static_cast<int>(part * size), 0, size - 1);
    return std::min(element / side * side, size - side);
}

QSpinBox* spinBox(QWidget* parent, const QString& name)
{
    auto* box = new QSpinBox(parent);
    box->setAccessibleName(name);
    return box;
}

} // namespace

QString plantText(const replay::PlantedFault& fault)
{
    const QString text = PlantDialog::tr("%1 in %2 × %3 at [%4, %5] of %6")
                             .arg(valueWord(fault))
                             .arg(fault.region.rows)
                             .arg(fault.region.cols)
                             .arg(fault.region.row)
                             .arg(fault.region.col)
                             .arg(placeLabel(fault.op, fault.iteration));
    return fault.mirrored ? PlantDialog::tr("%1, mirrored").arg(text) : text;
}

PlantDialog::PlantDialog(const Film& film, int frame, const std::optional<QPointF>& cursor, QWidget* parent)
    : QDialog(parent)
    , m_op(new QComboBox(this))
    , m_row(spinBox(this, tr("First row")))
    , m_col(spinBox(this, tr("First column")))
    , m_rows(spinBox(this, tr("Rows")))
    , m_cols(spinBox(this, tr("Columns")))
    , m_value(new QComboBox(this))
    , m_number(new QDoubleSpinBox(this))
    , m_mirrored(new QCheckBox(tr("Symmetric products write one triangle twice"), this))
    , m_endingsTitle(new QLabel(this))
    , m_endings(new QListWidget(this))
    , m_text(new QLabel(this))
{
    setWindowTitle(tr("What if this had gone bad?"));
    fillOps(film);
    fillValues();
    buildLayout();
    m_op->setCurrentIndex(std::clamp(frame, 0, m_op->count() - 1));
    onOp();
    const Place& at = place();
    const int rows = std::min(usualTile, (at.rows + 1) / 2);
    const int cols = std::min(usualTile, (at.cols + 1) / 2);
    const QPointF spot = cursor.value_or(QPointF(0, 0));
    choose({at.op, at.iteration,
        {beginOfTile(spot.y(), rows, at.rows), beginOfTile(spot.x(), cols, at.cols), rows, cols}});
    connect(m_op, &QComboBox::currentIndexChanged, this, &PlantDialog::onOp);
    for (QSpinBox* box : {m_row, m_col, m_rows, m_cols}) {
        connect(box, &QSpinBox::valueChanged, this, &PlantDialog::fitTile);
    }
    connect(m_value, &QComboBox::currentIndexChanged, this, &PlantDialog::update);
    connect(m_number, &QDoubleSpinBox::valueChanged, this, &PlantDialog::update);
    connect(m_mirrored, &QCheckBox::toggled, this, &PlantDialog::update);
    connect(m_endings, &QListWidget::currentRowChanged, this, &PlantDialog::onEnding);
    connect(m_endings, &QListWidget::itemActivated, this, &QDialog::accept);
}

void PlantDialog::fillOps(const Film& film)
{
    m_op->setAccessibleName(tr("Op"));
    for (const FilmFrame& frame : film.frames) {
        if (frame.captured) {
            continue;
        }
        const TileMap& tiles = frame.picture->tiles;
        m_places.push_back({frame.name, frame.iteration, static_cast<int>(tiles.rows), static_cast<int>(tiles.cols)});
        m_op->addItem(QStringLiteral("%1: %2").arg(frameLabel(frame), opFormula(frame.name)));
    }
}

void PlantDialog::fillValues()
{
    m_value->setAccessibleName(tr("Becomes"));
    for (const auto value : {replay::PlantedValue::nan, replay::PlantedValue::posInf, replay::PlantedValue::negInf,
             replay::PlantedValue::zero, replay::PlantedValue::held}) {
        replay::PlantedFault fault;
        fault.value = value;
        m_value->addItem(valueWord(fault), static_cast<int>(value));
    }
    m_value->addItem(tr("a number"), static_cast<int>(replay::PlantedValue::number));
    m_value->setToolTip(tr("Stale memory: as if the tile had never been written"));
    m_number->setAccessibleName(tr("Number"));
    m_number->setDecimals(6);
    m_number->setRange(-1e6, 1e6);
    m_number->setValue(0.05);
}

QLayout* PlantDialog::buildTile()
{
    auto* tile = new QHBoxLayout;
    tile->setSpacing(grid(1));
    const std::pair<QSpinBox*, QString> parts[] = {
        {m_row, tr("row")}, {m_col, tr("column")}, {m_rows, tr("height")}, {m_cols, tr("width")}};
    for (const auto& [box, text] : parts) {
        auto* label = new QLabel(text, this);
        label->setObjectName(QStringLiteral("muted"));
        label->setBuddy(box);
        tile->addWidget(label);
        tile->addWidget(box, 1);
    }
    return tile;
}

void PlantDialog::buildLayout()
{
    auto* value = new QHBoxLayout;
    value->setSpacing(grid(2));
    value->addWidget(m_value, 1);
    value->addWidget(m_number, 1);
    m_mirrored->setToolTip(tr("As kernels for X Xᵀ and its polynomials do; a fault in such a result is in its mirror "
                              "image, too"));
    auto* form = new QFormLayout;
    form->setSpacing(grid(2));
    form->addRow(tr("After"), m_op);
    form->addRow(tr("this tile"), buildTile());
    form->addRow(tr("becomes"), value);
    form->addRow(QString(), m_mirrored);
    m_text->setWordWrap(true);
    for (QLabel* label : {m_text, m_endingsTitle}) {
        label->setObjectName(QStringLiteral("muted"));
    }
    m_endings->setAccessibleName(tr("Places that end like the dump"));
    m_endingsTitle->hide();
    m_endings->hide();
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
    buttons->addButton(tr("Plant and replay"), QDialogButtonBox::AcceptRole)->setDefault(true);
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* layout = new QVBoxLayout(this);
    layout->setSpacing(grid(2));
    layout->addLayout(form);
    layout->addWidget(m_endingsTitle);
    layout->addWidget(m_endings, 1);
    layout->addWidget(m_text);
    layout->addWidget(buttons);
    setMinimumWidth(grid(130));
}

const PlantDialog::Place& PlantDialog::place() const
{
    return m_places[static_cast<std::size_t>(m_op->currentIndex())];
}

void PlantDialog::onOp()
{
    const Place& at = place();
    const QSignalBlocker rowQuietly(m_row);
    const QSignalBlocker colQuietly(m_col);
    const QSignalBlocker rowsQuietly(m_rows);
    const QSignalBlocker colsQuietly(m_cols);
    m_row->setRange(0, at.rows - 1);
    m_col->setRange(0, at.cols - 1);
    m_rows->setRange(1, at.rows);
    m_cols->setRange(1, at.cols);
    fitTile();
}

/// The tile stays within the matrix: what lies where goes before how much.
void PlantDialog::fitTile()
{
    const Place& at = place();
    const QSignalBlocker rowsQuietly(m_rows);
    const QSignalBlocker colsQuietly(m_cols);
    m_rows->setValue(std::min(m_rows->value(), at.rows - m_row->value()));
    m_cols->setValue(std::min(m_cols->value(), at.cols - m_col->value()));
    update();
}

void PlantDialog::choose(const replay::PlantedFault& fault)
{
    const auto found = std::ranges::find_if(
        m_places, [&](const Place& each) { return each.op == fault.op && each.iteration == fault.iteration; });
    if (found == m_places.end()) {
        return;
    }
    m_op->setCurrentIndex(static_cast<int>(found - m_places.begin()));
    onOp();
    m_row->setValue(static_cast<int>(fault.region.row));
    m_col->setValue(static_cast<int>(fault.region.col));
    m_rows->setValue(static_cast<int>(fault.region.rows));
    m_cols->setValue(static_cast<int>(fault.region.cols));
    m_value->setCurrentIndex(m_value->findData(static_cast<int>(fault.value)));
    if (fault.value == replay::PlantedValue::number) {
        m_number->setValue(fault.number);
    }
    m_mirrored->setChecked(fault.mirrored);
    update();
}

void PlantDialog::setEndings(const diagnose::CandidateOrigins& endings)
{
    const QSignalBlocker quietly(m_endings);
    m_endings->clear();
    m_faults.clear();
    for (const diagnose::CandidateOrigin& ending : endings.places) {
        m_faults.push_back({ending.place.op, ending.place.iteration, ending.tile, replay::PlantedValue::nan, 0,
            ending.place.mirrored});
        m_endings->addItem(plantText(m_faults.back()));
    }
    m_endingsTitle->setText(
        m_faults.empty() ? tr(
            "No tile that was tried ends like the dump, in none of %1 places. Tried were tiles smaller than the matrix "
            "in both directions, up to 256 × 256 where all of the output is bad; a band across it was not tried.")
                               .arg(endings.tried)
                         : tr("Ends like the dump, in %1 of %2 places:").arg(m_faults.size()).arg(endings.tried));
    m_endingsTitle->setVisible(endings.tried > 0);
    m_endings->setVisible(!m_faults.empty());
    m_endings->setCurrentRow(-1);
}

void PlantDialog::onEnding(int row)
{
    if (row >= 0) {
        choose(m_faults[static_cast<std::size_t>(row)]);
    }
}

replay::PlantedFault PlantDialog::fault() const
{
    replay::PlantedFault fault;
    fault.op = place().op;
    fault.iteration = place().iteration;
    fault.region = {m_row->value(), m_col->value(), m_rows->value(), m_cols->value()};
    fault.value = static_cast<replay::PlantedValue>(m_value->currentData().toInt());
    fault.number = fault.value == replay::PlantedValue::number ? m_number->value() : 0;
    fault.mirrored = m_mirrored->isChecked();
    return fault;
}

void PlantDialog::update()
{
    m_number->setVisible(m_value->currentData().toInt() == static_cast<int>(replay::PlantedValue::number));
    m_text->setText(tr("%1 of %2 × %3, before anything reads it. Nothing of this is stored.")
                        .arg(plantText(fault()))
                        .arg(place().rows)
                        .arg(place().cols));
}

} // namespace nanscope
