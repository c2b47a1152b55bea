// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/film/filmpane.h"

#include <algorithm>
#include <utility>

#include <QComboBox>
#include <QHBoxLayout>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSlider>
#include <QSpinBox>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/film/filmstrip.h"
#include "ui/film/plantdialog.h"
#include "ui/heatmap/heatlegend.h"
#include "ui/shared/copying.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

constexpr int askForCell = -1; // data of the box's last entry

} // namespace

QString cellLabel(const Cell& cell, const replay::CellRequest& request)
{
    const QString arithmetic = cell.native ? QString() : FilmPane::tr(" emulated");
    const QString overrides = overridesText(request);
    return QStringLiteral("%1 · %2%3 · %4%5 · %6")
        .arg(qstr(cell.variant), qstr(name(cell.precision)), arithmetic, qstr(name(cell.lowering)),
            overrides.isEmpty() ? overrides : QStringLiteral(" · ") + overrides, qstr(cell.environment.engine));
}

FilmPane::FilmPane(HeatView* view, QWidget* parent)
    : PaneFrame(tr("Film strip"), parent)
    , m_strip(new FilmStrip(view, this))
    , m_slider(new QSlider(Qt::Horizontal, this))
    , m_letter(new QLabel(this))
    , m_mode(new QComboBox(this))
    , m_plant(new QPushButton(this))
    , m_batch(new QSpinBox(this))
    , m_batchLabel(new QLabel(tr("matrix"), this))
    , m_simulated(new QLabel(this))
    , m_offer(new QToolButton(this))
{
    m_mode->addItem(tr("Values"), static_cast<int>(FilmMode::values));
    m_mode->addItem(tr("Difference to fp64"), static_cast<int>(FilmMode::againstFp64));
    m_mode->addItem(tr("Difference to the captured output"), static_cast<int>(FilmMode::againstOutput));
    m_mode->addItem(tr("Difference to another cell…"), askForCell);
    m_mode->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_mode->setMinimumContentsLength(13);
    setNoteLines(2);
    m_letter->setObjectName(QStringLiteral("paneTitle"));
    header()->insertWidget(0, m_letter);
    setLetter({});
    m_mode->setAccessibleName(tr("What the frames show"));
    m_mode->setToolTip(tr("A difference is replayed when you ask for it; equal values are zero, and what is not finite "
                          "on one side only stays so"));
    header()->addWidget(m_mode);
    header()->addWidget(m_plant);
    showPlant({});
    m_batch->setAccessibleName(tr("Matrix of the batch"));
    m_batchLabel->setBuddy(m_batch);
    header()->addWidget(m_batchLabel);
    header()->addWidget(m_batch);
    m_slider->setAccessibleName(tr("Frame"));
    m_slider->setToolTip(
        tr("Frames in the order they were computed; arrow keys in the strip move by step and op, B goes to the birth"));
    m_slider->setPageStep(1);
    auto* inner = new QVBoxLayout;
    inner->setContentsMargins(grid(3), 0, grid(3), grid(2));
    inner->setSpacing(grid(1));
    m_simulated->setObjectName(QStringLiteral("question"));
    m_simulated->setWordWrap(true);
    inner->addWidget(m_simulated);
    inner->addWidget(m_strip, 1);
    inner->addWidget(m_offer, 0, Qt::AlignHCenter);
    inner->addWidget(m_slider);
    body()->addLayout(inner, 1);
    connect(m_strip, &FilmStrip::currentChanged, this, &FilmPane::onCurrent);
    connect(m_slider, &QSlider::valueChanged, m_strip, &FilmStrip::setCurrent);
    connect(m_mode, &QComboBox::currentIndexChanged, this, &FilmPane::onMode);
    connect(m_batch, &QSpinBox::valueChanged, this, [this](int number) { Q_EMIT batchRequested(number - 1); });
    connect(m_strip, &FilmStrip::plantRequested, this, &FilmPane::plantWanted);
    connect(m_plant, &QPushButton::clicked, this, [this] {
        if (m_planted) {
            Q_EMIT plantUnwanted();
        } else {
            Q_EMIT plantWanted();
        }
    });
    makeCopyable(*m_strip,
        {tr("Film strip"), [this] { return m_strip->table(); }, [this] { return m_strip->picture(); },
            [this] { return caption(); }});
    setFilm(nullptr);
}

PictureCaption FilmPane::caption() const
{
    const Film* film = m_strip->film();
    const QString subject = film ? qstr(film->cell.capture) : QString();
    return {tr("Film strip"), note(),
        tr("one scale a row; framed: the birth") + QStringLiteral(" · ") + classLegendText(), subject};
}

void FilmPane::setFilm(std::shared_ptr<const Film> film)
{
    const int frames = film ? static_cast<int>(film->frames.size()) : 0;
    {
        const QSignalBlocker quietly(m_slider);
        m_slider->setRange(0, std::max(0, frames - 1));
        m_slider->setEnabled(frames > 1);
    }
    m_plant->setEnabled(m_planted || (film && !film->request.capture.empty()));
    const bool several = film && film->batches > 1;
    {
        const QSignalBlocker quietly(m_batch);
        m_batch->setRange(1, several ? film->batches : 1);
        m_batch->setValue(film ? film->batch + 1 : 1);
        m_batch->setSuffix(several ? tr(" of %1").arg(film->batches) : QString());
    }
    m_batch->setVisible(several);
    m_batchLabel->setVisible(several);
    m_strip->setFilm(std::move(film));
    setOffered(false);
    updateNote();
}

void FilmPane::setPlausible(std::vector<std::string> variants)
{
    m_plausible = std::move(variants);
    updateNote();
}

void FilmPane::offer(QAction* action)
{
    m_offer->setDefaultAction(action);
    showOffer();
}

void FilmPane::setOffered(bool offered)
{
    m_offered = offered;
    showOffer();
}

void FilmPane::showOffer()
{
    m_offer->setVisible(m_offered && m_offer->defaultAction());
}

void FilmPane::onMode()
{
    if (m_mode->currentData().toInt() == askForCell) {
        const QSignalBlocker quietly(m_mode);
        m_mode->setCurrentIndex(m_lastMode);
        Q_EMIT otherWanted();
        return;
    }
    m_lastMode = m_mode->currentIndex();
    m_mode->setToolTip(m_mode->currentText());
    Q_EMIT modeChanged(static_cast<FilmMode>(m_mode->currentData().toInt()));
}

void FilmPane::setLetter(const QString& letter)
{
    m_letter->setText(letter);
    m_letter->setVisible(!letter.isEmpty());
}

void FilmPane::setSecond()
{
    setLetter(tr("B"));
    setAccessibleName(tr("Film strip of the second cell"));
    m_slider->hide();
    auto* choose = new QPushButton(tr("Cell…"), this);
    choose->setToolTip(tr("Which cell is shown beside the first"));
    auto* swap = new QPushButton(tr("Swap"), this);
    swap->setToolTip(tr("The first cell becomes the second and the reverse (X)"));
    header()->insertWidget(header()->indexOf(m_mode), choose);
    header()->insertWidget(header()->indexOf(m_mode), swap);
    connect(choose, &QPushButton::clicked, this, &FilmPane::cellWanted);
    connect(swap, &QPushButton::clicked, this, &FilmPane::swapWanted);
}

/// The entry of the box for this cell, which there is one of.
void FilmPane::offerOther(const replay::CellRequest& other)
{
    m_other = other;
    int at = m_mode->findData(static_cast<int>(FilmMode::againstCell));
    if (at < 0) {
        at = m_mode->count() - 1;
        m_mode->insertItem(at, {}, static_cast<int>(FilmMode::againstCell));
    }
    m_mode->setItemText(at, tr("Minus %1").arg(cellName(other)));
}

void FilmPane::showMode(FilmMode mode, const replay::CellRequest& other)
{
    const QSignalBlocker quietly(m_mode);
    if (mode == FilmMode::againstCell) {
        offerOther(other);
    }
    m_mode->setCurrentIndex(m_mode->findData(static_cast<int>(mode)));
    m_mode->setToolTip(m_mode->currentText());
    m_lastMode = m_mode->currentIndex();
}

void FilmPane::setOther(const replay::CellRequest& other)
{
    const QSignalBlocker quietly(m_mode);
    offerOther(other);
    m_mode->setCurrentIndex(m_mode->findData(static_cast<int>(FilmMode::againstCell)));
    onMode();
}

void FilmPane::showPlant(const std::optional<replay::PlantedFault>& plant)
{
    m_planted = plant.has_value();
    m_simulated->setVisible(m_planted);
    m_simulated->setText(m_planted
            ? tr("Simulated: %1. Whether the captured call did this is not known.").arg(plantText(*plant))
            : QString());
    m_plant->setText(m_planted ? tr("Remove fault") : tr("Plant fault…"));
    m_plant->setToolTip(m_planted
            ? tr("Replay without %1").arg(plantText(*plant))
            : tr("What if this had gone bad? Replays with one tile of one op replaced, to see how it spreads (F)"));
    m_plant->setEnabled(m_planted || (m_strip->film() && !m_strip->film()->request.capture.empty()));
}

void FilmPane::forgetOther()
{
    const int at = m_mode->findData(static_cast<int>(FilmMode::againstCell));
    if (at < 0) {
        return;
    }
    const bool chosen = m_mode->currentIndex() == at;
    const QSignalBlocker quietly(m_mode);
    m_mode->removeItem(at);
    if (chosen) {
        m_mode->setCurrentIndex(0);
        onMode();
    }
}

void FilmPane::goToIteration(int iteration)
{
    const FilmGrid& places = m_strip->frameGrid();
    const int current = m_strip->current();
    if (current >= 0) {
        const int row = places.places[static_cast<std::size_t>(current)].row;
        const int frame = places.frameNear(iteration, row);
        m_strip->setCurrent(frame >= 0 ? frame : current);
    }
}

void FilmPane::showMessage(const QString& message)
{
    setFilm(nullptr);
    m_strip->setMessage(message);
}

/// Where both sides are not finite in the same way their difference is 0.
QString FilmPane::endNote(const Scan& difference)
{
    const auto elsewhere = difference.nonFinite();
    return elsewhere == 0 ? tr(" · ends like the dump: the same elements are not finite")
                          : tr(" · does not end like the dump: %1 elements differ").arg(countLabel(elsewhere));
}

QString FilmPane::differenceNote(const Film& film) const
{
    QString note;
    if (film.mode == FilmMode::againstCell) {
        note += tr(" minus %1").arg(cellName(film.request.against.cell));
    }
    if (film.mode == FilmMode::againstOutput && film.request.plant) {
        return note + endNote(lastReplayed(film).picture->scan);
    }
    if (const auto& last = lastReplayed(film).distance) {
        note += tr(" · relative difference at the end %1").arg(roundNumber(*last));
    }
    if (film.mode == FilmMode::againstCell && film.uncompared > 0) {
        const int all = film.uncompared + static_cast<int>(film.frames.size());
        note += tr(" · %1 of %2 ops are in both in the same size").arg(film.frames.size()).arg(all);
    }
    return note;
}

void FilmPane::updateNote()
{
    const Film* film = m_strip->film();
    if (!film) {
        setNote({});
        return;
    }
    const auto& plant = film->request.plant;
    QString note = cellLabel(film->cell, film->request.cell);
    if (film->mode != FilmMode::values) {
        note += differenceNote(*film);
    } else if (film->birth >= 0) {
        note = tr("birth: %1 · %2").arg(frameLabel(film->frames[static_cast<std::size_t>(film->birth)]), note);
    } else if (film->firstNonFinite >= 0) {
        note = tr("the input was not finite · %1").arg(note);
    } else {
        note = tr("finite throughout · %1").arg(note);
    }
    if (plant) {
        note = tr("%1 · %2").arg(plantText(*plant), note);
    }
    if (m_plausible.size() > 1 && std::ranges::count(m_plausible, film->cell.variant) > 0) {
        note += tr(" · one of %1 that may have run").arg(m_plausible.size());
    }
    setNote(note, memoryNote(*film));
}

QString FilmPane::memoryNote(const Film& film)
{
    // Extremes and classes of each tile, and its number where it is one element.
    constexpr std::int64_t mostOfOne = std::int64_t {maxTiles} * maxTiles * (4 * sizeof(float) + 1);
    return tr("The window holds %1 of this film: of a replayed matrix %2 at most, whatever its size. Exact values are "
              "replayed part by part; the replay process keeps the last two replays, as long as they take no more than "
              "%3 together, else the last one alone.")
        .arg(sizeLabel(bytesOf(film)), sizeLabel(mostOfOne), sizeLabel(replay::maxKeptReplayBytes));
}

void FilmPane::onCurrent(int frame)
{
    const QSignalBlocker quietly(m_slider);
    m_slider->setValue(std::max(0, frame));
    Q_EMIT frameChanged(frame);
}

} // namespace nanscope
