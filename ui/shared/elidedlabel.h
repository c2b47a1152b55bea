// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLabel>

namespace nanscope {

/// At most so many lines of this width: whole words in each but the last, which takes what is left and may end in "…".
QString elidedLines(
    const QString& text, const QFont& font, int width, int lines, Qt::TextElideMode mode = Qt::ElideRight);

/// One line, or a few, that end in "…" instead of being cut; the whole text is in its tool tip then.
class ElidedLabel : public QLabel
{
    Q_OBJECT

public:
    explicit ElidedLabel(QWidget* parent = nullptr, Qt::TextElideMode mode = Qt::ElideRight);

    void setFullText(const QString& text);
    QString fullText() const { return m_text; }
    /// What its tool tip says besides.
    void setDetails(const QString& details);
    /// So many lines it is high, whatever it says; 1 unless told. Where the text takes more at its width, up to `most`.
    void setLines(int lines, int most = 0);
    int lines() const { return m_lines; }
    QSize minimumSizeHint() const override;
    QSize sizeHint() const override;

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void elide();
    void fit();
    int heightOfLines() const;

    QString m_text;
    QString m_details;
    int m_lines = 1; ///< it is high
    int m_least = 1;
    int m_most = 1;
    Qt::TextElideMode m_mode;
};

} // namespace nanscope
