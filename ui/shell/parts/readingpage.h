// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "core/base/job.h"

class QLabel;

namespace nanscope {

/// What stands in the window while the first run is read: how far that is, and a way to stop it.
class ReadingPage : public QWidget
{
    Q_OBJECT

public:
    explicit ReadingPage(QWidget* parent = nullptr);

    /// "~/runs/17".
    void begin(const QString& place);
    void showProgress(const Progress& progress);
    QString text() const;

Q_SIGNALS:
    void cancelRequested();

private:
    QLabel* m_place;
    QLabel* m_progress;
};

} // namespace nanscope
