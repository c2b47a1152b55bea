// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <QElapsedTimer>
#include <QKeyEvent>

namespace nanscope {

/// How one came from a view to the next: a step of its own, more of the drag before, or a turn of the wheel.
enum class Gesture { fresh, ongoing, wheel };

enum class HistoryKey { none, back, forward };

/// What a key of a plot does to its history: undo and redo of the platform, Backspace, Alt with an arrow.
inline HistoryKey historyKeyOf(const QKeyEvent& event)
{
    const bool shift = event.modifiers().testFlag(Qt::ShiftModifier);
    const bool alt = event.modifiers().testFlag(Qt::AltModifier);
    const auto is = [&](Qt::Key key) { return event.key() == key; };
    if (event.matches(QKeySequence::Redo) || (is(Qt::Key_Backspace) && shift) || (is(Qt::Key_Right) && alt)) {
        return HistoryKey::forward;
    }
    const bool back = event.matches(QKeySequence::Undo) || is(Qt::Key_Backspace) || (is(Qt::Key_Left) && alt);
    return back ? HistoryKey::back : HistoryKey::none;
}

/// The views, or whatever else can be gone back to, that were left, and those that were gone back from. One drag, and
/// turns of the wheel that follow each other closely, are one step.
template <class Place>
class ViewHistory
{
public:
    /// Going from one place to another, which may be the same.
    void leave(const Place& from, const Place& to, Gesture gesture)
    {
        m_recorded = continues(gesture) && m_recorded;
        if (from == to) {
            return;
        }
        if (!std::exchange(m_recorded, true)) {
            m_back.push_back(from);
            if (m_back.size() > longest) {
                m_back.erase(m_back.begin());
            }
        }
        m_forward.clear();
    }

    bool canGoBack() const { return !m_back.empty(); }
    bool canGoForward() const { return !m_forward.empty(); }

    /// Where to go from here; nothing at the end.
    std::optional<Place> back(const Place& here) { return move(m_back, m_forward, here); }
    std::optional<Place> forward(const Place& here) { return move(m_forward, m_back, here); }

    /// Changes every view that can be gone to; those that are the same as the one beside them then, or as `here`, go.
    template <class Change>
    void change(const Change& each, const Place& here)
    {
        for (std::vector<Place>* places : {&m_back, &m_forward}) {
            std::ranges::for_each(*places, each);
            places->erase(std::unique(places->begin(), places->end()), places->end());
            while (!places->empty() && places->back() == here) {
                places->pop_back();
            }
        }
    }

    void forget()
    {
        m_back.clear();
        m_forward.clear();
        m_recorded = false;
    }

private:
    static constexpr std::size_t longest = 100;
    static constexpr qint64 oneTurnMs = 600;

    bool continues(Gesture gesture)
    {
        if (gesture != Gesture::wheel) {
            m_sinceWheel.invalidate();
            return gesture == Gesture::ongoing;
        }
        const bool same = m_sinceWheel.isValid() && m_sinceWheel.elapsed() < oneTurnMs;
        m_sinceWheel.start();
        return same;
    }

    std::optional<Place> move(std::vector<Place>& from, std::vector<Place>& to, const Place& here)
    {
        if (from.empty()) {
            return std::nullopt;
        }
        to.push_back(here);
        const Place there = from.back();
        from.pop_back();
        m_recorded = false;
        return there;
    }

    std::vector<Place> m_back;
    std::vector<Place> m_forward;
    QElapsedTimer m_sinceWheel;
    bool m_recorded = false; ///< the running gesture has its step already
};

} // namespace nanscope
