// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "core/model/capture.h"
#include "core/rpc/remotedevice.h"
#include "ui/instruments/measureview.h"
#include "ui/shared/paneframe.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;
class QSpinBox;

namespace nanscope {

class FactsView;

/// Instruments on the selected capture: of a replay, or of a function of the user's own, which is shown before it runs
/// for the first time.
class InstrumentsPane : public PaneFrame
{
    Q_OBJECT

public:
    explicit InstrumentsPane(QWidget* parent = nullptr);

    /// `variants` as a user would try them; the first `identified` of them may have run.
    /// What was found in a capture is there again when it is.
    void setCapture(const Capture* capture, const QStringList& variants, int identified);
    void replayOn(rpc::DevicePlace device) { m_device = std::move(device); }
    void setRunning(bool running);
    void showProgress(int done, int total);
    void showResult(std::shared_ptr<const MeasureResult> result);
    void showProblem(const QString& sentence);

    /// What "Measure" would ask; fails with what is missing in the settings.
    Result<MeasureOrder> order() const;
    QString text() const { return m_answer->text(); }

    QComboBox* instrumentBox() { return m_instrument; }
    QComboBox* targetBox() { return m_target; }
    QComboBox* variantBox() { return m_variant; }
    QComboBox* precisionBox() { return m_precision; }
    QLineEdit* functionEdit() { return m_function; }
    QSpinBox* callsBox() { return m_calls; }
    QPushButton* measureButton() { return m_measure; }
    QPushButton* saveButton() { return m_save; }
    MeasureView* answer() { return m_answer; }
    FactsView* list() { return m_list; }

Q_SIGNALS:
    void measureRequested(const nanscope::MeasureOrder& order);
    void cancelRequested();
    void copied(const QString& what);

private:
    /// In one capture, the last of each instrument.
    struct FoundIn
    {
        CaptureRef capture;
        std::map<instruments::Instrument, std::shared_ptr<const MeasureResult>> results;
    };

    FoundIn takeFound(const CaptureRef& capture);
    std::shared_ptr<const MeasureResult> foundBy(instruments::Instrument instrument) const;
    void buildHeader();
    QWidget* buildSettings();
    QWidget* buildFunction();
    void showSettings();
    void measureOrCancel();
    void askToRun(const MeasureOrder& order);
    void saveSmallest();
    void showText(const QString& text);
    void showFound();
    void fillList();
    bool ownFunction() const;
    instruments::Instrument instrument() const;

    QComboBox* m_instrument;
    QComboBox* m_target;
    QComboBox* m_variant;
    QComboBox* m_precision;
    QWidget* m_own = nullptr;
    QLineEdit* m_function;
    QLineEdit* m_python;
    QSpinBox* m_calls;
    QLabel* m_callsLabel = nullptr;
    QPushButton* m_measure;
    QPushButton* m_save;
    QProgressBar* m_progress;
    QLabel* m_about;
    FactsView* m_list; ///< of all instruments, where the chosen one has found nothing yet
    MeasureView* m_answer;
    std::vector<FoundIn> m_found; ///< of the captures that were measured last, the newest at the end
    CaptureRef m_capture; ///< empty: none is selected
    rpc::DevicePlace m_device;
    bool m_running = false;
    std::set<QString> m_agreed; ///< commands that the user has seen and run
};

} // namespace nanscope
