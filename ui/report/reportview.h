// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>

#include <QTextBrowser>

#include "core/report/reportfiles.h"

namespace nanscope {

/// A report as it would be read elsewhere. Nothing is loaded but the pictures it was given, and a link only asks to be
/// followed.
class ReportView : public QTextBrowser
{
    Q_OBJECT

public:
    explicit ReportView(QWidget* parent = nullptr);

    /// The first file is the Markdown, the others are its pictures.
    void showRendered(const std::vector<report::ReportFile>& files);
    void showSource(const std::string& text);

    QVariant loadResource(int type, const QUrl& name) override;

private:
    template <class Show>
    void keepingPlace(Show show);

    std::map<QString, QByteArray> m_pictures;
    QTextDocument* m_rendered = nullptr;
};

} // namespace nanscope
