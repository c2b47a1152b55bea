// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panes/startpage.h"

#include <QDir>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/theme.h"

namespace nanscope {

namespace {

QString shortened(const QString& path)
{
    const QString home = QDir::homePath();
    return path.startsWith(home + QLatin1Char('/')) ? QLatin1Char('~') + path.mid(home.size()) : path;
}

} // namespace

StartPage::StartPage(QWidget* parent)
    : QWidget(parent)
    , m_sample(new QPushButton(tr("Open the sample run"), this))
    , m_recent(new QVBoxLayout)
{
    auto* title = new QLabel(tr("Open a folder with dumps, logs or both"), this);
    title->setObjectName(QStringLiteral("headline"));
    QFont large = font();
    large.setPointSizeF(large.pointSizeF() * 1.5);
    large.setBold(true);
    title->setFont(large);
    auto* text = new QLabel(
        tr("Nanscope reads Newton-Schulz captures (.pt, .safetensors, .npy) and training logs, says what went\n"
           "non-finite first and why, and writes the report. Drop a folder or a file here, or choose one."),
        this);
    text->setObjectName(QStringLiteral("muted"));
    auto* open = new QPushButton(tr("Open folder…"), this);
    open->setObjectName(QStringLiteral("primary"));
    open->setDefault(true);
    auto* buttons = new QHBoxLayout;
    buttons->setSpacing(grid(2));
    buttons->addWidget(open);
    buttons->addWidget(m_sample);
    buttons->addStretch();
    m_recent->setSpacing(0);
    auto* column = new QVBoxLayout;
    column->setSpacing(grid(3));
    column->addWidget(title);
    column->addWidget(text);
    column->addLayout(buttons);
    column->addSpacing(grid(3));
    column->addLayout(m_recent);
    auto* layout = new QHBoxLayout(this);
    layout->addStretch();
    auto* middle = new QVBoxLayout;
    middle->addStretch(2);
    middle->addLayout(column);
    middle->addStretch(3);
    layout->addLayout(middle);
    layout->addStretch();
    connect(open, &QPushButton::clicked, this, &StartPage::openRequested);
    connect(m_sample, &QPushButton::clicked, this, &StartPage::sampleRequested);
}

void StartPage::setRecent(const QStringList& paths)
{
    while (QLayoutItem* item = m_recent->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    if (paths.isEmpty()) {
        return;
    }
    auto* title = new QLabel(tr("Recent"), this);
    title->setObjectName(QStringLiteral("muted"));
    m_recent->addWidget(title);
    for (const QString& path : paths) {
        auto* link = new QLabel(QStringLiteral("<a href='%1' style='text-decoration:none'>%2</a>")
                                    .arg(path.toHtmlEscaped(), shortened(path).toHtmlEscaped()),
            this);
        link->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
        link->setContentsMargins(0, grid(1), 0, 0);
        m_recent->addWidget(link);
        connect(link, &QLabel::linkActivated, this, [this, path] { Q_EMIT recentRequested(path); });
    }
}

void StartPage::setSampleAvailable(bool available)
{
    m_sample->setVisible(available);
}

} // namespace nanscope
