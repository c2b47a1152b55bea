// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <QFrame>
#include <QLabel>
#include <QStringList>

#include "core/model/fwd.h"
#include "core/model/model.h"
#include "core/replay/variants/catalogue.h"
#include "ui/verdict/verdictchips.h"

class QPushButton;

namespace nanscope {

class EvidenceList;
class MarkLabel;
class PartsScroll;
class VerdictExperiments;
class VerdictNow;
class VerdictQuestion;
class VerdictTicks;
class WhatRanDialog;

/// The answer in three parts: what went wrong where, whose fault it is, what to do now. The verdict is a sentence, what
/// it quantifies over are ticks, the deciding question has buttons, and the counts of its evidence open into lists.
class VerdictPane : public QFrame
{
    Q_OBJECT

public:
    using List = VerdictList;

    explicit VerdictPane(QWidget* parent = nullptr);
    ~VerdictPane() override;

    /// A verdict as it was judged, or over these ticks where the replays that were done can tell it.
    void showVerdict(const Capture& capture, const CaptureVerdict& judged, const QStringList& ticked = {});
    /// The same over what is ticked, in the names of ticksOf(). False where that takes a replay; nothing changes then.
    bool showTicks(const QStringList& ticked);
    /// What is shown: the verdict over the ticks. None while a message is shown.
    const CaptureVerdict* verdict() const { return m_verdict.get(); }
    QStringList ticked() const;
    /// What the owner of the run saw; every verdict shown is argued with it.
    void setObserved(const Observations& observed);
    /// With the user's own variants; for the next verdict.
    void setCatalogue(const replay::Catalogue& catalogue);
    struct Consequences
    {
        bool first = false; ///< no capture is known to have gone wrong before it
        int together = 1; ///< births of the same update, this one included
        QString others; ///< where the others of them are: "rank 1, rank 3"
        QStringList causes; ///< of all births, in words: the advice for tonight mends each
        int downstream = 0; ///< captures that descend from it
        int captures = 0;
    };

    /// Of the capture that is shown next.
    void setConsequences(const Consequences& consequences);
    void setRollback(const std::optional<Rollback>& rollback, const QString& goOn = {});
    /// As Diagnosis::replayedOn.
    void setReplayedOn(const QString& device);
    /// While a capture is not judged: what is going on instead.
    void showMessage(const QString& headline, const QString& text);

    /// A button that has it judged.
    void offerJudging(bool offered);
    /// Says so, with a button for it, where the list of captures does not show the one that is judged here.
    void setHiddenByFilter(bool hidden);
    /// So many other captures ask what was just answered.
    void offerAlike(std::size_t others);

    void setOpenList(List list);
    List openList() const { return m_open; }

    /// What the user said ran of this run, in the words of --ran.
    void setRan(const QStringList& ran);

    PartsScroll* parts() { return m_parts; }
    QSize minimumSizeHint() const override;

    QString headline() const { return m_headline->text(); }
    /// Of the fault, below the headline; empty where there is none.
    QString kind() const { return m_kind->isHidden() ? QString() : m_kind->text(); }
    QString listText() const;
    QString place() const { return m_place->isHidden() ? QString() : m_place->text(); }
    VerdictNow* now() { return m_now; }
    VerdictTicks* ticks() { return m_ticks; }
    VerdictQuestion* question() { return m_question; }
    VerdictExperiments* experiments() { return m_experiments; }

Q_SIGNALS:
    /// So high the answer does not scroll, in pixels; `opened` while that shows what the user opened in it.
    void heightNeeded(int height, bool opened);
    void causeRequested();
    void judgingRequested();
    void filterUnwanted();
    void alikeWanted();
    void nowCopied(const QString& text);
    /// These ran, says the user, and some of them must be replayed first.
    void ranChanged(const QStringList& ticked);
    /// The verdict over these is shown already; an empty list is "all of them".
    void ticksChanged(const QStringList& ticked);
    void experimentCopied(const QString& text);
    void observedChanged(const nanscope::Observations& observed);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    QWidget* buildHeader();
    QWidget* buildHidden();
    QWidget* buildAlike();
    QString placeText(const CaptureVerdict& verdict) const;
    void connectParts();
    void changeTicks(const QStringList& ticked);
    WhatRanDialog* askWhatRan();
    void askCalls(const QString& experiment);
    void showOver(const QStringList& ticked, CaptureVerdict verdict);
    void showShown();
    void showChips();
    void fillList();
    void fitList();
    void sayHeight();
    std::vector<EvidenceLine> evidence() const;

    PartsScroll* m_parts;
    MarkLabel* m_mark = nullptr;
    QLabel* m_headline = nullptr;
    QLabel* m_kind = nullptr; ///< of the fault, below the headline
    QLabel* m_place = nullptr;
    QWidget* m_hidden = nullptr; ///< says that the filter hides the capture
    QWidget* m_alike = nullptr; ///< offers to answer other captures as this one was
    QLabel* m_alikeText = nullptr;
    QLabel* m_summary = nullptr;
    VerdictNow* m_now = nullptr;
    Consequences m_consequences;
    VerdictQuestion* m_question = nullptr;
    VerdictTicks* m_ticks = nullptr;
    QPushButton* m_cause = nullptr;
    QPushButton* m_judge = nullptr;
    VerdictChips* m_chips = nullptr;
    EvidenceList* m_list = nullptr;
    VerdictExperiments* m_experiments = nullptr;
    List m_open = List::none; ///< evidence is one click away: the answer comes first
    Capture m_capture;
    std::unique_ptr<const CaptureVerdict> m_judged; ///< over all that was replayed
    std::unique_ptr<CaptureVerdict> m_verdict; ///< over what is ticked, with what was observed
    Observations m_observed;
    QStringList m_ran;
    replay::Catalogue m_catalogue;
    QString m_replayedOn; ///< empty for core's own CPU device
};

} // namespace nanscope
