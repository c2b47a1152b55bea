// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include <QSplitter>
#include <QStackedWidget>

#include "ui/jobs/measurejob.h"

class QPlainTextEdit;
class QToolButton;

namespace nanscope {

class EpsilonView;
class ScaleView;
class SpectrumView;

/// What an instrument found: the picture of those that have one above the text, which the others have alone.
class MeasureView : public QSplitter
{
    Q_OBJECT

public:
    explicit MeasureView(QWidget* parent = nullptr);

    void showResult(std::shared_ptr<const MeasureResult> result);
    /// Instead of a result, or nothing at all.
    void showText(const QString& text);

    const std::shared_ptr<const MeasureResult>& result() const { return m_result; }
    QString text() const;
    bool hasPicture() const { return m_pictures->isVisibleTo(this); }
    ScaleView* scale() { return m_scale; }
    EpsilonView* epsilon() { return m_epsilon; }
    SpectrumView* spectrum() { return m_spectrum; }

    QToolButton* makeCopyButton();

Q_SIGNALS:
    void copied(const QString& what);

private:
    void setResult(std::shared_ptr<const MeasureResult> result, const QString& text);
    bool drawPicture();

    std::shared_ptr<const MeasureResult> m_result;
    QStackedWidget* m_pictures;
    ScaleView* m_scale;
    EpsilonView* m_epsilon;
    SpectrumView* m_spectrum;
    QPlainTextEdit* m_text;
};

} // namespace nanscope
