// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/sweep/agreedialog.h"

#include <QClipboard>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QFontDatabase>
#include <QFormLayout>
#include <QGuiApplication>
#include <QPlainTextEdit>
#include <QProcessEnvironment>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>

#include "core/replay/variants/variantjson.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"
#include "ui/sweep/cellgridmodel.h"

namespace nanscope {

AgreeDialog::AgreeDialog(const Programs& programs, const QString& capture, const replay::CellRequest& cell,
    const replay::Catalogue& catalogue, QWidget* parent)
    : QDialog(parent)
    , m_programs(programs)
    , m_capture(capture)
    , m_catalogue(catalogue)
    , m_variant(new QComboBox(this))
    , m_precision(new QComboBox(this))
    , m_repeats(new QSpinBox(this))
    , m_answer(new QPlainTextEdit(this))
    , m_run(new QPushButton(this))
    , m_copy(new QPushButton(tr("Copy"), this))
{
    setWindowTitle(tr("Do the GPUs agree?"));
    for (const replay::Variant* variant : m_catalogue.all()) {
        m_variant->addItem(qstr(variant->name));
    }
    for (const Precision precision : sweepPrecisions()) {
        m_precision->addItem(qstr(name(precision)));
    }
    m_variant->setCurrentText(qstr(cell.variant));
    m_precision->setCurrentText(qstr(name(cell.precision)));
    m_repeats->setRange(1, 1000);
    m_repeats->setValue(3);
    m_repeats->setToolTip(tr("Replays on each GPU"));
    m_answer->setReadOnly(true);
    m_answer->setLineWrapMode(QPlainTextEdit::NoWrap);
    m_answer->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    m_answer->setAccessibleName(tr("Hashes of the outputs"));
    m_answer->setPlaceholderText(tr("Every GPU replays the capture, and the bits of the outputs are compared"));
    m_copy->setToolTip(tr("Copies the answer as text"));
    auto* form = new QFormLayout;
    form->setSpacing(grid(2));
    form->addRow(tr("&Variant"), m_variant);
    form->addRow(tr("&Format"), m_precision);
    form->addRow(tr("&Repeats"), m_repeats);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    buttons->addButton(m_run, QDialogButtonBox::ActionRole);
    buttons->addButton(m_copy, QDialogButtonBox::ActionRole);
    m_run->setDefault(true);
    auto* layout = new QVBoxLayout(this);
    layout->setSpacing(grid(2));
    layout->addLayout(form);
    layout->addWidget(m_answer, 1);
    layout->addWidget(buttons);
    resize(grid(150), grid(100));
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(m_run, &QPushButton::clicked, this, &AgreeDialog::startOrCancel);
    connect(m_copy, &QPushButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(answer()); });
    connect(&m_process, &QProcess::finished, this, &AgreeDialog::onEnded);
    connect(&m_process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart) {
            onEnded(-1, QProcess::CrashExit);
        }
    });
    showRunning(false);
}

AgreeDialog::~AgreeDialog()
{
    m_process.disconnect(this);
    if (m_process.state() != QProcess::NotRunning) {
        m_process.kill();
        m_process.waitForFinished();
    }
}

QString AgreeDialog::answer() const
{
    return m_answer->toPlainText();
}

void AgreeDialog::startOrCancel()
{
    if (m_process.state() != QProcess::NotRunning) {
        m_cancelled = true;
        m_process.terminate();
        m_answer->setPlainText(tr("Cancelled"));
        return;
    }
    auto environment = QProcessEnvironment::systemEnvironment();
    if (!m_programs.worker.isEmpty()) {
        environment.insert(QStringLiteral("NANSCOPE_WORKER"), m_programs.worker);
    }
    m_process.setProcessEnvironment(environment);
    m_cancelled = false;
    if (!writeDefinition()) {
        m_answer->setPlainText(tr("The definition of %1 could not be written to %2: %3. Make room there, or set TMPDIR "
                                  "to another folder")
                                   .arg(m_variant->currentText(), QDir::tempPath(), m_definition.errorString()));
        return;
    }
    m_answer->setPlainText(tr("Replaying…"));
    showRunning(true);
    m_process.start(m_programs.nanscope, arguments());
}

const replay::Variant* AgreeDialog::ownVariant() const
{
    return m_catalogue.own(m_variant->currentText().toStdString());
}

/// A variant of the user's own may be kept with the run alone: its definition goes along as a file. True where none
/// is needed, too.
bool AgreeDialog::writeDefinition()
{
    const replay::Variant* own = ownVariant();
    if (own == nullptr) {
        return true;
    }
    const auto text = QByteArray::fromStdString(replay::variantToJson(*own).dump());
    if (!m_definition.open()) {
        return false;
    }
    const bool written = m_definition.resize(0) && m_definition.write(text) == text.size() && m_definition.flush();
    m_definition.close();
    return written;
}

QStringList AgreeDialog::arguments() const
{
    QStringList words {QStringLiteral("agree"), m_capture, QStringLiteral("--variant"), m_variant->currentText(),
        QStringLiteral("--precision"), m_precision->currentText(), QStringLiteral("--repeats"),
        QString::number(m_repeats->value()), QStringLiteral("--progress"), QStringLiteral("none")};
    if (ownVariant() != nullptr) {
        words << QStringLiteral("--variant-file") << m_definition.fileName();
    }
    return words;
}

void AgreeDialog::onEnded(int code, QProcess::ExitStatus status)
{
    showRunning(false);
    if (m_cancelled) {
        return;
    }
    const QString said = qstr(m_process.readAllStandardOutput().toStdString()).trimmed();
    const QString wrong = qstr(m_process.readAllStandardError().toStdString()).trimmed();
    const QString ended = status == QProcess::CrashExit ? tr("%1 could not be run").arg(m_programs.nanscope)
                                                        : tr("It ended with status %1").arg(code);
    m_answer->setPlainText(!said.isEmpty() ? said : wrong.isEmpty() ? ended : wrong);
    m_copy->setEnabled(true);
}

void AgreeDialog::showRunning(bool running)
{
    m_run->setText(running ? tr("Cancel") : tr("Compare"));
    m_copy->setEnabled(false);
}

} // namespace nanscope
