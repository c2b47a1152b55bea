// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/instruments/measureview.h"

#include <utility>

#include <QClipboard>
#include <QFontDatabase>
#include <QGuiApplication>
#include <QMenu>
#include <QPlainTextEdit>
#include <QToolButton>

#include "ui/instruments/spectrumview.h"
#include "ui/instruments/stopview.h"
#include "ui/jobs/measurejob.h"
#include "ui/shared/answerparts.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

MeasureView::MeasureView(QWidget* parent)
    : QSplitter(Qt::Vertical, parent)
    , m_pictures(new QStackedWidget(this))
    , m_scale(new ScaleView(this))
    , m_epsilon(new EpsilonView(this))
    , m_spectrum(new SpectrumView(this))
    , m_text(new QPlainTextEdit(this))
{
    m_text->setReadOnly(true);
    m_text->setLineWrapMode(QPlainTextEdit::NoWrap);
    m_text->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    m_text->setFrameShape(QFrame::NoFrame);
    m_text->document()->setDocumentMargin(grid(3));
    m_text->setAccessibleName(tr("What the instrument found"));
    m_pictures->addWidget(m_scale);
    m_pictures->addWidget(m_epsilon);
    m_pictures->addWidget(m_spectrum);
    // In a low window the tab scrolls, and a plot that is lower tells nothing.
    m_pictures->setMinimumHeight(grid(44));
    m_pictures->hide();
    addWidget(m_pictures);
    addWidget(m_text);
    setStretchFactor(0, 5);
    setStretchFactor(1, 1);
    setCollapsible(0, false);
}

void MeasureView::showResult(std::shared_ptr<const MeasureResult> result)
{
    const QString text = windowText(result->text.toStdString());
    setResult(std::move(result), text);
}

void MeasureView::showText(const QString& text)
{
    setResult(nullptr, text);
}

void MeasureView::setResult(std::shared_ptr<const MeasureResult> result, const QString& text)
{
    m_result = std::move(result);
    m_text->setPlainText(text);
    m_pictures->setVisible(m_result && drawPicture());
}

bool MeasureView::drawPicture()
{
    const instruments::MeasureAnswer& answer = m_result->answer;
    const MeasureFacts facts = factsOf(*m_result);
    if (const auto* scale = std::get_if<instruments::ScaleAnswer>(&answer); scale && !scale->points.empty()) {
        m_scale->setAnswer(*scale, facts);
        m_pictures->setCurrentWidget(m_scale);
    } else if (const auto* epsilon = std::get_if<instruments::EpsilonAnswer>(&answer);
               epsilon && !epsilon->lines.empty()) {
        m_epsilon->setAnswer(*epsilon, facts);
        m_pictures->setCurrentWidget(m_epsilon);
    } else if (const auto* spectrum = std::get_if<instruments::SpectrumAnswer>(&answer);
               spectrum && !spectrum->stages.empty()) {
        m_spectrum->setAnswer(*spectrum, facts);
        m_pictures->setCurrentWidget(m_spectrum);
    } else {
        return false;
    }
    return true;
}

QString MeasureView::text() const
{
    return m_text->toPlainText();
}

QToolButton* MeasureView::makeCopyButton()
{
    auto* copy = makeToolButton(parentWidget(), "quiet", tr("Copy ▾"), tr("Copy what was found, as text or as JSON"));
    copy->setPopupMode(QToolButton::InstantPopup);
    auto* menu = new QMenu(copy);
    connect(menu->addAction(tr("Copy as &text")), &QAction::triggered, this, [this] {
        QGuiApplication::clipboard()->setText(m_result ? m_result->text : text());
        Q_EMIT copied(tr("Copied the measurement as text"));
    });
    connect(menu->addAction(tr("Copy as &JSON")), &QAction::triggered, this, [this] {
        QGuiApplication::clipboard()->setText(m_result ? m_result->json : QString());
        Q_EMIT copied(tr("Copied the measurement as JSON"));
    });
    copy->setMenu(menu);
    return copy;
}

} // namespace nanscope
