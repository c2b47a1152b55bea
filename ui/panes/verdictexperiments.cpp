// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panes/verdictexperiments.h"

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QLabel>
#include <QRegularExpression>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/panes/verdictbox.h"
#include "ui/theme.h"

namespace nanscope {

namespace {

QLabel* textLabel(const ExperimentText& text, QWidget* parent)
{
    QString html = QStringLiteral("<b>%1</b>").arg(text.what.toHtmlEscaped());
    if (!text.meaning.isEmpty()) {
        html += QStringLiteral(": %1").arg(text.meaning.toHtmlEscaped());
    }
    auto* label = new QLabel(html, parent);
    label->setTextFormat(Qt::RichText);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    QSizePolicy policy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    label->setSizePolicy(policy);
    // The hint of a wrapped label is that of a narrow one; only its height for the width it gets counts here.
    label->setMinimumSize(1, 1);
    return label;
}

} // namespace

ExperimentText experimentText(const QString& line)
{
    static const QRegularExpression hours(QStringLiteral("\\d+(\\.\\d+)? clean hours?"));
    const qsizetype colon = line.indexOf(QStringLiteral(": "));
    ExperimentText text;
    text.what = colon < 0 ? line : line.left(colon);
    text.meaning = colon < 0 ? QString() : line.mid(colon + 2);
    text.hours = hours.match(line).captured();
    return text;
}

VerdictExperiments::VerdictExperiments(QWidget* parent)
    : QScrollArea(parent)
    , m_rows(new QWidget)
    , m_layout(new QVBoxLayout(m_rows))
{
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::NoFocus);
    setAccessibleName(tr("Next experiments"));
    setStyleSheet(QStringLiteral("QScrollArea { background: transparent; }"));
    m_layout->setContentsMargins(2, 0, grid(1), 0);
    m_layout->setSpacing(2);
    setWidget(m_rows);
    viewport()->setAutoFillBackground(false);
    m_rows->setAutoFillBackground(false);
}

void VerdictExperiments::setExperiments(const QStringList& lines, const QStringList& done)
{
    if (lines == m_lines && done == this->done()) {
        return;
    }
    m_lines = lines;
    m_boxes.clear();
    while (QLayoutItem* item = m_layout->takeAt(0)) {
        item->widget()->hide();
        item->widget()->deleteLater();
        delete item;
    }
    for (const QString& line : lines) {
        m_layout->addWidget(makeRow(line, done.contains(line)));
    }
}

QWidget* VerdictExperiments::makeRow(const QString& line, bool done)
{
    const ExperimentText text = experimentText(line);
    auto* row = new QWidget(m_rows);
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(grid(2));
    auto* box = new VerdictBox(row);
    box->setAccessibleName(line);
    box->setToolTip(tr("Tick what you have tried"));
    box->setChecked(done);
    QLabel* label = textLabel(text, row);
    label->setEnabled(!done);
    auto* copy = new QToolButton(row);
    copy->setObjectName(QStringLiteral("quiet"));
    copy->setStyleSheet(QStringLiteral("QToolButton#quiet { padding: 0 8px; }"));
    copy->setText(tr("Copy"));
    copy->setAccessibleName(tr("Copy: %1").arg(text.what));
    copy->setToolTip(copy->accessibleName());
    layout->addWidget(box, 0, Qt::AlignTop);
    layout->addWidget(label, 1, Qt::AlignTop);
    if (!text.hours.isEmpty()) {
        auto* hours = new QLabel(text.hours, row);
        hours->setObjectName(QStringLiteral("muted"));
        layout->addWidget(hours, 0, Qt::AlignTop);
    }
    layout->addWidget(copy, 0, Qt::AlignTop);
    connect(box, &VerdictBox::toggled, this, [this, label](bool checked) {
        label->setEnabled(!checked);
        Q_EMIT doneChanged(this->done());
    });
    connect(copy, &QToolButton::clicked, this, [this, what = text.what] {
        QApplication::clipboard()->setText(what);
        Q_EMIT copied(what);
    });
    m_boxes.push_back(box);
    return row;
}

QStringList VerdictExperiments::done() const
{
    QStringList done;
    for (std::size_t i = 0; i < m_boxes.size(); ++i) {
        if (m_boxes[i]->isChecked()) {
            done << m_lines[static_cast<qsizetype>(i)];
        }
    }
    return done;
}

int VerdictExperiments::wantedHeight(int width) const
{
    return m_layout->hasHeightForWidth() ? m_layout->totalHeightForWidth(width) : m_layout->totalSizeHint().height();
}

} // namespace nanscope
