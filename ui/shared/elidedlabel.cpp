// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shared/elidedlabel.h"

#include <algorithm>
#include <utility>

#include <QRegularExpression>

#include "ui/shared/text.h"

namespace nanscope {

namespace {

bool endsLine(QChar one)
{
    return one == QLatin1Char('\n') || one == QChar::LineSeparator;
}

/// Behind what fits into a line from a place on, spaces included; the place itself where the first word is too long.
qsizetype endOfLine(const QString& text, qsizetype from, const QFontMetrics& metrics, int width)
{
    qsizetype fits = from;
    for (qsizetype i = from; i <= text.size(); ++i) {
        const bool ends = i == text.size() || endsLine(text[i]);
        if (!ends && text[i] != QLatin1Char(' ')) {
            continue;
        }
        if (metrics.horizontalAdvance(text.mid(from, i - from)) > width) {
            return fits;
        }
        fits = std::min(i + 1, text.size());
        if (ends) {
            return fits;
        }
    }
    return fits;
}

} // namespace

// QTextLayout would break a number at its point, and two halves read as two numbers.
QString elidedLines(const QString& text, const QFont& font, int width, int lines, Qt::TextElideMode mode)
{
    const QFontMetrics metrics(font);
    QStringList shown;
    qsizetype taken = 0;
    while (shown.size() + 1 < lines && taken < text.size()) {
        const qsizetype end = endOfLine(text, taken, metrics, width);
        if (end == taken) {
            break;
        }
        shown << text.mid(taken, end - taken).trimmed();
        taken = end;
    }
    if (taken < text.size()) {
        shown << metrics.elidedText(text.mid(taken), mode, width);
    }
    return shown.join(QLatin1Char('\n'));
}

ElidedLabel::ElidedLabel(QWidget* parent, Qt::TextElideMode mode)
    : QLabel(parent)
    , m_mode(mode)
{
    setTextFormat(Qt::PlainText);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

void ElidedLabel::setFullText(const QString& text)
{
    m_text = text;
    setAccessibleName(text);
    updateGeometry();
    elide();
}

void ElidedLabel::setDetails(const QString& details)
{
    m_details = details;
    elide();
}

void ElidedLabel::setLines(int lines, int most)
{
    if (m_least == lines && m_most == std::max(lines, most)) {
        return;
    }
    m_least = m_lines = lines;
    m_most = std::max(lines, most);
    setAlignment(m_most > 1 ? Qt::AlignLeft | Qt::AlignTop : Qt::AlignLeft | Qt::AlignVCenter);
    updateGeometry();
    elide();
}

QSize ElidedLabel::minimumSizeHint() const
{
    const QMargins around = contentsMargins();
    const int least = fontMetrics().horizontalAdvance(QLatin1Char('m')) * 3 + around.left() + around.right();
    return {std::min(least, sizeHint().width()), heightOfLines()};
}

QSize ElidedLabel::sizeHint() const
{
    const QMargins around = contentsMargins(); // of a style sheet, too
    return {fontMetrics().horizontalAdvance(m_text) + 2 + around.left() + around.right(), heightOfLines()};
}

/// With the padding that a style sheet gives the label.
int ElidedLabel::heightOfLines() const
{
    return std::max(m_lines * fontMetrics().height(), QLabel::sizeHint().height());
}

void ElidedLabel::resizeEvent(QResizeEvent* event)
{
    QLabel::resizeEvent(event);
    elide();
}

/// As many lines as the text takes at this width.
void ElidedLabel::fit()
{
    if (m_most == m_least || contentsRect().width() <= 0) {
        return;
    }
    const QString shown = elidedLines(m_text, font(), contentsRect().width(), m_most, m_mode);
    const int lines = std::clamp(static_cast<int>(shown.count(QLatin1Char('\n'))) + 1, m_least, m_most);
    if (std::exchange(m_lines, lines) != lines) {
        updateGeometry();
    }
}

void ElidedLabel::elide()
{
    fit();
    static const QRegularExpression breaks(QStringLiteral("\\s"));
    const QString shown = elidedLines(m_text, font(), contentsRect().width(), m_lines, m_mode);
    setText(shown);
    const bool whole = QString(shown).remove(breaks) == QString(m_text).remove(breaks);
    QStringList tip {whole ? QString() : m_text, m_details};
    tip.removeAll(QString());
    setToolTip(tip.isEmpty() ? QString() : plainTip(tip.join(QLatin1Char('\n'))));
}

} // namespace nanscope
