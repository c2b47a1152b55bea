// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>

class QHBoxLayout;
class QVBoxLayout;

namespace nanscope {

class ElidedLabel;

/// A pane: title on the left, a note on the right, contents below. The only framed thing in the window.
class PaneFrame : public QFrame
{
    Q_OBJECT

public:
    PaneFrame(const QString& title, QWidget* parent = nullptr);

    /// Empty where something else names the pane, a tab for example; the note moves to the left then,
    /// and a header that holds nothing is hidden.
    void setTitle(const QString& title);
    void setNote(const QString& note, const QString& details = {}); ///< what its tool tip says besides
    void setNoteLines(int most);
    QString note() const;
    QHBoxLayout* header() { return m_header; }
    /// The heading as a widget of its own, for who puts it elsewhere: the title bar of a dock.
    QWidget* takeHeader();
    QVBoxLayout* body() { return m_body; }

Q_SIGNALS:
    /// Somebody can see the pane, or nobody any more.
    void watchedChanged(bool watched);

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    void showHeader();

    ElidedLabel* m_title;
    ElidedLabel* m_note;
    QWidget* m_headerBar;
    QHBoxLayout* m_header;
    QVBoxLayout* m_body;
};

} // namespace nanscope
