// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

#include <QDialog>
#include <QStringList>

#include "core/model/model.h"
#include "core/replay/variants/catalogue.h"
#include "ui/sweep/cellgridmodel.h"
#include "ui/sweep/sweepchoice.h"

class QCheckBox;
class QLabel;
class QLineEdit;
class QListWidget;
class QPushButton;
class QSpinBox;

namespace nanscope {

/// Asks what the next sweep replays: what the command line's sweep takes as options.
class SweepOptions : public QDialog
{
    Q_OBJECT

public:
    struct Usual
    {
        QStringList variants; ///< all there are, those that may have run first
        int identified = 0;
        QStringList swept; ///< those of them that a sweep looks at of itself
        std::optional<double> epsilon; ///< of the capture
    };

    SweepOptions(Usual usual, const SweepChoice& chosen, const replay::Catalogue& catalogue, QWidget* parent = nullptr);

    /// Nothing in it that is as usual anyway.
    SweepChoice chosen() const;
    /// Why it cannot be chosen; empty where it can.
    QString problem() const;

    QListWidget* variants() { return m_variants; }
    QCheckBox* precisionBox(Precision precision);
    QCheckBox* loweringBox(Lowering lowering);
    QLineEdit* epsilonField() { return m_epsilon; }
    QSpinBox* stepsBox() { return m_steps; }

private:
    QWidget* buildVariants();
    QWidget* buildChecks(const QList<QCheckBox*>& boxes);
    void fill(const SweepChoice& choice);
    void tickVariants(const QStringList& names);
    QStringList tickedVariants() const;
    QStringList refusals() const;
    std::optional<double> epsilon() const;
    std::optional<int> steps() const;
    void check();

    Usual m_usual;
    replay::Catalogue m_catalogue;
    QListWidget* m_variants;
    QList<QCheckBox*> m_precisions; ///< as sweepPrecisions()
    QList<QCheckBox*> m_lowerings; ///< eager, fused
    QLineEdit* m_epsilon;
    QSpinBox* m_steps;
    QLabel* m_problem;
    QPushButton* m_choose;
};

} // namespace nanscope
