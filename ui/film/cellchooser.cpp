// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/film/cellchooser.h"

#include <algorithm>

#include <QComboBox>
#include <QDialogButtonBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include "core/replay/variants/variant.h"
#include "ui/film/film.h"
#include "ui/shared/answerparts.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"
#include "ui/sweep/cellgridmodel.h"

namespace nanscope {

namespace {

/// What the boxes ask for; the device comes with a stored cell.
bool sameName(const replay::CellRequest& a, const replay::CellRequest& b)
{
    return a.variant == b.variant && a.precision == b.precision && a.lowering == b.lowering && a.epsilon == b.epsilon
        && a.steps == b.steps;
}

QString endOf(const Cell& cell)
{
    const QString outcome = outcomeWord(cell.outcome);
    return cell.firstNonFinite ? CellChooser::tr("%1 from %2").arg(outcome, opLabel(*cell.firstNonFinite)) : outcome;
}

} // namespace

CellChooser::CellChooser(const QString& title, const std::vector<const Cell*>& stored,
    const std::function<replay::CellRequest(const Cell&)>& requestOf, const QStringList& variants, QWidget* parent)
    : QDialog(parent)
    , m_list(new QListWidget(this))
    , m_variant(new QComboBox(this))
    , m_precision(new QComboBox(this))
    , m_lowering(new QComboBox(this))
{
    setWindowTitle(title);
    fillList(stored, requestOf);
    fillBoxes(variants);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
    buttons->addButton(tr("Choose"), QDialogButtonBox::AcceptRole)->setDefault(true);
    auto* boxes = new QHBoxLayout;
    boxes->setSpacing(grid(2));
    for (QComboBox* box : {m_variant, m_precision, m_lowering}) {
        boxes->addWidget(box, box == m_variant ? 1 : 0);
        connect(box, &QComboBox::currentIndexChanged, this, &CellChooser::onBox);
    }
    auto* layout = new QVBoxLayout(this);
    layout->setSpacing(grid(2));
    layout->addWidget(
        makeMutedLabel(this, m_stored.empty() ? tr("No cell of this capture was swept yet") : tr("Swept cells")));
    layout->addWidget(m_list, 1);
    layout->addWidget(makeMutedLabel(this, tr("Any other is replayed when it is chosen")));
    layout->addLayout(boxes);
    layout->addWidget(buttons);
    resize(grid(110), grid(110));
    connect(m_list, &QListWidget::currentRowChanged, this, &CellChooser::onListed);
    connect(m_list, &QListWidget::itemActivated, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    choose(m_stored.empty() ? ofBoxes() : m_stored.front());
}

void CellChooser::fillList(
    const std::vector<const Cell*>& stored, const std::function<replay::CellRequest(const Cell&)>& requestOf)
{
    m_list->setAccessibleName(tr("Swept cells"));
    for (auto cell = stored.rbegin(); cell != stored.rend(); ++cell) {
        const replay::CellRequest request = requestOf(**cell);
        if (!(*cell)->error.empty() || std::ranges::find(m_stored, request) != m_stored.end()) {
            continue;
        }
        m_stored.push_back(request);
        m_list->addItem(QStringLiteral("%1 · %2").arg(cellName(request), endOf(**cell)));
    }
    m_list->setVisible(!m_stored.empty());
}

void CellChooser::fillBoxes(const QStringList& variants)
{
    m_variant->setAccessibleName(tr("Variant"));
    m_precision->setAccessibleName(tr("Precision"));
    m_lowering->setAccessibleName(tr("Lowering"));
    m_variant->addItems(variants);
    for (const Precision precision : sweepPrecisions()) {
        m_precision->addItem(qstr(name(precision)), static_cast<int>(precision));
    }
    for (const Lowering lowering : {Lowering::eager, Lowering::fused}) {
        m_lowering->addItem(qstr(name(lowering)), static_cast<int>(lowering));
    }
    m_lowering->setToolTip(tr("eager rounds after every operation, fused once for a product and what is added to it"));
}

replay::CellRequest CellChooser::ofBoxes() const
{
    replay::CellRequest cell;
    cell.variant = m_variant->currentText().toStdString();
    cell.precision = static_cast<Precision>(m_precision->currentData().toInt());
    cell.lowering = static_cast<Lowering>(m_lowering->currentData().toInt());
    return cell;
}

int CellChooser::rowOf(const replay::CellRequest& cell) const
{
    const auto found =
        std::ranges::find_if(m_stored, [&](const replay::CellRequest& each) { return sameName(each, cell); });
    return found == m_stored.end() ? -1 : static_cast<int>(found - m_stored.begin());
}

void CellChooser::choose(const replay::CellRequest& cell)
{
    const auto same = std::ranges::find(m_stored, cell);
    const int row = same != m_stored.end() ? static_cast<int>(same - m_stored.begin()) : rowOf(cell);
    const QSignalBlocker quietly(m_list);
    m_list->setCurrentRow(row);
    const QSignalBlocker variantQuietly(m_variant);
    const QSignalBlocker precisionQuietly(m_precision);
    const QSignalBlocker loweringQuietly(m_lowering);
    m_variant->setCurrentText(qstr(cell.variant));
    m_precision->setCurrentIndex(m_precision->findData(static_cast<int>(cell.precision)));
    m_lowering->setCurrentIndex(m_lowering->findData(static_cast<int>(cell.lowering)));
}

void CellChooser::onListed(int row)
{
    if (row >= 0) {
        choose(m_stored[static_cast<std::size_t>(row)]);
    }
}

void CellChooser::onBox()
{
    choose(ofBoxes());
}

replay::CellRequest CellChooser::chosen() const
{
    const int row = m_list->currentRow();
    return row >= 0 ? m_stored[static_cast<std::size_t>(row)] : ofBoxes();
}

} // namespace nanscope
