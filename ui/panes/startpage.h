// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>
#include <QWidget>

class QPushButton;
class QVBoxLayout;

namespace nanscope {

/// What the window shows before anything is open: what to do, and what was open lately.
class StartPage : public QWidget
{
    Q_OBJECT

public:
    explicit StartPage(QWidget* parent = nullptr);

    void setRecent(const QStringList& paths);
    void setSampleAvailable(bool available);

Q_SIGNALS:
    void openRequested();
    void sampleRequested();
    void recentRequested(const QString& path);

private:
    QPushButton* m_sample;
    QVBoxLayout* m_recent;
};

} // namespace nanscope
