// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/rollback/rollbackpane.h"

#include <algorithm>

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>

#include "ui/shared/answerparts.h"
#include "ui/shared/partsscroll.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

StatusMark markOf(CheckpointStatus status)
{
    switch (status) {
    case CheckpointStatus::safe:
        return StatusMark::good;
    case CheckpointStatus::suspect:
        return StatusMark::caution;
    case CheckpointStatus::poisoned:
        return StatusMark::bad;
    case CheckpointStatus::missing:
        return StatusMark::none;
    default:
        return StatusMark::unknown;
    }
}

QString proofText(const CheckpointAdvice& advice)
{
    QStringList lines;
    for (const EvidenceLine& line : advice.proof) {
        lines << (line.source.empty() ? windowText(line.text)
                                      : QStringLiteral("%1 [%2]").arg(windowText(line.text), qstr(line.source)));
    }
    return lines.join(QStringLiteral("; "));
}

QString checkpointWord(CheckpointStatus status)
{
    switch (status) {
    case CheckpointStatus::safe:
        return RollbackPane::tr("safe");
    case CheckpointStatus::suspect:
        return RollbackPane::tr("suspect");
    case CheckpointStatus::poisoned:
        return RollbackPane::tr("poisoned");
    case CheckpointStatus::missing:
        return RollbackPane::tr("missing");
    default:
        return RollbackPane::tr("unverified");
    }
}

} // namespace

RollbackPane::RollbackPane(QWidget* parent)
    : PaneFrame(tr("Rollback"), parent)
    , m_model(new RowModel(columns(), this))
    , m_view(makeRowTable(this, m_model, tr("Checkpoints")))
    , m_tonight(makeWrappedLabel(this, "headline"))
    , m_reason(makeWrappedLabel(this, "muted"))
    , m_newest(makeNewestLabel(this))
    , m_copy(new QPushButton(tr("Copy"), this))
    , m_resume(makeWrappedLabel(this, "muted"))
    , m_progress(makeWrappedLabel(this, "muted"))
    , m_verify(new QPushButton(this))
{
    buildView();
    // Where it is not seen whole it scrolls: cut, it would lose its first line.
    auto* answer = new PartsScroll(this);
    answer->setMinimumHeight(grid(14));
    answer->parts()->addWidget(buildAnswer());
    body()->addWidget(answer);
    body()->addWidget(m_newest);
    body()->addWidget(m_view, 1);
    body()->addStretch();
    setRollback({}, false);
    showVerified();
    setReadable(0);
}

std::vector<RowColumn<CheckpointAdvice>> RollbackPane::columns() const
{
    const auto recommended = [this](
                                 const CheckpointAdvice& advice) { return &advice == m_model->rowAt(m_recommended); };
    return {
        {.title = tr("Checkpoint"),
            .text = [](const CheckpointAdvice& advice) { return QString::number(advice.step); },
            .bold = recommended},
        {.title = tr("Status"),
            .text = [](const CheckpointAdvice& advice) { return checkpointWord(advice.status); },
            .mark = [](const CheckpointAdvice& advice) { return markOf(advice.status); },
            .bold = recommended},
        {.title = tr("Why"), .text = [](const CheckpointAdvice& advice) { return windowText(advice.reason); }},
        {.title = tr("Proof"), .text = proofText},
        {.title = tr("Place"), .text = [](const CheckpointAdvice& advice) { return qstr(advice.path); }},
    };
}

QWidget* RollbackPane::buildAnswer()
{
    auto* answer = new QWidget(this);
    auto* layout = new QHBoxLayout(answer);
    layout->setContentsMargins(grid(3), grid(1), grid(3), grid(2));
    layout->setSpacing(grid(2));
    auto* texts = new QVBoxLayout;
    texts->setSpacing(grid(1));
    texts->addWidget(m_tonight);
    texts->addWidget(m_reason);
    texts->addWidget(m_resume);
    texts->addWidget(m_progress);
    layout->addLayout(texts, 1);
    layout->addWidget(m_verify, 0, Qt::AlignTop);
    layout->addWidget(m_copy, 0, Qt::AlignTop);
    m_tonight->setAccessibleName(tr("Can I go on tonight?"));
    m_copy->setToolTip(tr("Copy what to do tonight, and how to resume"));
    connect(m_copy, &QPushButton::clicked, this, [this] {
        QStringList lines {m_tonight->text(), m_resume->text()};
        lines.removeAll(QString());
        QApplication::clipboard()->setText(lines.join(QLatin1Char('\n')));
        Q_EMIT copied(tr("Copied what to do tonight"));
    });
    connect(
        m_verify, &QPushButton::clicked, this, [this] { m_verifying ? Q_EMIT cancelAsked() : Q_EMIT verifyAsked(); });
    return answer;
}

void RollbackPane::buildView()
{
    m_view->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_view->setWordWrap(true);
    m_view->verticalHeader()->setMinimumSectionSize(grid(7));
    auto* heading = m_view->horizontalHeader();
    heading->setSectionResizeMode(why, QHeaderView::Stretch);
    heading->setSectionResizeMode(proof, QHeaderView::Stretch);
}

void RollbackPane::setRollback(const std::optional<Rollback>& rollback, bool judged,
    const std::optional<std::int64_t>& newest, const QString& goOn)
{
    showNewest(*m_newest, newest);
    // Sizes that follow the contents ask every row for them.
    constexpr std::size_t fewRows = 300;
    const bool few = !rollback || rollback->checkpoints.size() <= fewRows;
    m_view->verticalHeader()->setSectionResizeMode(few ? QHeaderView::ResizeToContents : QHeaderView::Fixed);
    m_view->horizontalHeader()->setResizeContentsPrecision(static_cast<int>(fewRows));
    setCheckpoints(rollback.value_or(Rollback {}));
    m_copy->setVisible(rollback || !goOn.isEmpty());
    m_verify->setVisible(rollback.has_value());
    m_resume->setText(
        rollback && !rollback->resume.empty() ? tr("Resume with %1").arg(qstr(rollback->resume)) : QString());
    m_resume->setVisible(!m_resume->text().isEmpty());
    const auto safe = std::ranges::count(m_model->rows(), CheckpointStatus::safe, &CheckpointAdvice::status);
    const int known = m_model->rowCount();
    const QString count = known == 1 ? tr("1 checkpoint") : tr("%1 checkpoints").arg(known);
    setNote(known == 0 ? QString() : tr("%1, %2 safe").arg(count).arg(safe));
    m_view->setVisible(m_model->rowCount() > 0);
    if (rollback) {
        m_tonight->setText(sentenceCase(windowText(rollback->tonight)));
        m_reason->setText(rollback->recommended
                ? tr("Step %1: %2").arg(*rollback->recommended).arg(windowText(rollback->reason))
                : sentenceCase(windowText(rollback->reason)));
        m_view->selectRow(m_recommended);
    } else if (judged) {
        m_tonight->setText(goOn.isEmpty() ? tr("Nothing to go back from") : sentenceCase(goOn));
        m_reason->setText(goOn.isEmpty()
                ? tr("No log and no capture of this run tells of values that stayed bad.")
                : tr("No log shows values that stayed bad, so no checkpoint can be called safe or bad."));
    } else {
        m_tonight->setText(tr("Not judged yet"));
        m_reason->setText(tr("Checkpoints that lie in the folder or that a log names are weighed here."));
    }
}

void RollbackPane::setCheckpoints(const Rollback& rollback)
{
    const auto& all = rollback.checkpoints;
    const auto found = std::ranges::find(all, rollback.recommended, &CheckpointAdvice::step);
    m_recommended = found == all.end() ? -1 : static_cast<int>(found - all.begin());
    m_model->setRows(all);
}

void RollbackPane::setReadable(qsizetype checkpoints)
{
    m_readable = checkpoints;
    showOffer();
}

void RollbackPane::showOffer()
{
    if (m_verifying) {
        m_verify->setEnabled(true);
        m_verify->setText(tr("Cancel"));
        m_verify->setToolTip(tr("Stop reading"));
        return;
    }
    m_verify->setEnabled(m_readable > 0);
    m_verify->setText(
        m_readable > 0 ? tr("Verify checkpoints") : tr("Verify checkpoints (none complete in the folder)"));
    m_verify->setToolTip(m_readable > 0
            ? tr("Read the tensors of the checkpoints that may be gone back to, newest first, until one is finite")
            : tr("No complete checkpoint lies in the folder of the run, so there is none to read"));
}

void RollbackPane::showVerifying()
{
    m_verifying = true;
    showOffer();
    m_progress->setText(tr("Reading checkpoints…"));
    m_progress->show();
}

void RollbackPane::showProgress(const QString& checkpoint, qint64 tensors)
{
    m_progress->setText(tr("Reading %1, tensor %2").arg(checkpoint).arg(tensors));
}

void RollbackPane::showVerified()
{
    m_verifying = false;
    showOffer();
    m_progress->hide();
}

} // namespace nanscope
