// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "ui/heatmap/matrixpicture.h"
#include "ui/shared/paneframe.h"

class QLabel;
class QSpinBox;

namespace nanscope {

class HeatMap;
class HeatView;
class ScaleBar;

/// The detail: input and output side by side with one view, and the exact values under the cursor.
class TensorsPane : public PaneFrame
{
    Q_OBJECT

public:
    explicit TensorsPane(QWidget* parent = nullptr);

    void setCapture(const Capture* capture);
    void setPictures(const TensorPictures& pictures);
    void showMessage(const QString& message);
    void setDamage(const std::optional<DamagePattern>& damage);

    HeatMap* inputMap() { return m_sides[0].map; }
    HeatMap* outputMap() { return m_sides[1].map; }
    HeatView* view() { return m_view; }

Q_SIGNALS:
    void batchRequested(std::int64_t batch);
    /// Both values under the cursor in one line; empty without a cursor.
    void readoutChanged(const QString& text);

private:
    struct Side
    {
        QString name;
        ElidedLabel* caption = nullptr; ///< facts, or the value under the cursor
        QString facts;
        HeatMap* map = nullptr;
        ScaleBar* scale = nullptr;
    };

    QLayout* buildSide(Side& side, const QString& name);
    void setSide(Side& side, const std::shared_ptr<const MatrixPicture>& picture, const QString& missing);
    QString valueText(const Side& side) const;
    void updateReadout();
    void describe(const Side& side);

    HeatView* m_view;
    std::array<Side, 2> m_sides;
    QString m_file; ///< capture the view belongs to
    QSpinBox* m_batch;
    QLabel* m_batchLabel;
};

} // namespace nanscope
