// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPointer>
#include <QScrollArea>

class QVBoxLayout;

namespace nanscope {

/// Parts below each other that take the height their width asks for. Where that is more than there is, those that can
/// give lines away do; where even the least of each does not fit, they scroll instead of lying over each other.
class PartsScroll : public QScrollArea
{
    Q_OBJECT

public:
    explicit PartsScroll(QWidget* parent = nullptr);

    QVBoxLayout* parts() const { return m_parts; }
    /// The least of every part, at this width.
    int leastHeight() const;
    /// So high nothing scrolls, so that no scroll bar takes width.
    int heightOfAll() const;
    /// Scrolls to this part, or the first `most` pixels of it, again when sizes change, until the user scrolls; none
    /// lets go of it. Its top comes first.
    void keepInSight(QWidget* part, int most = QWIDGETSIZE_MAX);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    bool eventFilter(QObject* object, QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    int leastHeightAt(int width) const;
    void fit();
    void showKept();

    QVBoxLayout* m_parts;
    QPointer<QWidget> m_kept; ///< in sight
    int m_keptHeight = QWIDGETSIZE_MAX; ///< so much of it
    int m_keptFrom = 0; ///< what was scrolled to before
};

} // namespace nanscope
