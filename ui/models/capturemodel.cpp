// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/capturemodel.h"

#include <algorithm>

#include <QFont>

#include "ui/models/roles.h"
#include "ui/text.h"

namespace nanscope {

namespace {

bool belongs(const CaptureVerdict& verdict, const Capture& capture)
{
    return verdict.captureId != 0 && capture.id != 0 ? verdict.captureId == capture.id
                                                     : verdict.capture == capture.file;
}

} // namespace

const CaptureVerdict* verdictOf(const Diagnosis& diagnosis, const Capture& capture)
{
    const auto found = std::ranges::find_if(
        diagnosis.captures, [&](const CaptureVerdict& verdict) { return belongs(verdict, capture); });
    return found == diagnosis.captures.end() ? nullptr : &*found;
}

void CaptureModel::setRun(std::shared_ptr<const RunData> run, std::shared_ptr<const Diagnosis> diagnosis)
{
    beginResetModel();
    m_run = std::move(run);
    m_diagnosis = std::move(diagnosis);
    m_rows.clear();
    const int count = m_run ? static_cast<int>(m_run->captures.size()) : 0;
    for (int i = 0; i < count; ++i) {
        m_rows.push_back(
            {i, m_diagnosis ? verdictOf(*m_diagnosis, m_run->captures[static_cast<std::size_t>(i)]) : nullptr});
    }
    // Verdicts lie in the order they should be shown in; what has none yet goes to the end.
    std::ranges::stable_sort(m_rows, [](const Row& a, const Row& b) {
        return a.verdict && b.verdict ? a.verdict < b.verdict : a.verdict && !b.verdict;
    });
    endResetModel();
}

int CaptureModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int CaptureModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : NUM_COLUMNS;
}

const Capture& CaptureModel::captureOf(const Row& row) const
{
    return m_run->captures[static_cast<std::size_t>(row.capture)];
}

QVariant CaptureModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return {};
    }
    const Row& row = m_rows[static_cast<std::size_t>(index.row())];
    switch (role) {
    case Qt::DisplayRole:
        return text(row, index.column());
    case Qt::ToolTipRole:
        return toolTip(row);
    case Qt::AccessibleTextRole:
        return filterText(row);
    case SortRole:
        return sortValue(row, index.column());
    case FilterTextRole:
        return filterText(row);
    case CaptureRole:
        return row.capture;
    case CaptureRoleRole:
        return row.verdict ? static_cast<int>(row.verdict->role) : -1;
    default:
        return {};
    }
}

QString CaptureModel::text(const Row& row, int column) const
{
    const Capture& capture = captureOf(row);
    switch (column) {
    case RoleColumn:
        return row.verdict ? roleWord(row.verdict->role) : tr("not judged");
    case RankColumn:
        return capture.rank ? QString::number(*capture.rank) : QStringLiteral("–");
    case StepColumn:
        return row.verdict ? stepLabel(*row.verdict) : QStringLiteral("–");
    case ShapeColumn:
        return shapeLabel(capture.input.shape);
    case VerdictColumn:
        return verdictText(row);
    default:
        return {};
    }
}

QString CaptureModel::verdictText(const Row& row) const
{
    if (!row.verdict || (row.verdict->summary.empty() && row.verdict->blame == Blame::undecided)) {
        return QStringLiteral("…");
    }
    if (row.verdict->blame != Blame::downstream || row.verdict->causedBy.empty()) {
        return blameWord(row.verdict->blame);
    }
    // The role says "downstream" already; the cause is news.
    const auto cause = std::ranges::find(m_diagnosis->captures, row.verdict->causedBy, &CaptureVerdict::capture);
    if (cause == m_diagnosis->captures.end() || !cause->rank) {
        return blameWord(row.verdict->blame);
    }
    return tr("from rank %1").arg(*cause->rank);
}

QVariant CaptureModel::sortValue(const Row& row, int column) const
{
    const Capture& capture = captureOf(row);
    switch (column) {
    case RoleColumn:
        return row.verdict ? static_cast<int>(row.verdict->role) : -1;
    case RankColumn:
        return capture.rank.value_or(-1);
    case StepColumn:
        return row.verdict && row.verdict->step ? static_cast<qlonglong>(row.verdict->step->first) : -1LL;
    default:
        return text(row, column);
    }
}

QString CaptureModel::toolTip(const Row& row) const
{
    const Capture& capture = captureOf(row);
    QString tip = qstr(capture.file);
    if (row.verdict) {
        tip += QStringLiteral("\n%1\n%2").arg(placeSentence(capture, *row.verdict), qstr(row.verdict->summary));
    }
    return tip;
}

QString CaptureModel::filterText(const Row& row) const
{
    QStringList parts {qstr(captureOf(row).file), qstr(shapeText(captureOf(row).input.shape))};
    for (int column = 0; column < NUM_COLUMNS; ++column) {
        parts << text(row, column);
    }
    return parts.join(QLatin1Char(' '));
}

QVariant CaptureModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) {
        return role == Qt::TextAlignmentRole && orientation == Qt::Horizontal
            ? QVariant(Qt::AlignLeft | Qt::AlignVCenter)
            : QVariant();
    }
    switch (section) {
    case RoleColumn:
        return tr("Role");
    case RankColumn:
        return tr("Rank");
    case StepColumn:
        return tr("Step");
    case ShapeColumn:
        return tr("Shape");
    case VerdictColumn:
        return tr("Verdict");
    default:
        return {};
    }
}

int CaptureModel::rowOf(int capture) const
{
    const auto found = std::ranges::find(m_rows, capture, &Row::capture);
    return found == m_rows.end() ? -1 : static_cast<int>(found - m_rows.begin());
}

} // namespace nanscope
