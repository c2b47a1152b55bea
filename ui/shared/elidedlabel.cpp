// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shared/elidedlabel.h"

#include <algorithm>
#include <utility>

#include <QRegularExpression>
#include <QTextLayout>

#include "ui/shared/text.h"

namespace nanscope {

QString elidedLines(const QString& text, const QFont& font, int width, int lines, Qt::TextElideMode mode)
{
    QTextLayout layout(text, font);
    // A number may be longer than the line.
    QTextOption option;
    option.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
    layout.setTextOption(option);
    layout.beginLayout();
    QStringList shown;
    qsizetype taken = 0;
    while (shown.size() + 1 < lines) {
        QTextLine line = layout.createLine();
        if (!line.isValid()) {
            break;
        }
        line.setLineWidth(width);
        shown << text.mid(taken, line.textLength()).trimmed();
        taken += line.textLength();
    }
    layout.endLayout();
    if (taken < text.size()) {
        shown << QFontMetrics(font).elidedText(text.mid(taken), mode, width);
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
    return {fontMetrics().horizontalAdvance(QLatin1Char('m')) * 3, heightOfLines()};
}

QSize ElidedLabel::sizeHint() const
{
    return {fontMetrics().horizontalAdvance(m_text) + 2, heightOfLines()};
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
    if (m_most == m_least || width() <= 0) {
        return;
    }
    const QRect room(0, 0, width(), (m_most + 1) * fontMetrics().lineSpacing());
    const int height = fontMetrics().boundingRect(room, Qt::TextWordWrap, m_text).height();
    const int lines = std::clamp(height / fontMetrics().lineSpacing(), m_least, m_most);
    if (std::exchange(m_lines, lines) != lines) {
        updateGeometry();
    }
}

void ElidedLabel::elide()
{
    fit();
    static const QRegularExpression breaks(QStringLiteral("\\s"));
    const QString shown = elidedLines(m_text, font(), width(), m_lines, m_mode);
    setText(shown);
    setToolTip(QString(shown).remove(breaks) == QString(m_text).remove(breaks) ? QString() : plainTip(m_text));
}

} // namespace nanscope
