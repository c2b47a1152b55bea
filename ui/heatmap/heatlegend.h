// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include <QWidget>

#include "core/model/model.h"

#include "ui/heatmap/colormap.h"

namespace nanscope {

/// The legends below as rich text, for a picture that leaves the window.
QString classLegendText();
QString heatLegendText(const LogScale& scale);

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
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void updateAccessibleText();

    LogScale m_scale;
    QString m_note;
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
