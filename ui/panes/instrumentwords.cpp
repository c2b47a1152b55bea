// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panes/instrumentwords.h"

#include <algorithm>
#include <iterator>

#include <QCoreApplication>

namespace nanscope {

namespace {

struct Entry
{
    instruments::Instrument instrument;
    const char* title;
    const char* question;
    int calls;
    bool ofBits;
};

constexpr Entry entries[] = {
    {instruments::Instrument::scale, QT_TRANSLATE_NOOP("nanscope::Instruments", "Scale"),
        QT_TRANSLATE_NOOP("nanscope::Instruments",
            "How far is this input from the scales at which the result turns zero, degenerate, Inf or NaN?"),
        0, false},
    {instruments::Instrument::epsilon, QT_TRANSLATE_NOOP("nanscope::Instruments", "Epsilon"),
        QT_TRANSLATE_NOOP("nanscope::Instruments",
            "What would other epsilons have made of this input, and which of them round to 0?"),
        0, false},
    {instruments::Instrument::repeat, QT_TRANSLATE_NOOP("nanscope::Instruments", "Repeat"),
        QT_TRANSLATE_NOOP("nanscope::Instruments", "Does the same input give the same bits, call after call?"), 100,
        true},
    {instruments::Instrument::storm, QT_TRANSLATE_NOOP("nanscope::Instruments", "Storm"),
        QT_TRANSLATE_NOOP("nanscope::Instruments",
            "Does your function give the same bits when it is made hard for it: poisoned memory, a producer directly "
            "before, several streams, fresh processes?"),
        100, false},
    {instruments::Instrument::input, QT_TRANSLATE_NOOP("nanscope::Instruments", "Input check"),
        QT_TRANSLATE_NOOP(
            "nanscope::Instruments", "Is the input untouched after the call, and is the output memory of its own?"),
        0, true},
    {instruments::Instrument::spectrum, QT_TRANSLATE_NOOP("nanscope::Instruments", "Spectrum"),
        QT_TRANSLATE_NOOP("nanscope::Instruments", "Does every singular value end where the schedule takes it?"), 0,
        false},
    {instruments::Instrument::minimise, QT_TRANSLATE_NOOP("nanscope::Instruments", "Minimise"),
        QT_TRANSLATE_NOOP("nanscope::Instruments", "What is the smallest input that still ends like this?"), 300,
        false},
};
static_assert(std::size(entries) == std::size(instruments::everyInstrument));

struct Words
{
    Q_DECLARE_TR_FUNCTIONS(nanscope::Instruments)
};

} // namespace

InstrumentWords wordsOf(instruments::Instrument instrument)
{
    const Entry& entry = *std::ranges::find(entries, instrument, &Entry::instrument);
    return {Words::tr(entry.title), Words::tr(entry.question), entry.calls, entry.ofBits};
}

} // namespace nanscope
