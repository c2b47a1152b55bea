// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shared/text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include <QCoreApplication>
#include <QDir>
#include <QLocale>
#include <QRegularExpression>
#include <QStringList>
#include <QTextDocument>

#include "core/model/verdict.h"
#include "core/model/words.h"

namespace nanscope {

namespace {

struct TextWords
{
    Q_DECLARE_TR_FUNCTIONS(nanscope::Words)
};

QString percent(double ratio)
{
    return qstr(percentText(ratio));
}

} // namespace

QString windowText(std::string_view text)
{
    // The controls are called so in rollbackpane.cpp, actions.cpp, verdictticks.cpp and instrumentspane.cpp.
    const std::pair<QLatin1String, QString> words[] = {
        {QLatin1String("--verify-checkpoints"), TextWords::tr("“Verify checkpoints”")},
        {QLatin1String("(nanscope sweep)"), TextWords::tr("(“Sweep”)")},
        {QLatin1String("(--ran)"), TextWords::tr("(“Another ran…”)")},
        {QLatin1String("(--variant)"), TextWords::tr("(“Variant”)")},
        {QLatin1String("--variant says"), TextWords::tr("“Variant” says")},
        {QLatin1String("(--calls)"), TextWords::tr("(“Calls”)")},
        {QLatin1String("--python names"), TextWords::tr("“Python” names")}};
    QString shown = qstr(text);
    for (const auto& [option, control] : words) {
        shown.replace(option, control);
    }
    return shown;
}

QString shapeLabel(const Shape& shape)
{
    return qstr(shapeText(shape)).replace(QLatin1Char('x'), QChar(0x00d7));
}

QString matrixLabel(const Shape& shape)
{
    constexpr std::size_t matrix = 2;
    const bool one = shape.size() > matrix && shape.front() == 1;
    return shapeLabel(one ? Shape(shape.begin() + 1, shape.end()) : shape);
}

QString stepLabel(const std::optional<std::pair<std::int64_t, std::int64_t>>& step, const QString& missing)
{
    if (!step) {
        return missing;
    }
    const auto [after, before] = *step;
    return after == before ? QString::number(after) : QStringLiteral("%1–%2").arg(after).arg(before);
}

QString stepSentence(const CaptureVerdict& verdict)
{
    if (!verdict.step) {
        return TextWords::tr("step not recorded");
    }
    const auto [after, before] = *verdict.step;
    if (verdict.stepSource == StepSource::capture || after == before) {
        return TextWords::tr("step %1").arg(after);
    }
    const QString place =
        TextWords::tr("between the log lines of steps %1 and %2").arg(QString::number(after), QString::number(before));
    return verdict.stepSource == StepSource::mtime ? TextWords::tr("%1 (by file time)").arg(place) : place;
}

QString placeSentence(const Capture& capture, const CaptureVerdict& verdict)
{
    QStringList parts;
    if (capture.rank) {
        parts << TextWords::tr("rank %1").arg(*capture.rank);
    }
    parts << shapeLabel(capture.input.shape) << stepSentence(verdict);
    return parts.join(QStringLiteral(" · "));
}

QString roleWord(Role role)
{
    switch (role) {
    case Role::birth:
        return TextWords::tr("birth");
    case Role::upstream:
        return TextWords::tr("upstream");
    case Role::downstream:
        return TextWords::tr("downstream");
    case Role::padding:
        return TextWords::tr("zero input");
    case Role::healthy:
        return TextWords::tr("healthy");
    case Role::noOutput:
        return TextWords::tr("no output");
    }
    return {};
}

QString blameWord(Blame blame)
{
    switch (blame) {
    case Blame::undecided:
        return TextWords::tr("undecided");
    case Blame::upstream:
        return TextWords::tr("upstream");
    case Blame::downstream:
        return TextWords::tr("downstream");
    case Blame::numerics:
        return TextWords::tr("numerics");
    case Blame::implementation:
        return TextWords::tr("implementation");
    case Blame::nondeterministic:
        return TextWords::tr("nondeterministic");
    case Blame::machine:
        return TextWords::tr("machine");
    }
    return {};
}

QString blameTitle(const CaptureVerdict& verdict)
{
    if (!verdict.kind.empty() && (isHealthy(verdict) || verdict.role == Role::noOutput)) {
        return sentenceCase(qstr(verdict.kind));
    }
    const QString title = sentenceCase(blameWord(verdict.blame));
    return verdict.marginal ? TextWords::tr("%1, marginal").arg(title) : title;
}

QString identificationSentence(const Identification& identification)
{
    if (identification.matchesNone) {
        return TextWords::tr("matches no known variant");
    }
    if (identification.names.empty()) {
        return TextWords::tr("variant not known");
    }
    const QStringList names = qstrs(identification.names);
    constexpr qsizetype mostNames = 3;
    QString list = names.size() > mostNames ? TextWords::tr("any of %1 variants").arg(names.size())
                                            : names.join(TextWords::tr(" or "));
    if (!identification.fit) {
        return list;
    }
    if (!identification.runnerUp) {
        return TextWords::tr("%1 (off by %2)").arg(list, percent(*identification.fit));
    }
    return TextWords::tr("%1 (off by %2, next %3)")
        .arg(list, percent(*identification.fit), percent(*identification.runnerUp));
}

QString outcomeWord(Outcome outcome)
{
    switch (outcome) {
    case Outcome::finite:
        return TextWords::tr("finite");
    case Outcome::degenerate:
        return TextWords::tr("degenerate");
    case Outcome::zero:
        return TextWords::tr("all zero");
    case Outcome::inf:
        return TextWords::tr("Inf");
    case Outcome::nan:
        return TextWords::tr("NaN");
    }
    return {};
}

QString opLabel(const NonFinite& where)
{
    const QString op = qstr(name(where.op));
    return where.iteration > 0 ? TextWords::tr("step %1 %2").arg(where.iteration).arg(op) : op;
}

QString classWord(ValueClass value)
{
    switch (value) {
    case ValueClass::normal:
        return TextWords::tr("normal");
    case ValueClass::zero:
        return TextWords::tr("zero");
    case ValueClass::subnormal:
        return TextWords::tr("subnormal");
    case ValueClass::nan:
        return QStringLiteral("NaN");
    case ValueClass::posInf:
        return QStringLiteral("+Inf");
    case ValueClass::negInf:
        return QStringLiteral("−Inf");
    }
    return {};
}

QString overridesText(std::optional<double> epsilon, std::optional<int> steps)
{
    QStringList parts;
    if (epsilon) {
        parts << TextWords::tr("epsilon %1").arg(exactNumber(*epsilon));
    }
    if (steps) {
        parts << (*steps == 1 ? TextWords::tr("1 step") : TextWords::tr("%1 steps").arg(*steps));
    }
    return parts.join(QStringLiteral(" · "));
}

QString exactNumber(double value)
{
    if (std::isnan(value)) {
        return classWord(ValueClass::nan);
    }
    if (std::isinf(value)) {
        return classWord(value > 0 ? ValueClass::posInf : ValueClass::negInf);
    }
    std::array<char, 40> buffer {};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
    return QString::fromLatin1(buffer.data(), end - buffer.data());
}

QString roundNumber(double value, int digits)
{
    return std::isfinite(value) ? QString::number(value, 'g', digits) : exactNumber(value);
}

QString negativeSlackText(double slackPercent)
{
    const double over = 100 * (1 / (1 + slackPercent / 100) - 1);
    return TextWords::tr("below zero: ‖X‖₂ exceeds by %1 % the bound up to which the schedule converges, and may grow "
                         "without end from there")
        .arg(roundNumber(over, 2));
}

QString countLabel(std::int64_t count)
{
    return QLocale().toString(static_cast<qlonglong>(count));
}

QString sizeLabel(std::int64_t bytes)
{
    return QLocale().formattedDataSize(bytes, 1, QLocale::DataSizeSIFormat);
}

QString durationLabel(double seconds)
{
    const auto whole = static_cast<std::int64_t>(std::max(1.0, std::ceil(seconds)));
    if (whole < 90) {
        return TextWords::tr("%1 s").arg(whole);
    }
    const std::int64_t minutes = (whole + 30) / 60;
    if (minutes < 90) {
        return TextWords::tr("%1 min").arg(minutes);
    }
    return TextWords::tr("%1 h %2 min").arg(minutes / 60).arg(minutes % 60);
}

QString unbroken(const QString& text)
{
    return QString(text).replace(QLatin1Char(' '), QChar(QChar::Nbsp));
}

QString sentenceCase(QString text)
{
    static const QRegularExpression plainWord(QStringLiteral("^[[:lower:]][[:alpha:]'-]*(?=[\\s,;:]|$)"));
    if (plainWord.match(text).hasMatch()) {
        text[0] = text[0].toUpper();
    }
    return text;
}

QString plainTip(const QString& text)
{
    return Qt::mightBeRichText(text)
        ? QStringLiteral("<p style='white-space:pre-wrap'>%1</p>").arg(text.toHtmlEscaped())
        : text;
}

QString shortPath(const QString& path)
{
    const QString home = QDir::homePath();
    const QString shown = path.startsWith(home + QLatin1Char('/')) ? QLatin1Char('~') + path.mid(home.size()) : path;
    return qstr(shown.toStdString());
}

QString indexLabel(const std::vector<std::int64_t>& index)
{
    QStringList parts;
    for (const std::int64_t i : index) {
        parts << QString::number(i);
    }
    return parts.join(QStringLiteral(", "));
}

} // namespace nanscope
