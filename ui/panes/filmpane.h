// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include "ui/panes/paneframe.h"
#include "ui/plots/film.h"

class QComboBox;
class QLabel;
class QSlider;
class QSpinBox;

namespace nanscope {

class FilmStrip;
class HeatView;

/// The replay of one cell, op by op: the strip, a slider over its frames and the matrix of the batch.
class FilmPane : public PaneFrame
{
    Q_OBJECT

public:
    explicit FilmPane(HeatView* view, QWidget* parent = nullptr);

    void setFilm(std::shared_ptr<const Film> film);
    /// Instead of a film: why there is none.
    void showMessage(const QString& message);

    /// Keeps the op where the step has it.
    void goToIteration(int iteration);

    FilmStrip* strip() { return m_strip; }
    QSlider* slider() { return m_slider; }
    QComboBox* modeBox() { return m_mode; }

Q_SIGNALS:
    void frameChanged(int frame);
    void batchRequested(int batch);
    void modeChanged(nanscope::FilmMode mode);

private:
    void onCurrent(int frame);
    void updateNote();

    FilmStrip* m_strip;
    QSlider* m_slider;
    QComboBox* m_mode;
    QSpinBox* m_batch;
    QLabel* m_batchLabel;
};

/// "gns-gram · fp16 · fused · torch 2.11.0".
QString cellLabel(const Cell& cell);

} // namespace nanscope
