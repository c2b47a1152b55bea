// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panes/newestlabel.h"

#include <QCoreApplication>
#include <QLabel>

#include "ui/text.h"
#include "ui/theme.h"

namespace nanscope {

namespace {

struct Words
{
    Q_DECLARE_TR_FUNCTIONS(nanscope::NewestLabel)
};

} // namespace

QLabel* makeNewestLabel(QWidget* parent)
{
    auto* label = new QLabel(parent);
    label->setObjectName(QStringLiteral("muted"));
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    label->setContentsMargins(grid(3), 0, grid(3), grid(2));
    label->hide();
    return label;
}

void showNewest(QLabel& label, const std::optional<std::int64_t>& most)
{
    label.setVisible(most.has_value());
    label.setText(most ? Words::tr("Only the newest %1 points of each series of this large run were judged; "
                                   "`nanscope diagnose` on its folder reads them all")
                             .arg(countLabel(*most))
                       : QString());
}

} // namespace nanscope
