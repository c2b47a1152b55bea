// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/parts/startpage.h"

#include <utility>

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/shared/answerparts.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

StartPage::StartPage(QWidget* parent)
    : QWidget(parent)
    , m_sample(new QPushButton(tr("Open the sample run"), this))
    , m_recent(new QVBoxLayout)
{
    auto* title = new QLabel(tr("Open a folder with dumps, logs or both"), this);
    title->setObjectName(QStringLiteral("headline"));
    QFont large = scaledFont(font(), 1.5);
    large.setBold(true);
    title->setFont(large);
    auto* text = makeMutedLabel(this,
        tr("Nanscope reads Newton-Schulz captures (.pt, .safetensors, .npy) and training logs, says what went\n"
           "non-finite first and why, and writes the report. Drop a folder or a file here, or choose one."));
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

void StartPage::setPlaces(const std::vector<Place>& places)
{
    while (QLayoutItem* item = m_recent->takeAt(0)) {
        // A row may ask for this from one of its own buttons.
        item->widget()->hide();
        item->widget()->deleteLater();
        delete item;
    }
    for (const bool pinned : {true, false}) {
        bool first = true;
        for (const Place& place : places) {
            if (place.pinned == pinned) {
                if (std::exchange(first, false)) {
                    m_recent->addWidget(makeMutedLabel(this, pinned ? tr("Pinned") : tr("Recent")));
                }
                m_recent->addWidget(makeRow(place));
            }
        }
    }
}

QWidget* StartPage::makeRow(const Place& place)
{
    auto* row = new QWidget(this);
    auto* link = new QLabel(row);
    const QString shown = shortPath(place.path).toHtmlEscaped();
    if (const QString reason = reasonOf(place.state); !reason.isEmpty()) {
        link->setText(tr("%1 – %2").arg(shown, reason));
        link->setObjectName(QStringLiteral("muted"));
    } else {
        const QString anchor =
            QStringLiteral("<a href='%1' style='text-decoration:none'>%2</a>").arg(place.path.toHtmlEscaped(), shown);
        link->setText(place.state == PlaceState::checking ? tr("%1 – checking…").arg(anchor) : anchor);
        link->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
    }
    auto* pin = makeToolButton(row, "quiet", place.pinned ? QStringLiteral("★") : QStringLiteral("☆"),
        (place.pinned ? tr("Unpin %1") : tr("Pin %1")).arg(place.path));
    auto* remove = makeToolButton(row, "quiet", QStringLiteral("✕"), tr("Forget %1").arg(place.path));
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(grid(1));
    layout->addWidget(pin);
    layout->addWidget(link, 1);
    layout->addWidget(remove);
    const auto [path, pinned, state] = place;
    connect(link, &QLabel::linkActivated, this, [this, path = path] { Q_EMIT recentRequested(path); });
    connect(
        pin, &QToolButton::clicked, this, [this, path = path, pinned = pinned] { Q_EMIT pinRequested(path, !pinned); });
    connect(remove, &QToolButton::clicked, this, [this, path = path] { Q_EMIT removeRequested(path); });
    return row;
}

void StartPage::setSampleAvailable(bool available)
{
    m_sample->setVisible(available);
}

} // namespace nanscope
