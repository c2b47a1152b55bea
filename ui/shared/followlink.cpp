// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shared/followlink.h"

#include <QCoreApplication>
#include <QDesktopServices>
#include <QMessageBox>
#include <QUrl>

namespace nanscope {

namespace {

struct FollowLinkWords
{
    Q_DECLARE_TR_FUNCTIONS(nanscope::FollowLink)
};

} // namespace

void askToFollow(const QUrl& link, QWidget* parent)
{
    if (link.scheme() != QStringLiteral("https") && link.scheme() != QStringLiteral("http")) {
        return;
    }
    auto* question = new QMessageBox(QMessageBox::Question, FollowLinkWords::tr("Follow the link?"),
        FollowLinkWords::tr("Open this page in the browser?"), QMessageBox::Open | QMessageBox::Cancel, parent);
    question->setInformativeText(link.toDisplayString().toHtmlEscaped());
    question->setAttribute(Qt::WA_DeleteOnClose);
    QObject::connect(question, &QMessageBox::accepted, question, [link] { QDesktopServices::openUrl(link); });
    question->open();
}

} // namespace nanscope
