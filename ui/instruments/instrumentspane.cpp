// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/instruments/instrumentspane.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <QComboBox>
#include <QCoreApplication>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QProgressBar>
#include <QPushButton>
#include <QSpinBox>
#include <QStandardPaths>
#include <QString>
#include <QVBoxLayout>

#include "core/base/try.h"
#include "core/instruments/measure.h"
#include "ui/shared/answerparts.h"
#include "ui/shared/factsview.h"
#include "ui/shared/saving.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

/// What the window says and sets for one instrument.
struct InstrumentWords
{
    QString title;
    QString question;
    int calls = 0; ///< usual number of them; 0 where nobody chooses it
    bool ofBits = false; ///< about a replay it says nothing of the code that ran
};

struct Entry
{
    instruments::Instrument instrument;
    const char* title;
    const char* question;
    int calls;
    bool ofBits;
};

constexpr Entry entries[] = {
    {instruments::Instrument::scale, QT_TRANSLATE_NOOP("nanscope::Instruments", "Scale"),
        QT_TRANSLATE_NOOP("nanscope::Instruments",
            "How far is this input from the scales at which the result turns zero, degenerate, Inf or NaN?"),
        0, false},
    {instruments::Instrument::epsilon, QT_TRANSLATE_NOOP("nanscope::Instruments", "Epsilon"),
        QT_TRANSLATE_NOOP("nanscope::Instruments",
            "What would other epsilons have made of this input, and which of them round to 0?"),
        0, false},
    {instruments::Instrument::repeat, QT_TRANSLATE_NOOP("nanscope::Instruments", "Repeat"),
        QT_TRANSLATE_NOOP("nanscope::Instruments", "Does the same input give the same bits, call after call?"), 100,
        true},
    {instruments::Instrument::storm, QT_TRANSLATE_NOOP("nanscope::Instruments", "Storm"),
        QT_TRANSLATE_NOOP("nanscope::Instruments",
            "Does your function give the same bits when it is made hard for it: poisoned memory, a producer directly "
            "before, several streams, fresh processes?"),
        100, false},
    {instruments::Instrument::input, QT_TRANSLATE_NOOP("nanscope::Instruments", "Input check"),
        QT_TRANSLATE_NOOP(
            "nanscope::Instruments", "Is the input untouched after the call, and is the output memory of its own?"),
        0, true},
    {instruments::Instrument::spectrum, QT_TRANSLATE_NOOP("nanscope::Instruments", "Spectrum"),
        QT_TRANSLATE_NOOP("nanscope::Instruments", "Does every singular value end where the schedule takes it?"), 0,
        false},
    {instruments::Instrument::minimise, QT_TRANSLATE_NOOP("nanscope::Instruments", "Minimise"),
        QT_TRANSLATE_NOOP("nanscope::Instruments", "What is the smallest input that still ends like this?"), 300,
        false},
};
static_assert(std::size(entries) == std::size(instruments::everyInstrument));

struct PaneWords
{
    Q_DECLARE_TR_FUNCTIONS(nanscope::Instruments)
};

InstrumentWords wordsOf(instruments::Instrument instrument)
{
    const Entry& entry = *std::ranges::find(entries, instrument, &Entry::instrument);
    return {PaneWords::tr(entry.title), PaneWords::tr(entry.question), entry.calls, entry.ofBits};
}

constexpr int replaySubject = 0;
constexpr int functionTarget = 1;

/// Said where an answer about a replay could be taken for one about the code that ran.
QString limitOf(const InstrumentWords& words, bool own)
{
    return !own && words.ofBits ? InstrumentsPane::tr("This tests Nanscope's replay, not your kernel.") : QString();
}

} // namespace

InstrumentsPane::InstrumentsPane(QWidget* parent)
    : PaneFrame(tr("Instruments"), parent)
    , m_instrument(new QComboBox(this))
    , m_target(new QComboBox(this))
    , m_variant(new QComboBox(this))
    , m_precision(new QComboBox(this))
    , m_function(new QLineEdit(this))
    , m_python(new QLineEdit(this))
    , m_calls(new QSpinBox(this))
    , m_measure(new QPushButton(tr("Measure"), this))
    , m_save(new QPushButton(tr("Save capture…"), this))
    , m_progress(new QProgressBar(this))
    , m_about(makeAnswerLabel(this))
    , m_list(new FactsView(tr("Instruments and what they answer"), this))
    , m_answer(new MeasureView(this))
{
    buildHeader();
    body()->addWidget(buildSettings());
    body()->addWidget(m_own = buildFunction());
    body()->addWidget(m_about);
    body()->addWidget(m_list, 1);
    body()->addWidget(m_answer, 1);
    connect(m_instrument, &QComboBox::currentIndexChanged, this, &InstrumentsPane::showSettings);
    connect(m_instrument, &QComboBox::currentIndexChanged, this, &InstrumentsPane::showFound);
    connect(m_target, &QComboBox::currentIndexChanged, this, &InstrumentsPane::showSettings);
    connect(m_measure, &QPushButton::clicked, this, &InstrumentsPane::measureOrCancel);
    connect(m_save, &QPushButton::clicked, this, &InstrumentsPane::saveSmallest);
    connect(m_answer, &MeasureView::copied, this, &InstrumentsPane::copied);
    connect(m_list, &FactsView::factActivated, this,
        [this](const diagnose::AnswerFact& fact) { m_instrument->setCurrentText(qstr(fact.label)); });
    setCapture(nullptr, {}, 0);
}

void InstrumentsPane::buildHeader()
{
    for (const instruments::Instrument one : instruments::everyInstrument) {
        const InstrumentWords words = wordsOf(one);
        m_instrument->addItem(words.title, static_cast<int>(one));
        m_instrument->setItemData(m_instrument->count() - 1, words.question, Qt::ToolTipRole);
    }
    m_target->addItem(tr("Replay"), replaySubject);
    m_target->addItem(tr("Own function"), functionTarget);
    m_progress->setMaximumWidth(grid(30));
    m_progress->setTextVisible(false);
    m_progress->setAccessibleName(tr("Progress of the measurement"));
    m_progress->hide();
    m_save->setToolTip(tr("Write the smallest capture that was found to a file of its own"));
    m_save->hide();
    auto [bar, row] = makeSettingsBar(this);
    row->setContentsMargins(0, 0, 0, 0);
    addSetting(*row, tr("&Instrument"), *m_instrument, tr("What is asked of this capture"));
    addSetting(*row, tr("&of"), *m_target,
        tr("A replay on this machine's CPU, or a Python function of yours that takes the matrix and an epsilon"));
    row->addWidget(m_measure);
    header()->insertWidget(0, bar);
    header()->addWidget(m_progress);
    header()->addWidget(m_save);
    header()->addWidget(m_answer->makeCopyButton());
}

QWidget* InstrumentsPane::buildSettings()
{
    auto [bar, row] = makeSettingsBar(this);
    m_precision->addItem(tr("its own"));
    for (const Precision precision : allPrecisions()) {
        m_precision->addItem(qstr(name(precision)), static_cast<int>(precision));
    }
    m_calls->setRange(1, 1'000'000);
    m_variant->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_variant->setMinimumContentsLength(20);
    addSetting(*row, tr("&Variant"), *m_variant, tr("The variant that is replayed, or that the function claims to be"));
    addSetting(*row, tr("&Precision"), *m_precision, tr("Number format of the replay"));
    addSetting(*row, tr("&Calls"), *m_calls, tr("So many calls; 0 of n different says: fewer than 3/n, at 95 %"));
    for (QLabel* label : bar->findChildren<QLabel*>()) {
        if (label->buddy() == m_calls) {
            m_callsLabel = label;
        }
    }
    row->addStretch();
    return bar;
}

QWidget* InstrumentsPane::buildFunction()
{
    auto [bar, row] = makeSettingsBar(this);
    m_function->setPlaceholderText(tr("python:module:function"));
    m_function->setMinimumWidth(grid(50));
    m_python->setText(QStandardPaths::findExecutable(QStringLiteral("python3")));
    m_python->setMinimumWidth(grid(30));
    addSetting(*row, tr("&Function"), *m_function,
        tr("python:MODULE:FUNCTION or python:/path/file.py:FUNCTION; called as f(X, epsilon) in a process of its own"));
    addSetting(*row, tr("P&ython"), *m_python, tr("The Python of the training, which has torch"));
    row->addStretch();
    return bar;
}

instruments::Instrument InstrumentsPane::instrument() const
{
    return static_cast<instruments::Instrument>(m_instrument->currentData().toInt());
}

bool InstrumentsPane::ownFunction() const
{
    return m_target->currentData().toInt() == functionTarget;
}

void InstrumentsPane::showSettings()
{
    const bool own = ownFunction();
    const InstrumentWords words = wordsOf(instrument());
    const int calls = words.calls;
    m_own->setVisible(own);
    m_precision->setEnabled(!own);
    m_calls->setVisible(calls > 0);
    m_callsLabel->setVisible(calls > 0);
    if (calls > 0) {
        m_calls->setValue(calls);
    }
    QStringList about {words.question, limitOf(words, own)};
    about.removeAll(QString());
    m_about->setText(
        m_capture.empty() ? tr("Select a capture to put it under an instrument") : about.join(QLatin1Char(' ')));
}

void InstrumentsPane::setCapture(const Capture* capture, const QStringList& variants, int identified)
{
    CaptureRef shown = capture ? CaptureRef(*capture) : CaptureRef();
    const QString chosen = m_variant->currentText();
    m_variant->clear();
    m_variant->addItem(tr("not said"));
    m_variant->addItems(variants);
    const bool same = shown == m_capture;
    const int before = same ? m_variant->findText(chosen) : -1;
    m_variant->setCurrentIndex(before > 0 ? before : identified > 0 ? 1 : 0);
    if (!same) {
        m_capture = std::move(shown);
        showFound();
    }
    m_measure->setEnabled(m_running || !m_capture.empty());
    showSettings();
}

Result<MeasureOrder> InstrumentsPane::order() const
{
    MeasureOrder order;
    order.request.instrument = instrument();
    order.request.capture = m_capture;
    order.cell.device = m_device.name;
    order.worker = m_device.worker;
    if (wordsOf(instrument()).calls > 0) {
        order.request.calls = m_calls->value();
    }
    if (m_variant->currentIndex() > 0) {
        order.cell.variant = m_variant->currentText().toStdString();
    }
    if (!ownFunction()) {
        if (order.cell.variant.empty()) {
            return failure(ErrorKind::usage, tr("Choose the variant that is replayed").toStdString());
        }
        if (m_precision->currentIndex() > 0) {
            order.cell.precision = static_cast<Precision>(m_precision->currentData().toInt());
        }
        return order;
    }
    instruments::FunctionChoice impl;
    impl.target = TRY(instruments::functionTarget(m_function->text().trimmed().toStdString()));
    impl.python = m_python->text().trimmed().toStdString();
    impl.variant = order.cell.variant;
    impl.device = m_device.name;
    order.impl = impl;
    return order;
}

void InstrumentsPane::measureOrCancel()
{
    if (m_running) {
        Q_EMIT cancelRequested();
        return;
    }
    const auto wanted = order();
    if (!wanted) {
        showProblem(sentenceCase(qstr(wanted.error().what)));
    } else if (wanted->impl && !m_agreed.contains(qstr(instruments::harnessCommand(*wanted->impl)))) {
        askToRun(*wanted);
    } else {
        Q_EMIT measureRequested(*wanted);
    }
}

/// What is run is seen first: the command, and the whole program on demand.
void InstrumentsPane::askToRun(const MeasureOrder& order)
{
    const QString command = qstr(instruments::harnessCommand(*order.impl));
    auto* question = new QMessageBox(
        QMessageBox::Question, tr("Run your function?"), tr("Run this program?"), QMessageBox::Cancel, this);
    question->setInformativeText(command.toHtmlEscaped());
    question->setDetailedText(qstr(std::string(instruments::harnessSource())));
    question->addButton(tr("Run"), QMessageBox::AcceptRole);
    question->setAttribute(Qt::WA_DeleteOnClose);
    connect(question, &QMessageBox::accepted, this, [this, order, command] {
        m_agreed.insert(command);
        Q_EMIT measureRequested(order);
    });
    question->open();
}

void InstrumentsPane::setRunning(bool running)
{
    m_running = running;
    m_measure->setText(running ? tr("Cancel") : tr("Measure"));
    m_measure->setEnabled(running || !m_capture.empty());
    m_progress->setRange(0, 0);
    m_progress->setVisible(running);
}

void InstrumentsPane::showProgress(int done, int total)
{
    m_progress->setRange(0, total);
    m_progress->setValue(done);
}

void InstrumentsPane::showResult(std::shared_ptr<const MeasureResult> result)
{
    setRunning(false);
    constexpr std::size_t mostCaptures = 32;
    FoundIn found = takeFound(result->order.request.capture);
    found.results[result->order.request.instrument] = std::move(result);
    if (m_found.size() == mostCaptures) {
        m_found.erase(m_found.begin());
    }
    m_found.push_back(std::move(found));
    // Another capture may have been selected meanwhile.
    if (m_found.back().capture == m_capture) {
        showFound();
    }
}

InstrumentsPane::FoundIn InstrumentsPane::takeFound(const CaptureRef& capture)
{
    FoundIn taken {capture, {}};
    if (const auto known = std::ranges::find(m_found, capture, &FoundIn::capture); known != m_found.end()) {
        taken = std::move(*known);
        m_found.erase(known);
    }
    return taken;
}

std::shared_ptr<const MeasureResult> InstrumentsPane::foundBy(instruments::Instrument instrument) const
{
    const auto here = std::ranges::find(m_found, m_capture, &FoundIn::capture);
    if (here == m_found.end()) {
        return nullptr;
    }
    const auto found = here->results.find(instrument);
    return found == here->results.end() ? nullptr : found->second;
}

/// An answer never stands below the question of another instrument.
void InstrumentsPane::showFound()
{
    const std::shared_ptr<const MeasureResult> found = foundBy(instrument());
    if (!found) {
        showText({});
        return;
    }
    m_list->hide();
    m_answer->show();
    m_save->setVisible(std::holds_alternative<instruments::MinimiseAnswer>(found->answer));
    m_answer->showResult(found);
}

void InstrumentsPane::fillList()
{
    FactSection all;
    for (const instruments::Instrument one : instruments::everyInstrument) {
        const InstrumentWords words = wordsOf(one);
        diagnose::AnswerFact fact {words.title.toStdString(), words.question.toStdString()};
        if (foundBy(one)) {
            fact.source = tr("what it found").toStdString();
        }
        all.facts.push_back(std::move(fact));
    }
    m_list->setFacts(tr("What each instrument answers"), {all});
}

void InstrumentsPane::showProblem(const QString& sentence)
{
    setRunning(false);
    showText(sentence);
}

void InstrumentsPane::showText(const QString& text)
{
    m_answer->showText(text);
    m_answer->setVisible(!text.isEmpty());
    m_list->setVisible(text.isEmpty());
    fillList();
    m_save->hide();
}

void InstrumentsPane::saveSmallest()
{
    const auto shown = m_answer->result();
    const auto stem = QFileInfo(exactText(m_capture.path)).completeBaseName();
    askAndSave(*this,
        {tr("Save the smallest capture"), fileStem({stem, tr("smallest")}), {tr("Capture (*.pt)")},
            [shown](const QString& path) {
                return instruments::writeMinimised(std::get<instruments::MinimiseAnswer>(shown->answer),
                    path.toStdString(), shown->order.request.capture.path);
            }});
}

} // namespace nanscope
