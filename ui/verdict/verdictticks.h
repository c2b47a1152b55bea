// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QStringList>
#include <QWidget>

#include "core/diagnose/rejudge.h"
#include "core/model/fwd.h"
#include "core/model/model.h"
#include "core/replay/variants/catalogue.h"

class QLabel;
class QToolButton;

namespace nanscope {

class VerdictBox;
class VerdictFlow;

/// The plausible variants as ticks with format and fit, and a button for what is none of them. Of many the first few,
/// until all are asked for.
class VerdictTicks : public QWidget
{
    Q_OBJECT

public:
    explicit VerdictTicks(QWidget* parent = nullptr);

    /// `ticked` in the names of ticksOf(); an empty list ticks everything.
    void setTicks(const CaptureVerdict& judged, const QStringList& ticked, const replay::Catalogue& catalogue);
    void clearTicks();
    /// The user said what ran, which can be taken back.
    void setRanSaid(bool said);
    bool showsAll() const { return m_showsAll; }

    QStringList names() const;
    /// Those that have a tick, whatever their format.
    QStringList variants() const { return m_variants; }
    QStringList ticked() const;

Q_SIGNALS:
    void changed(const QStringList& ticked);
    void ranUnwanted(); ///< what the user said ran is taken back
    void anotherWanted(); ///< something else ran, or in another format, or with another epsilon
    void resized(); ///< more ticks are shown, or fewer

private:
    std::vector<diagnose::Tick> inOrder(std::vector<diagnose::Tick> ticks, const QStringList& ticked) const;
    void build(const CaptureVerdict& judged, const std::vector<diagnose::Tick>& ticks);
    void askAlone(const CaptureVerdict& judged);
    void updateButtons();
    void showBoxes();

    VerdictFlow* m_flow;
    QLabel* m_label;
    std::vector<VerdictBox*> m_boxes;
    VerdictBox* m_alone; ///< nothing but the function ran, or nothing but its input went into it
    VerdictBox* m_besides; ///< something did; in its place where that is said
    QToolButton* m_all;
    QToolButton* m_others; ///< of many ticks: all, or the first few again
    QToolButton* m_more;
    QStringList m_names;
    QStringList m_variants;
    bool m_asksAlone = false;
    bool m_ranSaid = false;
    bool m_sidecar = false; ///< says what ran: nothing else is asked
    bool m_showsAll = false;
};

} // namespace nanscope
