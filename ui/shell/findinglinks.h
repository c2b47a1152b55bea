// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>

#include <QObject>

#include "ui/shell/panearea.h"

namespace nanscope::diagnose {
struct AnswerFact;
} // namespace nanscope::diagnose

namespace nanscope {

class Workspace;

/// The run's story in its panes: findings, where to go back to, and what other settings would have done.
class FindingLinks : public QObject
{
    Q_OBJECT

public:
    FindingLinks(const Panes& panes, Workspace& workspace, QObject* parent = nullptr);

Q_SIGNALS:
    void note(const QString& text); ///< short lived, for the status bar

private:
    void connectFindings();
    void connectWhatIf();
    void fill();
    void fillFindings();
    void showFact(const diagnose::AnswerFact& fact);

    Panes m_panes;
    Workspace& m_workspace;
    std::filesystem::path m_opened; ///< of what the what-ifs were asked
};

} // namespace nanscope
