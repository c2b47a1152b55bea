// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include "core/model/fwd.h"
#include "core/model/model.h"
#include "ui/shared/paneframe.h"
#include "ui/shared/picture.h"

class QToolButton;

namespace nanscope {

class FaultTreeView;

/// Which captures follow from which: rank lanes by updates, "25 → 1".
class FaultTreePane : public PaneFrame
{
    Q_OBJECT

public:
    explicit FaultTreePane(QWidget* parent = nullptr);

    void setRun(const std::shared_ptr<const RunData>& run, const std::shared_ptr<const Diagnosis>& diagnosis);
    /// Marks a capture; -1 for none.
    void setSelected(int indexInRun);

    FaultTreeView* view() { return m_view; }
    QToolButton* mergeButton() { return m_merge; }

Q_SIGNALS:
    void captureActivated(int indexInRun);

private:
    void updateMerge();
    PictureCaption caption() const;

    FaultTreeView* m_view;
    QString m_name; ///< of the run
    QToolButton* m_merge;
};

} // namespace nanscope
