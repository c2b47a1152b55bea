// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shared/elidedlabel.h"

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

void ElidedLabel::setLines(int lines)
{
    if (m_lines == lines) {
        return;
    }
    m_lines = lines;
    setAlignment(lines > 1 ? Qt::AlignLeft | Qt::AlignTop : Qt::AlignLeft | Qt::AlignVCenter);
    updateGeometry();
    elide();
}

QSize ElidedLabel::minimumSizeHint() const
{
    return {fontMetrics().horizontalAdvance(QLatin1Char('m')) * 3, m_lines * fontMetrics().height()};
}

QSize ElidedLabel::sizeHint() const
{
    return {fontMetrics().horizontalAdvance(m_text) + 2, m_lines * fontMetrics().height()};
}

void ElidedLabel::resizeEvent(QResizeEvent* event)
{
    QLabel::resizeEvent(event);
    elide();
}

void ElidedLabel::elide()
{
    static const QRegularExpression breaks(QStringLiteral("\\s"));
    const QString shown = elidedLines(m_text, font(), width(), m_lines, m_mode);
    setText(shown);
    setToolTip(QString(shown).remove(breaks) == QString(m_text).remove(breaks) ? QString() : plainTip(m_text));
}

} // namespace nanscope
