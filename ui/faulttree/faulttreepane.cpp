// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/faulttree/faulttreepane.h"

#include <limits>

#include <QHBoxLayout>
#include <QToolButton>
#include <QVBoxLayout>

#include "core/model/verdict.h"
#include "ui/faulttree/faulttreeview.h"
#include "ui/shared/answerparts.h"
#include "ui/shared/copying.h"
#include "ui/shared/marks.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

constexpr int mostLanes = 16;

} // namespace

FaultTreePane::FaultTreePane(QWidget* parent)
    : PaneFrame(tr("Fault tree"), parent)
    , m_view(new FaultTreeView(this))
    , m_merge(makeToolButton(this, "quiet"))
{
    m_merge->setCheckable(true);
    header()->addWidget(m_merge);
    auto* inner = new QVBoxLayout;
    inner->setContentsMargins(grid(1), 0, grid(1), grid(1));
    inner->addWidget(m_view);
    body()->addLayout(inner, 1);
    makeCopyable(*m_view,
        {tr("Fault tree"), [this] { return m_view->table(); }, [this] { return m_view->picture(); },
            [this] { return caption(); }});
    connect(m_view, &FaultTreeView::captureActivated, this, &FaultTreePane::captureActivated);
    connect(m_merge, &QToolButton::toggled, this, &FaultTreePane::updateMerge);
    updateMerge();
}

PictureCaption FaultTreePane::caption() const
{
    const QString text = note().isEmpty() ? m_name : QStringLiteral("%1 · %2").arg(m_name, note());
    return {tr("Fault tree"), text, roleLegendText(), m_name};
}

void FaultTreePane::updateMerge()
{
    m_view->setMostLanes(m_merge->isChecked() ? std::numeric_limits<int>::max() : mostLanes);
    m_merge->setText(m_merge->isChecked() ? tr("Merge ranks") : tr("All ranks"));
    m_merge->setToolTip(m_merge->isChecked() ? tr("Let ranks in which nothing began share a lane")
                                             : tr("Give every rank a lane of its own"));
    m_merge->setVisible(m_view->tree().ranks > mostLanes);
}

void FaultTreePane::setRun(const std::shared_ptr<const RunData>& run, const std::shared_ptr<const Diagnosis>& diagnosis)
{
    m_view->setRun(run, diagnosis);
    m_name = run ? qstr(run->name) : QString();
    const QString summary = diagnosis ? faultSummary(diagnosis->triage) : QString();
    setNote(summary);
    m_view->setAccessibleName(summary.isEmpty() ? tr("Fault tree") : tr("Fault tree, %1").arg(summary));
    updateMerge();
}

void FaultTreePane::setSelected(int indexInRun)
{
    m_view->setSelected(indexInRun);
}

} // namespace nanscope
