// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <functional>

#include <QObject>

class QAction;

namespace nanscope {

struct Panes;

/// "Previous view" and "Next view" of the window: of whichever was last zoomed, moved or given the focus, among the
/// frames of the film, input and output, and the timelines.
class ViewSteps : public QObject
{
    Q_OBJECT

public:
    ViewSteps(const Panes& panes, QAction* previous, QAction* next, QObject* parent = nullptr);

private:
    struct Linked
    {
        const QObject* view = nullptr;
        std::function<void()> back;
        std::function<void()> forward;
        std::function<bool()> canGoBack;
        std::function<bool()> canGoForward;
    };

    void onFocus(const QWidget* widget);
    void choose(const QObject* view);

    std::array<Linked, 3> m_linked;
    const Linked* m_last;
    QAction* m_previous;
    QAction* m_next;
};

} // namespace nanscope
