// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/sweep/cellgridmodel.h"

#include <algorithm>

#include <QFont>

#include "core/model/words.h"
#include "ui/shared/table/roles.h"
#include "ui/shared/text.h"

namespace nanscope {

namespace {

QString nonFiniteLine(const NonFinite& where)
{
    return CellGridModel::tr("first %1 in %2 at [%3], %4 of them there")
        .arg(classWord(where.kind), opLabel(where), indexLabel(where.index), countLabel(where.count));
}

QString slackLine(const Cell& cell)
{
    const auto slack = slackPercent(cell);
    return slack
        ? CellGridModel::tr("slack to the divergence limit in the tightest step: %1 %").arg(roundNumber(*slack))
        : QString();
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
    lines << slackLine(cell) << distanceLine(cell.gauges);
    lines << CellGridModel::tr("%1, %2, epsilon %3")
                 .arg(cell.native ? CellGridModel::tr("native") : CellGridModel::tr("emulated"),
                     qstr(name(cell.lowering)), roundNumber(cell.epsilon, 6))
            + (cell.steps > 0 ? CellGridModel::tr(", %1 steps").arg(cell.steps) : QString());
    lines << CellGridModel::tr("%1 on %2, %3 s")
                 .arg(qstr(cell.environment.engine), qstr(cell.device), roundNumber(cell.seconds, 2));
    lines.removeAll(QString());
    return lines.join(QLatin1Char('\n'));
}

} // namespace

const std::vector<Precision>& sweepPrecisions()
{
    static const std::vector<Precision> all(allPrecisions().begin(), allPrecisions().end());
    return all;
}

void CellGridModel::setGrid(SweepGrid grid)
{
    beginResetModel();
    m_grid = std::move(grid);
    m_severalDevices = std::ranges::any_of(
        m_grid.rows, [&](const SweepRow& row) { return row.cell.device != m_grid.rows.front().cell.device; });
    m_entries.assign(m_grid.rows.size() * m_grid.columns.size(), {});
    endResetModel();
}

std::optional<std::size_t> CellGridModel::placeOf(const replay::CellRequest& request) const
{
    const auto column = std::ranges::find(m_grid.columns, request.precision);
    const auto found = std::ranges::find_if(m_grid.rows, [&](const SweepRow& row) {
        replay::CellRequest cell = row.cell;
        cell.precision = request.precision;
        return cell == request;
    });
    if (column == m_grid.columns.end() || found == m_grid.rows.end()) {
        return std::nullopt;
    }
    return static_cast<std::size_t>(found - m_grid.rows.begin()) * m_grid.columns.size()
        + static_cast<std::size_t>(column - m_grid.columns.begin());
}

bool CellGridModel::putCell(const Cell& cell, const replay::CellRequest& request)
{
    const auto place = placeOf(request);
    if (!place) {
        return false;
    }
    m_entries[*place] = {cell, false};
    const QModelIndex at = indexOf(request);
    Q_EMIT dataChanged(at, at);
    return true;
}

QModelIndex CellGridModel::indexOf(const replay::CellRequest& cell) const
{
    const int columns = columnCount();
    const auto place = placeOf(cell);
    return place ? index(static_cast<int>(*place) / columns, static_cast<int>(*place) % columns) : QModelIndex();
}

void CellGridModel::setPending(const std::vector<replay::CellRequest>& cells)
{
    if (m_entries.empty()) {
        return;
    }
    for (Entry& entry : m_entries) {
        entry.pending = false;
    }
    for (const replay::CellRequest& cell : cells) {
        if (const auto place = placeOf(cell)) {
            m_entries[*place].pending = true;
        }
    }
    Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
}

int CellGridModel::pendingCount() const
{
    return static_cast<int>(std::ranges::count(m_entries, true, &Entry::pending));
}

bool CellGridModel::isWanted(std::size_t entry) const
{
    const std::size_t columns = m_grid.columns.size();
    return m_grid.rows[entry / columns].wanted
        && std::ranges::find(m_grid.wanted, m_grid.columns[entry % columns]) != m_grid.wanted.end();
}

int CellGridModel::doneCount() const
{
    int done = 0;
    for (std::size_t i = 0; i < m_entries.size(); ++i) {
        done += m_entries[i].cell && !m_entries[i].pending && isWanted(i) ? 1 : 0;
    }
    return done;
}

int CellGridModel::cellCount() const
{
    const auto rows = std::ranges::count(m_grid.rows, true, &SweepRow::wanted);
    return static_cast<int>(rows) * static_cast<int>(m_grid.wanted.size());
}

QStringList CellGridModel::devices() const
{
    QStringList devices;
    for (const SweepRow& row : m_grid.rows) {
        if (row.wanted && !devices.contains(qstr(row.cell.device))) {
            devices << qstr(row.cell.device);
        }
    }
    return devices;
}

QString CellGridModel::captureName() const
{
    const auto done = std::ranges::find_if(m_entries, [](const Entry& entry) { return entry.cell.has_value(); });
    return done == m_entries.end() ? QString() : qstr(done->cell->capture);
}

const CellGridModel::Entry& CellGridModel::entry(const QModelIndex& index) const
{
    return m_entries[static_cast<std::size_t>(index.row()) * m_grid.columns.size()
        + static_cast<std::size_t>(index.column())];
}

const Cell* CellGridModel::cellAt(const QModelIndex& index) const
{
    if (!index.isValid() || !entry(index).cell) {
        return nullptr;
    }
    return &*entry(index).cell;
}

replay::CellRequest CellGridModel::requestAt(const QModelIndex& index) const
{
    replay::CellRequest request = row(index.row()).cell;
    request.precision = m_grid.columns[static_cast<std::size_t>(index.column())];
    return request;
}

int CellGridModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_grid.rows.size());
}

int CellGridModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_grid.columns.size());
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
    const replay::CellRequest asked = requestAt(index);
    const QString& setting = row(index.row()).setting;
    const QString variant = qstr(asked.variant) + (setting.isEmpty() ? setting : tr(" (%1)").arg(setting));
    const QString place = tr("%1 in %2 on %3").arg(variant, qstr(name(asked.precision)), qstr(asked.device));
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

QString CellGridModel::rowName(int at) const
{
    const SweepRow& named = row(at);
    QStringList parts {qstr(named.cell.variant), named.setting};
    if (m_severalDevices) {
        parts << qstr(named.cell.device);
    }
    parts.removeAll(QString());
    return parts.join(QStringLiteral(" · "));
}

void CellGridModel::setSides(
    const std::optional<replay::CellRequest>& first, const std::optional<replay::CellRequest>& second)
{
    m_first = first;
    m_second = second;
    if (rowCount() > 0) {
        Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1), {SideRole});
    }
}

QString CellGridModel::sideText(const QModelIndex& index) const
{
    const auto is = [&](const std::optional<replay::CellRequest>& side) { return side && indexOf(*side) == index; };
    return (is(m_first) ? tr("A") : QString()) + (is(m_second) ? tr("B") : QString());
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
    case SideRole:
        return sideText(index);
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
        return role == Qt::DisplayRole ? qstr(name(m_grid.columns[static_cast<std::size_t>(section)])) : QVariant();
    }
    const bool identified = row(section).identified;
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
