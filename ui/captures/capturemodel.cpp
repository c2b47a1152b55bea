// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/captures/capturemodel.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include <QSet>

#include "core/base/text.h"
#include "core/diagnose/judgeone.h"
#include "core/model/scenewords.h"
#include "core/model/verdict.h"
#include "core/model/words.h"
#include "ui/shared/table/roles.h"
#include "ui/shared/text.h"

namespace nanscope {

namespace {

bool belongs(const CaptureVerdict& verdict, const Capture& capture)
{
    return verdict.captureId != 0 && capture.id != 0 ? verdict.captureId == capture.id
                                                     : verdict.capture == capture.file;
}

/// What verdictOf() finds, for who asks about every capture of a run.
class VerdictIndex
{
public:
    explicit VerdictIndex(const Diagnosis* diagnosis)
    {
        const std::size_t count = diagnosis ? diagnosis->captures.size() : 0;
        for (std::size_t i = 0; i < count; ++i) {
            const CaptureVerdict& verdict = diagnosis->captures[i];
            if (verdict.captureId != 0) {
                m_byId.try_emplace(verdict.captureId, &verdict);
            }
            m_byFile.try_emplace(verdict.capture, &verdict);
        }
    }

    const CaptureVerdict* of(const Capture& capture) const
    {
        const auto id = capture.id != 0 ? m_byId.find(capture.id) : m_byId.end();
        if (id != m_byId.end()) {
            return id->second;
        }
        const CaptureVerdict* named = byFile(capture.file);
        return named && belongs(*named, capture) ? named : nullptr;
    }

    const CaptureVerdict* byFile(std::string_view file) const
    {
        const auto found = m_byFile.find(file);
        return found == m_byFile.end() ? nullptr : found->second;
    }

private:
    std::unordered_map<std::int64_t, const CaptureVerdict*> m_byId;
    std::unordered_map<std::string_view, const CaptureVerdict*> m_byFile;
};

QString judgedText(
    const CaptureVerdict* verdict, const Capture& capture, const Diagnosis* diagnosis, const VerdictIndex& index)
{
    if (!verdict || (verdict->summary.empty() && verdict->blame == Blame::undecided)) {
        return QStringLiteral("…");
    }
    if (diagnosis && diagnose::leftUnjudged(*diagnosis, *verdict, capture)) {
        return CaptureModel::tr("not judged");
    }
    if (isHealthy(*verdict)) {
        return qstr(verdict->kind);
    }
    // The role says "downstream" already; the cause is news.
    const CaptureVerdict* cause =
        verdict->blame == Blame::downstream && !verdict->causedBy.empty() ? index.byFile(verdict->causedBy) : nullptr;
    return cause && cause->rank ? CaptureModel::tr("from rank %1").arg(*cause->rank) : blameWord(verdict->blame);
}

/// Unknown first, as -1 would.
std::pair<std::int64_t, std::int64_t> stepOf(const CaptureVerdict* verdict)
{
    return verdict && verdict->step ? *verdict->step : std::pair<std::int64_t, std::int64_t>(-1, -1);
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
    addRows();
    endResetModel();
}

void CaptureModel::setVerdicts(std::shared_ptr<const Diagnosis> diagnosis)
{
    const VerdictIndex verdicts(diagnosis.get());
    QSet<QString> texts;
    for (Row& row : m_rows) {
        row.verdict = verdicts.of(captureOf(row));
        row.judged = *texts.insert(judgedText(row.verdict, captureOf(row), diagnosis.get(), verdicts));
        row.search.clear();
    }
    m_diagnosis = std::move(diagnosis);
    if (!m_rows.empty()) {
        Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, NUM_COLUMNS - 1));
    }
}

void CaptureModel::addRows()
{
    m_rows.clear();
    const VerdictIndex index(m_diagnosis.get());
    QSet<QString> texts;
    const int count = m_run ? static_cast<int>(m_run->captures.size()) : 0;
    for (int i = 0; i < count; ++i) {
        const Capture& capture = m_run->captures[static_cast<std::size_t>(i)];
        const CaptureVerdict* verdict = index.of(capture);
        m_rows.push_back({i, verdict, *texts.insert(judgedText(verdict, capture, m_diagnosis.get(), index)), {}});
    }
    // Verdicts lie in the order they should be shown in; what has none yet goes to the end.
    std::ranges::stable_sort(m_rows, [](const Row& a, const Row& b) {
        return a.verdict && b.verdict ? a.verdict < b.verdict : a.verdict && !b.verdict;
    });
    m_rowOfCapture.assign(m_rows.size(), -1);
    for (std::size_t row = 0; row < m_rows.size(); ++row) {
        m_rowOfCapture[static_cast<std::size_t>(m_rows[row].capture)] = static_cast<int>(row);
    }
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
        return index.column() == ShapeColumn ? matrixLabel(captureOf(row).input.shape) : text(row, index.column());
    case Qt::ToolTipRole:
        return plainTip(toolTip(row, index.column()));
    case Qt::AccessibleTextRole:
        return filterText(row);
    case CopyRole:
        return copyValue(row, index.column());
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
        return !row.verdict                                                  ? tr("not judged")
            : row.verdict->role == Role::healthy && !isHealthy(*row.verdict) ? tr("finite")
                                                                             : roleWord(row.verdict->role);
    case RankColumn:
        return capture.rank ? QString::number(*capture.rank) : QStringLiteral("–");
    case StepColumn:
        return row.verdict ? stepLabel(row.verdict->step) : QStringLiteral("–");
    case ShapeColumn:
        return shapeLabel(capture.input.shape);
    case VerdictColumn:
        return row.judged;
    case FileColumn:
        return qstr(capture.file);
    default:
        return {};
    }
}

QVariant CaptureModel::copyValue(const Row& row, int column) const
{
    const Capture& capture = captureOf(row);
    switch (column) {
    case StepColumn:
        return stepLabel(row.verdict ? row.verdict->step : std::nullopt).replace(QChar(0x2013), QLatin1Char('-'));
    case ShapeColumn:
        return qstr(shapeText(capture.input.shape));
    case FileColumn:
        return exactText(capture.path);
    default:
        return {};
    }
}

bool CaptureModel::less(int left, int right, int column) const
{
    const Row& a = m_rows[static_cast<std::size_t>(left)];
    const Row& b = m_rows[static_cast<std::size_t>(right)];
    switch (column) {
    case RoleColumn:
        return (a.verdict ? static_cast<int>(a.verdict->role) : -1)
            < (b.verdict ? static_cast<int>(b.verdict->role) : -1);
    case RankColumn:
        return captureOf(a).rank.value_or(-1) < captureOf(b).rank.value_or(-1);
    case StepColumn:
        return stepOf(a.verdict) < stepOf(b.verdict);
    case ShapeColumn:
        return captureOf(a).input.shape < captureOf(b).input.shape;
    case VerdictColumn:
        return a.judged < b.judged;
    default:
        return captureOf(a).file < captureOf(b).file;
    }
}

QString CaptureModel::toolTip(const Row& row, int column) const
{
    const Capture& capture = captureOf(row);
    QString tip =
        QStringLiteral("%1: %2\n%3")
            .arg(headerData(column, Qt::Horizontal, Qt::DisplayRole).toString(), text(row, column), qstr(capture.file));
    if (!capture.part.empty()) {
        tip += QLatin1Char('\n') + qstr(capture.part);
    }
    if (!capture.hasTensors()) {
        tip += QLatin1Char('\n') + qstr(asSentence(withheldText(capture.scene)));
    }
    if (row.verdict) {
        tip += QStringLiteral("\n%1\n%2").arg(placeSentence(capture, *row.verdict), qstr(row.verdict->summary));
    }
    return tip;
}

QString CaptureModel::filterText(const Row& row) const
{
    QStringList parts {qstr(shapeText(captureOf(row).input.shape))};
    for (int column = 0; column < NUM_COLUMNS; ++column) {
        parts << text(row, column);
    }
    return parts.join(QLatin1Char('\n'));
}

const QString& CaptureModel::searchText(int row) const
{
    const Row& searched = m_rows[static_cast<std::size_t>(row)];
    if (searched.search.isNull()) {
        searched.search = filterText(searched).toLower();
    }
    return searched.search;
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
    case FileColumn:
        return tr("File");
    default:
        return {};
    }
}

int CaptureModel::rowOf(int capture) const
{
    return capture >= 0 && capture < rowCount() ? m_rowOfCapture[static_cast<std::size_t>(capture)] : -1;
}

} // namespace nanscope
