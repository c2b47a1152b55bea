// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>

class QHBoxLayout;
class QLabel;
class QVBoxLayout;

namespace nanscope {

class ElidedLabel;

/// A pane: title on the left, a note on the right, contents below. The only framed thing in the window.
class PaneFrame : public QFrame
{
    Q_OBJECT

public:
    PaneFrame(const QString& title, QWidget* parent = nullptr);

    void setTitle(const QString& title);
    void setNote(const QString& note);
    QHBoxLayout* header() { return m_header; }
    QVBoxLayout* body() { return m_body; }

private:
    QLabel* m_title;
    ElidedLabel* m_note;
    QHBoxLayout* m_header;
    QVBoxLayout* m_body;
};

} // namespace nanscope
