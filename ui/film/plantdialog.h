// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include <QDialog>
#include <QPointF>

#include "core/model/capture.h"
#include "core/replay/engine/plant.h"
#include "ui/film/film.h"

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QListWidget;
class QSpinBox;

namespace nanscope::diagnose {
struct CandidateOrigins;
} // namespace nanscope::diagnose

namespace nanscope {

/// "NaN in 64 × 64 at [128, 64] of step 3 q".
QString plantText(const replay::PlantedFault& fault);

/// Asks which fault is put into a replay: after which op, in which tile, and what becomes of it.
class PlantDialog : public QDialog
{
    Q_OBJECT

public:
    /// Begins with the frame that is looked at, and the tile under the cursor there (in parts of the matrix).
    PlantDialog(const Film& film, int frame, const std::optional<QPointF>& cursor, QWidget* parent = nullptr);

    void choose(const replay::PlantedFault& fault);
    /// Places that end like the dump, to choose from.
    void setEndings(const diagnose::CandidateOrigins& endings);
    replay::PlantedFault fault() const;

    QComboBox* opBox() { return m_op; }
    QSpinBox* row() { return m_row; }
    QSpinBox* rows() { return m_rows; }
    QDoubleSpinBox* number() { return m_number; }
    QListWidget* endings() { return m_endings; }
    QLabel* endingsTitle() { return m_endingsTitle; }

private:
    struct Place
    {
        OpName op;
        int iteration;
        int rows;
        int cols;
    };

    void fillOps(const Film& film);
    void fillValues();
    void buildLayout();
    QLayout* buildTile();
    const Place& place() const;
    void onOp();
    void fitTile();
    void onEnding(int row);
    void update();

    std::vector<Place> m_places; ///< as in the box
    std::vector<replay::PlantedFault> m_faults; ///< as in the list of endings
    QComboBox* m_op;
    QSpinBox* m_row;
    QSpinBox* m_col;
    QSpinBox* m_rows;
    QSpinBox* m_cols;
    QComboBox* m_value;
    QDoubleSpinBox* m_number;
    QCheckBox* m_mirrored;
    QLabel* m_endingsTitle;
    QListWidget* m_endings;
    QLabel* m_text;
};

} // namespace nanscope
