// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QWidget>

#include "core/model/fwd.h"
#include "core/model/model.h"

class QLayout;
class QToolButton;

namespace nanscope {

enum class VerdictList { none, place, speaksFor, speaksAgainst, notTestable, next };

/// Where the damage is and where it can come from, a line each: its source and the words. Empty where nothing is known.
std::vector<EvidenceLine> placeLines(const CaptureVerdict& verdict);

/// Calls with the captured input tell something: it was judged, was good, and what came of it was not.
bool canBeCalledAgain(const CaptureVerdict& verdict);

/// There is something to try, or to say of what was tried.
bool hasNext(const CaptureVerdict& verdict);

/// How much there is of, for, against, beyond and after a verdict: each count opens its list.
class VerdictChips : public QWidget
{
    Q_OBJECT

public:
    explicit VerdictChips(QWidget* parent = nullptr);

    /// Hides itself where every list is empty. `tried` of the next experiments are ticked off.
    void setCounts(const CaptureVerdict& verdict, int tried);
    void setOpen(VerdictList list);
    void takeFocus();

Q_SIGNALS:
    void opened(nanscope::VerdictList list);

private:
    struct Chip
    {
        VerdictList list;
        QToolButton* button;
    };

    void addChip(QLayout& layout, VerdictList list, const QString& toolTip);
    void setChip(VerdictList list, const QString& text, bool enabled);
    void style();

    std::vector<Chip> m_chips;
};

} // namespace nanscope
