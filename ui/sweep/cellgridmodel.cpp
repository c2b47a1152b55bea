// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/sweep/cellgridmodel.h"

#include <algorithm>

#include <QFont>

#include "ui/shared/roles.h"
#include "ui/shared/text.h"

namespace nanscope {

namespace {

QString nonFiniteLine(const NonFinite& where)
{
    return CellGridModel::tr("first %1 in %2 at [%3], %4 of them there")
        .arg(classWord(where.kind), opLabel(where), indexLabel(where.index), countLabel(where.count));
}

QString slackLine(const std::vector<Gauge>& gauges)
{
    std::optional<double> least;
    for (const Gauge& gauge : gauges) {
        if (gauge.spectralBound && gauge.spectralLimit && *gauge.spectralLimit > 0) {
            const double slack = 100 * (1 - *gauge.spectralBound / *gauge.spectralLimit);
            least = least ? std::min(*least, slack) : slack;
        }
    }
    return least ? CellGridModel::tr("slack to the divergence limit: %1 %").arg(roundNumber(*least)) : QString();
}

QString distanceLine(const std::vector<Gauge>& gauges)
{
    if (gauges.empty() || !gauges.back().distanceToFp64) {
        return {};
    }
    return CellGridModel::tr("distance to fp64: %1 relative").arg(roundNumber(*gauges.back().distanceToFp64));
}

QString detailText(const Cell& cell)
{
    QStringList lines;
    lines << CellGridModel::tr("%1 in %2: %3")
                 .arg(qstr(cell.variant), qstr(name(cell.precision)), outcomeWord(cell.outcome));
    if (cell.firstNonFinite) {
        lines << nonFiniteLine(*cell.firstNonFinite);
    }
    lines << slackLine(cell.gauges) << distanceLine(cell.gauges);
    lines << CellGridModel::tr("%1, %2, epsilon %3")
                 .arg(cell.native ? CellGridModel::tr("native") : CellGridModel::tr("emulated"),
                     qstr(name(cell.lowering)), exactNumber(cell.epsilon));
    lines << CellGridModel::tr("%1 on %2, %3 s")
                 .arg(qstr(cell.environment.engine), qstr(cell.device), roundNumber(cell.seconds, 2));
    lines.removeAll(QString());
    return lines.join(QLatin1Char('\n'));
}

} // namespace

const std::vector<Precision>& sweepPrecisions()
{
    static const std::vector<Precision> all {
        Precision::fp64, Precision::fp32, Precision::tf32, Precision::bf16, Precision::fp16};
    return all;
}

void CellGridModel::setGrid(
    QStringList variants, int identified, std::vector<Precision> precisions, QStringList devices)
{
    beginResetModel();
    m_variants = std::move(variants);
    m_identified = identified;
    m_precisions = std::move(precisions);
    m_devices = std::move(devices);
    m_entries.assign(static_cast<std::size_t>(m_variants.size() * m_devices.size()) * m_precisions.size(), {});
    endResetModel();
}

void CellGridModel::putCell(const Cell& cell)
{
    const auto variant = m_variants.indexOf(qstr(cell.variant));
    const auto device = m_devices.indexOf(qstr(cell.device));
    const auto column = std::ranges::find(m_precisions, cell.precision);
    if (variant < 0 || device < 0 || column == m_precisions.end()) {
        return;
    }
    const auto row = variant * m_devices.size() + device;
    const QModelIndex at = index(static_cast<int>(row), static_cast<int>(column - m_precisions.begin()));
    m_entries[static_cast<std::size_t>(at.row()) * m_precisions.size() + static_cast<std::size_t>(at.column())] = {
        cell, false};
    Q_EMIT dataChanged(at, at);
}

void CellGridModel::setPending(bool pending)
{
    if (m_entries.empty()) {
        return;
    }
    for (Entry& entry : m_entries) {
        entry.pending = pending;
    }
    Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
}

int CellGridModel::doneCount() const
{
    return static_cast<int>(
        std::ranges::count_if(m_entries, [](const Entry& entry) { return entry.cell.has_value() && !entry.pending; }));
}

QString CellGridModel::captureName() const
{
    const auto done = std::ranges::find_if(m_entries, [](const Entry& entry) { return entry.cell.has_value(); });
    return done == m_entries.end() ? QString() : qstr(done->cell->capture);
}

int CellGridModel::cellCount() const
{
    return static_cast<int>(m_entries.size());
}

const CellGridModel::Entry& CellGridModel::entry(const QModelIndex& index) const
{
    return m_entries[static_cast<std::size_t>(index.row()) * m_precisions.size()
        + static_cast<std::size_t>(index.column())];
}

const Cell* CellGridModel::cellAt(const QModelIndex& index) const
{
    if (!index.isValid() || !entry(index).cell) {
        return nullptr;
    }
    return &*entry(index).cell;
}

int CellGridModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_variants.size() * m_devices.size());
}

int CellGridModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_precisions.size());
}

CellState CellGridModel::stateOf(const Entry& entry)
{
    if (entry.pending) {
        return CellState::pending;
    }
    if (!entry.cell) {
        return CellState::notRun;
    }
    return entry.cell->error.empty() ? CellState::done : CellState::failed;
}

QString CellGridModel::text(const Entry& entry)
{
    switch (stateOf(entry)) {
    case CellState::pending:
        return QStringLiteral("…");
    case CellState::notRun:
        return QStringLiteral("–");
    case CellState::failed:
        return tr("failed");
    case CellState::done:
        break;
    }
    const Cell& cell = *entry.cell;
    if (cell.outcome == Outcome::inf && cell.firstNonFinite && cell.firstNonFinite->kind != ValueClass::nan) {
        return classWord(cell.firstNonFinite->kind);
    }
    return outcomeWord(cell.outcome);
}

QString CellGridModel::birthText(const Entry& entry)
{
    if (stateOf(entry) != CellState::done || !entry.cell->firstNonFinite) {
        return {};
    }
    return entry.cell->birth ? opLabel(*entry.cell->birth) : tr("input");
}

QString CellGridModel::copyText(const Entry& entry)
{
    const QString birth = birthText(entry);
    return birth.isEmpty() ? text(entry) : tr("%1 in %2").arg(text(entry), birth);
}

QString CellGridModel::toolTip(const QModelIndex& index) const
{
    const Entry& at = entry(index);
    const QString place =
        tr("%1 in %2 on %3")
            .arg(variantOf(index.row()), qstr(name(precisionOf(index.column()))), deviceOf(index.row()));
    switch (stateOf(at)) {
    case CellState::pending:
        return tr("%1: waiting for the replay").arg(place);
    case CellState::notRun:
        return tr("%1: not replayed yet; click to replay it").arg(place);
    case CellState::failed:
        return tr("%1: %2").arg(place, qstr(at.cell->error));
    case CellState::done:
        break;
    }
    return detailText(*at.cell);
}

QString CellGridModel::rowName(int row) const
{
    return m_devices.size() == 1 ? variantOf(row) : tr("%1 · %2").arg(variantOf(row), deviceOf(row));
}

QVariant CellGridModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return {};
    }
    const Entry& at = entry(index);
    switch (role) {
    case Qt::DisplayRole:
        return text(at);
    case Qt::ToolTipRole:
        return plainTip(toolTip(index));
    case Qt::AccessibleTextRole:
        return toolTip(index);
    case CellStateRole:
        return static_cast<int>(stateOf(at));
    case OutcomeRole:
        return stateOf(at) == CellState::done ? QVariant(static_cast<int>(at.cell->outcome)) : QVariant();
    case BirthTextRole:
        return birthText(at);
    case CopyRole:
        return copyText(at);
    default:
        return {};
    }
}

QVariant CellGridModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (section < 0 || section >= (orientation == Qt::Horizontal ? columnCount() : rowCount())) {
        return {};
    }
    if (orientation == Qt::Horizontal) {
        return role == Qt::DisplayRole ? qstr(name(m_precisions[static_cast<std::size_t>(section)])) : QVariant();
    }
    const bool identified = section / m_devices.size() < m_identified;
    switch (role) {
    case Qt::DisplayRole:
        return rowName(section);
    case IdentifiedRole:
        return identified;
    case Qt::ToolTipRole:
        return identified ? tr("%1: one of the variants that may have run").arg(rowName(section)) : rowName(section);
    case Qt::FontRole: {
        QFont font;
        font.setBold(identified);
        return font;
    }
    default:
        return {};
    }
}

} // namespace nanscope
