// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>

#include <QWidget>

#include "ui/heatmap/matrixpicture.h"
#include "ui/shared/elidedlabel.h"

class QSpinBox;

namespace nanscope {

class HeatMap;
class HeatView;

/// What was captured, as one sees it first: the output large, the input small beside it. Both move together, and show
/// the exact values under the cursor.
class TensorsPane : public QWidget
{
    Q_OBJECT

public:
    explicit TensorsPane(QWidget* parent = nullptr);

    void setCapture(const Capture* capture);
    void setPictures(const TensorPictures& pictures);
    void showMessage(const QString& message);
    /// Framed in the output, and hinted at in the input.
    void setDamage(const std::optional<DamagePattern>& damage);

    HeatMap* inputMap() { return m_input.map; }
    HeatMap* outputMap() { return m_output.map; }
    HeatView* view() { return m_view; }
    /// What stands below the output: its facts, or the value under the cursor.
    QString outputCaption() const { return m_output.caption->fullText(); }

    QSize minimumSizeHint() const override;

Q_SIGNALS:
    void batchRequested(std::int64_t batch);
    /// Both values under the cursor in one line; empty without a cursor.
    void readoutChanged(const QString& text);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    struct Side
    {
        QString name;
        QWidget* box = nullptr; ///< holds the two below
        HeatMap* map = nullptr;
        ElidedLabel* caption = nullptr; ///< facts, or the value under the cursor
        QString facts;
    };

    Side buildSide(const QString& name);
    void setSide(Side& side, const std::shared_ptr<const MatrixPicture>& picture, const QString& missing);
    QString factsOf(const Side& side, const MatrixPicture& picture) const;
    QString damagePlace() const;
    QString valueText(const Side& side) const;
    void fitInput();
    void updateFacts();
    void updateReadout();

    HeatView* m_view;
    Side m_output;
    Side m_input;
    std::optional<DamagePattern> m_damage;
    QString m_file; ///< capture the view belongs to
    QString m_note; ///< shape, epsilon and name of the capture, above a picture that is saved
    QSpinBox* m_batch;
    QLabel* m_batchLabel;
};

} // namespace nanscope
