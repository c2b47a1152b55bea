// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/viewsteps.h"

#include <QAction>
#include <QApplication>

#include "ui/heatmap/heatmap.h"
#include "ui/heatmap/heatview.h"
#include "ui/shell/panearea.h"
#include "ui/tensors/tensorspane.h"
#include "ui/timeline/timelinepane.h"
#include "ui/timeline/timelineplot.h"

namespace nanscope {

ViewSteps::ViewSteps(const Panes& panes, QAction* previous, QAction* next, QObject* parent)
    : QObject(parent)
    , m_last(m_linked.data())
    , m_previous(previous)
    , m_next(next)
{
    const auto ofMaps = [](HeatView* view) {
        return Linked {view, [view] { view->goBack(); }, [view] { view->goForward(); },
            [view] { return view->canGoBack(); }, [view] { return view->canGoForward(); }};
    };
    TimelineView* steps = panes.timeline->view();
    m_linked = {ofMaps(panes.frameView), ofMaps(panes.tensors->view()),
        Linked {steps, [steps] { steps->undo(); }, [steps] { steps->redo(); }, [steps] { return steps->canUndo(); },
            [steps] { return steps->canRedo(); }}};
    for (HeatView* view : {panes.frameView, panes.tensors->view()}) {
        connect(view, &HeatView::historyChanged, this, [this, view] { choose(view); });
    }
    connect(steps, &TimelineView::historyChanged, this, [this, steps] { choose(steps); });
    connect(qApp, &QApplication::focusChanged, this, [this](QWidget*, const QWidget* now) { onFocus(now); });
    connect(m_previous, &QAction::triggered, this, [this] { m_last->back(); });
    connect(m_next, &QAction::triggered, this, [this] { m_last->forward(); });
    choose(panes.frameView);
}

void ViewSteps::onFocus(const QWidget* widget)
{
    if (const auto* map = qobject_cast<const HeatMap*>(widget)) {
        choose(map->view());
    } else if (const auto* plot = qobject_cast<const TimelinePlot*>(widget)) {
        choose(plot->view());
    }
}

/// A view of another window is none of these; one that was never left leads nowhere.
void ViewSteps::choose(const QObject* view)
{
    for (const Linked& linked : m_linked) {
        const bool leads = linked.view == view && (linked.canGoBack() || linked.canGoForward());
        m_last = leads ? &linked : m_last;
    }
    m_previous->setEnabled(m_last->canGoBack());
    m_next->setEnabled(m_last->canGoForward());
}

} // namespace nanscope
