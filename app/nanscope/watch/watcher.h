// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/nanscope/watch/runjudge.h"
#include "app/nanscope/watch/teller.h"
#include "core/platform/folderwatch.h"
#include "core/workflow/openrun.h"
#include "core/workflow/runnews.h"

namespace nanscope {

/// Follows the folder of a run, imports what is added into its session, and hands what is new to a teller.
class Watcher
{
public:
    /// With `all`, what is there already is told like what comes.
    Watcher(std::filesystem::path folder, std::filesystem::path session, bool all, Teller& teller);

    /// Until the teller has enough.
    Result<void> run();

private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds shortestRest {5};
    static constexpr std::chrono::seconds longestRest {60};

    /// When something that failed is tried again: soon at first, then ever more seldom.
    struct Try
    {
        Clock::time_point from; ///< before that it is not
        Clock::duration rest = shortestRest; ///< after it failed once more

        bool isDue() const { return Clock::now() >= from; }
        void putOff();
    };

    bool waitForFolder();
    Result<void> follow();
    bool wait(platform::FolderWatch& folder);
    std::optional<std::chrono::milliseconds> untilNextTry() const;
    void look();
    std::filesystem::path sessionPath() const;
    Result<workflow::OpenedRun> read();
    Result<workflow::OpenedRun> readBeside(const Error& why);
    bool isToBeKept(const workflow::OpenedRun& opened);
    workflow::RunNews::Found newsOf(const workflow::OpenedRun& opened);
    void sumUp(const workflow::OpenedRun& opened, const workflow::RunNews::Found& found);
    std::vector<CaptureVerdict> triaged(const workflow::OpenedRun& opened) const;
    void tell(const workflow::OpenedRun& opened, const workflow::RunNews::Found& found);
    void sayRejected(const RunData& run);

    std::filesystem::path m_folder;
    std::filesystem::path m_session;
    bool m_all;
    Teller& m_teller;
    workflow::RunNews m_news;
    bool m_first = true; ///< nothing was looked at yet
    bool m_restless = false; ///< something may become readable without a change: look again soon
    Try m_sessionTry; ///< to use it
    Try m_storeTry; ///< to store a diagnosis that is in no session
    /// A file that cannot be used, for one reason.
    struct Rejected
    {
        Clock::time_point since; ///< that it is so, and nobody wrote to it
        std::filesystem::file_time_type written;
        bool said = false;
    };
    std::map<std::string, Rejected> m_rejected;
    RunJudge m_judge; ///< last: its thread tells
};

} // namespace nanscope
