// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <QString>
#include <QStringList>

#include "core/base/utf8.h"
#include "core/model/fwd.h"
#include "core/model/model.h"

namespace nanscope {

/// As it is, for what goes back to core: paths, and names that something is found by.
inline QString exactText(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

/// As it may be shown, whoever wrote it: without controls and what is invisible or turns the direction of writing.
inline QString qstr(std::string_view text)
{
    return exactText(printableLines(text));
}

/// What core advises, with the names of the window's own controls in place of the options that the command line has.
QString windowText(std::string_view text);

inline QString htmlText(std::string_view text)
{
    return qstr(text).toHtmlEscaped();
}

/// Each of them, or what `projection` takes of it, as qstr() has it.
template <class Range, class Projection = std::identity>
QStringList qstrs(const Range& range, Projection projection = {})
{
    QStringList texts;
    for (const auto& one : range) {
        texts << qstr(std::invoke(projection, one));
    }
    return texts;
}

/// The other way round.
inline std::vector<std::string> stringsOf(const QStringList& texts)
{
    std::vector<std::string> strings;
    std::ranges::transform(texts, std::back_inserter(strings), &QString::toStdString);
    return strings;
}

/// "1×160×96".
QString shapeLabel(const Shape& shape);
/// The same for a list: a batch of one is not told.
QString matrixLabel(const Shape& shape);

/// "5–6" where the line of step 5 and that of step 6 enclose the capture, "5" when both agree.
QString stepLabel(
    const std::optional<std::pair<std::int64_t, std::int64_t>>& step, const QString& missing = QStringLiteral("–"));

/// "between the log lines of steps 5 and 6", with the source of that knowledge where it is weak.
QString stepSentence(const CaptureVerdict& verdict);

/// "rank 0 · 1×160×96 · between the log lines of …".
QString placeSentence(const Capture& capture, const CaptureVerdict& verdict);

QString roleWord(Role role);
QString blameWord(Blame blame);

/// "Implementation", "Numerics, marginal".
QString blameTitle(const CaptureVerdict& verdict);

/// "gns-gram or gns-standard (fit 0.5 %, next 9.3 %)".
QString identificationSentence(const Identification& identification);

QString outcomeWord(Outcome outcome);

/// "step 3 gram"; "input" or "normalize" where no step has begun.
QString opLabel(const NonFinite& where);

/// "NaN", "+Inf", "−Inf", "zero", "subnormal", "normal".
QString classWord(ValueClass value);

/// Shortest decimal that reads back as exactly this value; "NaN", "+Inf", "−Inf".
QString exactNumber(double value);

/// "epsilon 1e-05 · 8 steps", as far as there are any.
QString overridesText(std::optional<double> epsilon, std::optional<int> steps);

/// At most `digits` significant digits, for text that is read rather than copied.
QString roundNumber(double value, int digits = 3);

/// What a slack below zero says: by how much the bound is exceeded.
QString negativeSlackText(double slackPercent);

/// With the grouping of the user's locale.
QString countLabel(std::int64_t count);

/// "1.8 GB".
QString sizeLabel(std::int64_t bytes);

/// "8 s", "5 min", "2 h 10 min": as exact as an estimate can be.
QString durationLabel(double seconds);

/// With a capital letter first, unless the first word is a name ("use_triton=False", "rank0.log").
QString sentenceCase(QString text);

/// Stays on one line where a text is wrapped.
QString unbroken(const QString& text);

/// For tool tips, in which Qt takes what begins like a tag for HTML: what a file says stays text.
QString plainTip(const QString& text);

/// "~/runs/17": the home folder of the user as a tilde.
QString shortPath(const QString& path);

/// "33, 70".
QString indexLabel(const std::vector<std::int64_t>& index);

/// For entries of menus, in which & marks a key: what a file is called stays as it is.
inline QString menuText(QString text)
{
    return text.replace(QLatin1Char('&'), QLatin1String("&&"));
}

} // namespace nanscope
