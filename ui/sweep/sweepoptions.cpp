// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/sweep/sweepoptions.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <utility>

#include <QCheckBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QSet>
#include <QSpinBox>
#include <QVBoxLayout>

#include "ui/shared/answerparts.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

constexpr std::array lowerings {Lowering::eager, Lowering::fused};

QString precisionTip(Precision precision)
{
    return precision == Precision::fp16Acc16 ? SweepOptions::tr(
               "fp16 whose products are summed in fp16, too, as torch does where allow_fp16_accumulation is set")
                                             : QString();
}

QString loweringTip(Lowering lowering)
{
    return lowering == Lowering::eager ? SweepOptions::tr("Rounds after every operation")
                                       : SweepOptions::tr("Rounds once for a product and what is added to it");
}

QPushButton* linkButton(const QString& text, const QString& tip)
{
    auto* button = new QPushButton(text);
    button->setToolTip(tip);
    button->setAutoDefault(false);
    return button;
}

QString sentenceOf(const Result<void>& checked)
{
    return checked ? QString() : qstr(sentence(checked.error()));
}

} // namespace

SweepOptions::SweepOptions(Usual usual, const SweepChoice& chosen, const replay::Catalogue& catalogue, QWidget* parent)
    : QDialog(parent)
    , m_usual(std::move(usual))
    , m_catalogue(catalogue)
    , m_variants(new QListWidget(this))
    , m_epsilon(new QLineEdit(this))
    , m_steps(new QSpinBox(this))
    , m_problem(new QLabel(this))
{
    setWindowTitle(tr("Options of the sweep"));
    for (const Precision precision : sweepPrecisions()) {
        m_precisions << new QCheckBox(qstr(name(precision)), this);
        m_precisions.back()->setToolTip(precisionTip(precision));
    }
    for (const Lowering lowering : lowerings) {
        m_lowerings << new QCheckBox(qstr(name(lowering)), this);
        m_lowerings.back()->setToolTip(loweringTip(lowering));
    }
    m_epsilon->setPlaceholderText(m_usual.epsilon
            ? tr("captured %1, or what a variant takes of itself").arg(roundNumber(*m_usual.epsilon))
            : tr("each variant's own: none was captured"));
    m_epsilon->setToolTip(tr("Added to the norm, or the least it may be, also where a variant ignores its caller's"));
    // Wider than what is run, so that what is typed is refused in words and never made another number.
    m_steps->setRange(0, 999'999);
    m_steps->setSpecialValueText(tr("as many as each schedule has"));
    m_steps->setToolTip(tr("1 to %1: the first steps of a schedule; beyond its end it goes on as its source does. Each "
                           "costs as much as the first, so more are not run")
                            .arg(replay::maxSteps));
    m_problem->setObjectName(QStringLiteral("sweepProblem"));
    m_problem->setWordWrap(true);
    m_problem->setAccessibleName(tr("What is wrong with the options"));
    auto* form = new QFormLayout;
    form->setSpacing(grid(2));
    form->addRow(tr("&Variants"), buildVariants());
    form->addRow(tr("Formats"), buildChecks(m_precisions));
    form->addRow(tr("Lowerings"), buildChecks(m_lowerings));
    form->addRow(tr("&Epsilon"), m_epsilon);
    form->addRow(tr("&Steps"), m_steps);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
    m_choose = buttons->addButton(tr("Choose"), QDialogButtonBox::AcceptRole);
    m_choose->setDefault(true);
    QPushButton* reset = buttons->addButton(tr("Reset"), QDialogButtonBox::ResetRole);
    reset->setToolTip(tr("Everything as usual"));
    auto* layout = new QVBoxLayout(this);
    layout->setSpacing(grid(2));
    layout->addLayout(form, 1);
    layout->addWidget(m_problem);
    layout->addWidget(buttons);
    resize(grid(110), grid(120));
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(reset, &QPushButton::clicked, this, [this] { fill(SweepChoice()); });
    connect(m_variants, &QListWidget::itemChanged, this, &SweepOptions::check);
    connect(m_epsilon, &QLineEdit::textChanged, this, &SweepOptions::check);
    connect(m_steps, &QSpinBox::valueChanged, this, &SweepOptions::check);
    fill(chosen);
}

QWidget* SweepOptions::buildVariants()
{
    m_variants->setAccessibleName(tr("Variants"));
    for (const QString& name : m_usual.variants) {
        auto* item = new QListWidgetItem(name, m_variants);
        item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsUserCheckable);
        const auto variant = m_catalogue.find(name.toStdString());
        item->setToolTip(variant ? plainTip(qstr((*variant)->title)) : QString());
        QFont font = item->font();
        font.setBold(m_variants->count() <= m_usual.identified);
        item->setFont(font);
    }
    auto* all = linkButton(tr("Tick all"), tr("Every variant that is known"));
    auto* usual = linkButton(
        tr("Tick the usual"), tr("Those that may have run, which are bold, your own, and one of every other schedule"));
    auto* none = linkButton(tr("Tick none"), tr("To tick a few"));
    connect(all, &QPushButton::clicked, this, [this] { tickVariants(m_usual.variants); });
    connect(usual, &QPushButton::clicked, this, [this] { tickVariants(m_usual.swept); });
    connect(none, &QPushButton::clicked, this, [this] { tickVariants({}); });
    auto* row = new QHBoxLayout;
    row->setSpacing(grid(2));
    for (QPushButton* button : {usual, all, none}) {
        row->addWidget(button);
    }
    row->addStretch();
    auto* part = new QWidget(this);
    auto* layout = new QVBoxLayout(part);
    layout->setContentsMargins({});
    layout->setSpacing(grid(1));
    layout->addWidget(m_variants, 1);
    layout->addLayout(row);
    part->setFocusProxy(m_variants);
    return part;
}

QWidget* SweepOptions::buildChecks(const QList<QCheckBox*>& boxes)
{
    auto* part = new QWidget(this);
    auto* row = new QHBoxLayout(part);
    row->setContentsMargins({});
    row->setSpacing(grid(4));
    for (QCheckBox* box : boxes) {
        row->addWidget(box);
        connect(box, &QCheckBox::toggled, this, &SweepOptions::check);
    }
    row->addStretch();
    if (boxes == m_lowerings) {
        row->addWidget(makeMutedLabel(part, tr("neither: each variant's own")));
    }
    return part;
}

QCheckBox* SweepOptions::precisionBox(Precision precision)
{
    return m_precisions[std::ranges::find(sweepPrecisions(), precision) - sweepPrecisions().begin()];
}

QCheckBox* SweepOptions::loweringBox(Lowering lowering)
{
    return m_lowerings[std::ranges::find(lowerings, lowering) - lowerings.begin()];
}

void SweepOptions::fill(const SweepChoice& choice)
{
    tickVariants(choice.variants.isEmpty() ? m_usual.swept : choice.variants);
    for (const Precision precision : sweepPrecisions()) {
        const std::span<const Precision> chosen =
            choice.precisions.empty() ? usualPrecisions() : std::span(choice.precisions);
        precisionBox(precision)->setChecked(std::ranges::find(chosen, precision) != chosen.end());
    }
    for (const Lowering lowering : lowerings) {
        loweringBox(lowering)->setChecked(std::ranges::find(choice.lowerings, lowering) != choice.lowerings.end());
    }
    m_epsilon->setText(choice.epsilon ? exactNumber(*choice.epsilon) : QString());
    m_steps->setValue(choice.steps.value_or(0));
    check();
}

void SweepOptions::tickVariants(const QStringList& names)
{
    for (int row = 0; row < m_variants->count(); ++row) {
        QListWidgetItem* item = m_variants->item(row);
        item->setCheckState(names.contains(item->text()) ? Qt::Checked : Qt::Unchecked);
    }
}

QStringList SweepOptions::tickedVariants() const
{
    QStringList ticked;
    for (int row = 0; row < m_variants->count(); ++row) {
        if (m_variants->item(row)->checkState() == Qt::Checked) {
            ticked << m_variants->item(row)->text();
        }
    }
    return ticked;
}

/// NaN where the text is no number.
std::optional<double> SweepOptions::epsilon() const
{
    bool isNumber = false;
    const QString text = m_epsilon->text().trimmed();
    const double value = text.toDouble(&isNumber);
    return text.isEmpty() ? std::nullopt : std::optional(isNumber ? value : std::numeric_limits<double>::quiet_NaN());
}

std::optional<int> SweepOptions::steps() const
{
    return m_steps->value() == 0 ? std::nullopt : std::optional(m_steps->value());
}

SweepChoice SweepOptions::chosen() const
{
    SweepChoice choice;
    const QStringList ticked = tickedVariants();
    const QSet<QString> usual(m_usual.swept.begin(), m_usual.swept.end());
    if (QSet<QString>(ticked.begin(), ticked.end()) != usual) {
        choice.variants = ticked;
    }
    for (qsizetype i = 0; i < m_precisions.size(); ++i) {
        if (m_precisions[i]->isChecked()) {
            choice.precisions.push_back(sweepPrecisions()[static_cast<std::size_t>(i)]);
        }
    }
    if (std::ranges::equal(choice.precisions, usualPrecisions())) {
        choice.precisions.clear();
    }
    for (std::size_t i = 0; i < lowerings.size(); ++i) {
        if (m_lowerings[static_cast<qsizetype>(i)]->isChecked()) {
            choice.lowerings.push_back(lowerings[i]);
        }
    }
    choice.epsilon = epsilon();
    choice.steps = steps();
    return choice;
}

QString SweepOptions::problem() const
{
    const QStringList ticked = tickedVariants();
    if (ticked.isEmpty()) {
        return tr("No variant is ticked, so nothing would be replayed");
    }
    if (std::ranges::none_of(m_precisions, &QCheckBox::isChecked)) {
        return tr("No format is ticked, so nothing would be replayed");
    }
    if (const auto checked = replay::checkEpsilon(epsilon()); !checked) {
        return tr("%1, such as 1e-7; “%2” is none").arg(sentenceOf(checked), m_epsilon->text());
    }
    const QStringList refusing = refusals();
    return refusing.size() == ticked.size() ? refusing.front() : QString();
}

/// Of ticked variants that are not run with as many steps; what is replayed of them says so, too.
QStringList SweepOptions::refusals() const
{
    QStringList sentences;
    for (const QString& name : tickedVariants()) {
        const auto variant = m_catalogue.find(name.toStdString());
        if (const auto checked = variant ? replay::checkSteps(**variant, steps()) : Result<void>(); !checked) {
            sentences << sentenceOf(checked);
        }
    }
    return sentences;
}

void SweepOptions::check()
{
    const QString wrong = problem();
    const QString text = wrong.isEmpty() ? refusals().join(QLatin1Char('\n')) : wrong;
    m_problem->setText(text);
    m_problem->setVisible(!text.isEmpty());
    m_choose->setEnabled(wrong.isEmpty());
}

} // namespace nanscope
