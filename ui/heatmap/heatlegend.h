// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include <QWidget>

#include "core/model/model.h"
#include "ui/heatmap/heatrender.h"

namespace nanscope {

/// The legends below as rich text, for a picture that leaves the window.
QString classLegendText();
QString heatLegendText(const LogScale& scale);

/// What the colour of a pixel stands for where it has to do for several elements.
QString coverText(const PixelCover& cover);

/// Gradient of one heat map with the ends of its scale.
class ScaleBar : public QWidget
{
    Q_OBJECT

public:
    explicit ScaleBar(QWidget* parent = nullptr);
    void setScale(const LogScale& scale);
    /// What else is to be known of it, after its upper end.
    void setNote(const QString& note);
    QString note() const { return m_note; }
    /// Of the map: where a pixel has to do for several elements, it is said beside the bar.
    void setCover(const PixelCover& cover);
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void updateTexts();
    QString remarks() const;

    LogScale m_scale;
    QString m_note;
    PixelCover m_cover;
};

/// The colours and marks outside the map: NaN, +Inf, −Inf, zero, and the frame of the birth. Breaks into lines where it
/// is narrow.
class ClassLegend : public QWidget
{
    Q_OBJECT

public:
    explicit ClassLegend(QWidget* parent = nullptr);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;

protected:
    void resizeEvent(QResizeEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    struct Entry
    {
        QString text;
        std::optional<ValueClass> value; ///< none for the frame
    };

    static std::vector<Entry> entries();
    int widthOf(const Entry& entry) const;
    int lineHeight() const;
    /// Top left corner of each entry.
    std::vector<QPoint> places(int width) const;
};

} // namespace nanscope
