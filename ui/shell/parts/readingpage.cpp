// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/parts/readingpage.h"

#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

QLabel* addLine(QVBoxLayout& layout, QWidget* parent)
{
    auto* label = new QLabel(parent);
    label->setTextFormat(Qt::PlainText);
    label->setAlignment(Qt::AlignCenter);
    layout.addWidget(label);
    return label;
}

/// "812 MB of 1.8 GB of logs, rank0.log".
QString readingText(const Progress& progress)
{
    if (progress.total <= 0) {
        return qstr(progress.message);
    }
    const QString what = qstr(progress.phase.empty() ? progress.unit : progress.phase);
    const QString part = progress.unit == "bytes"
        ? ReadingPage::tr("%1 of %2 of %3").arg(sizeLabel(progress.done), sizeLabel(progress.total), what)
        : ReadingPage::tr("%1 of %2 %3").arg(countLabel(progress.done), countLabel(progress.total), what);
    return progress.message.empty() ? part : QStringLiteral("%1, %2").arg(part, qstr(progress.message));
}

} // namespace

ReadingPage::ReadingPage(QWidget* parent)
    : QWidget(parent)
{
    auto* layout = new QVBoxLayout(this);
    layout->setSpacing(grid(2));
    layout->addStretch();
    m_place = addLine(*layout, this);
    m_progress = addLine(*layout, this);
    m_progress->setObjectName(QStringLiteral("muted"));
    auto* cancel = new QPushButton(tr("Cancel"), this);
    cancel->setToolTip(tr("Stop reading; what was read is kept for the next time"));
    layout->addWidget(cancel, 0, Qt::AlignHCenter);
    layout->addStretch();
    connect(cancel, &QPushButton::clicked, this, &ReadingPage::cancelRequested);
}

void ReadingPage::begin(const QString& place)
{
    m_place->setText(tr("Reading %1…").arg(place));
    m_progress->clear();
}

void ReadingPage::showProgress(const Progress& progress)
{
    const QString text = readingText(progress);
    m_progress->setText(m_progress->fontMetrics().elidedText(text, Qt::ElideMiddle, width() - grid(8)));
}

QString ReadingPage::text() const
{
    return m_progress->text().isEmpty() ? m_place->text()
                                        : QStringLiteral("%1\n%2").arg(m_place->text(), m_progress->text());
}

} // namespace nanscope
