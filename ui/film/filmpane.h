// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <QLabel>

#include "ui/film/film.h"
#include "ui/shared/paneframe.h"
#include "ui/shared/picture.h"

class QAction;
class QComboBox;
class QPushButton;
class QSlider;
class QSpinBox;
class QToolButton;

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

    /// The variants that may have run.
    void setPlausible(std::vector<std::string> variants);
    /// What may be offered below the message where there is no film.
    void offer(QAction* action);
    /// Until there is a film, or another message.
    void setOffered(bool offered);

    /// The film's name where two are shown, or nothing.
    void setLetter(const QString& letter);
    /// For the second of two films: it has buttons for its cell, and its frames follow the first one's slider.
    void setSecond();

    /// What the box says, without asking for it.
    void showMode(FilmMode mode, const replay::CellRequest& other);
    /// Chooses the difference to another cell; forgetting it goes back to values where it was chosen.
    void setOther(const replay::CellRequest& other);
    void forgetOther();
    const replay::CellRequest& other() const { return m_other; }

    /// What is said of a planted fault; empty without one.
    QString simulated() const { return m_simulated->isVisibleTo(this) ? m_simulated->text() : QString(); }
    /// The fault that is in the replay, whether or not there is a film of it.
    void showPlant(const std::optional<replay::PlantedFault>& plant);

    /// Keeps the op where the step has it.
    void goToIteration(int iteration);

    FilmStrip* strip() { return m_strip; }
    QSlider* slider() { return m_slider; }
    QComboBox* modeBox() { return m_mode; }
    QPushButton* plantButton() { return m_plant; }
    QToolButton* offered() { return m_offer; }

Q_SIGNALS:
    void frameChanged(int frame);
    void batchRequested(int batch);
    /// For FilmMode::againstCell, other() is the cell.
    void modeChanged(nanscope::FilmMode mode);
    /// The user wants to say which.
    void otherWanted();
    void cellWanted();
    /// The user wants to say what goes bad, or that nothing does.
    void plantWanted();
    void plantUnwanted();
    void swapWanted();

private:
    void onCurrent(int frame);
    void onMode();
    void updateNote();
    void showOffer();
    void offerOther(const replay::CellRequest& other);
    PictureCaption caption() const;
    static QString memoryNote(const Film& film);
    static QString endNote(const Scan& difference);
    QString differenceNote(const Film& film) const;

    FilmStrip* m_strip;
    QSlider* m_slider;
    QLabel* m_letter;
    QComboBox* m_mode;
    QPushButton* m_plant;
    bool m_planted = false;
    QSpinBox* m_batch;
    replay::CellRequest m_other;
    int m_lastMode = 0; ///< index in the box
    QLabel* m_batchLabel;
    QLabel* m_simulated; ///< that a fault is planted, in whatever width
    QToolButton* m_offer;
    bool m_offered = false;
    std::vector<std::string> m_plausible;
};

/// "gns-gram · fp16 · fused · torch 2.11.0", with what the request overrides.
QString cellLabel(const Cell& cell, const replay::CellRequest& request);

} // namespace nanscope
