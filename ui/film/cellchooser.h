// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <vector>

#include <QDialog>

#include "core/replay/engine/capturecells.h"

class QComboBox;
class QListWidget;

namespace nanscope {

/// Asks for a cell of the capture: one that was swept, or any variant, precision and lowering, which is replayed then.
class CellChooser : public QDialog
{
    Q_OBJECT

public:
    /// `stored` oldest first; of cells that differ in nothing that is asked for, the newest is offered. `requestOf`
    /// asks for one again.
    CellChooser(const QString& title, const std::vector<const Cell*>& stored,
        const std::function<replay::CellRequest(const Cell&)>& requestOf, const QStringList& variants,
        QWidget* parent = nullptr);

    void choose(const replay::CellRequest& cell);
    /// With the epsilon and the device of the stored cell, where it is one.
    replay::CellRequest chosen() const;

    QListWidget* list() { return m_list; }
    QComboBox* variantBox() { return m_variant; }
    QComboBox* precisionBox() { return m_precision; }
    QComboBox* loweringBox() { return m_lowering; }

private:
    void fillList(
        const std::vector<const Cell*>& stored, const std::function<replay::CellRequest(const Cell&)>& requestOf);
    void fillBoxes(const QStringList& variants);
    void onListed(int row);
    void onBox();
    replay::CellRequest ofBoxes() const;
    int rowOf(const replay::CellRequest& cell) const;

    std::vector<replay::CellRequest> m_stored; ///< as listed
    QListWidget* m_list;
    QComboBox* m_variant;
    QComboBox* m_precision;
    QComboBox* m_lowering;
};

} // namespace nanscope
