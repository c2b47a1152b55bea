// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/finding.h"
#include "core/model/model.h"
#include "ui/shared/rowmodel.h"

namespace nanscope {

/// The checkpoints of a run with what speaks for and against each, newest first.
class CheckpointModel : public RowModel<CheckpointAdvice>
{
    Q_OBJECT

public:
    enum Column { step, status, reason, proof, path };

    explicit CheckpointModel(QObject* parent = nullptr);

    void setRollback(const Rollback& rollback);
    /// Row of the one to go back to, or -1.
    int recommendedRow() const { return m_recommended; }
    int safeCount() const;

private:
    int m_recommended = -1;
};

QString checkpointWord(CheckpointStatus status);

} // namespace nanscope
