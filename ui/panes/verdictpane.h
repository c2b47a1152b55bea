// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

#include "core/model/model.h"
#include <vector>

#include <QFrame>
#include <QStringList>

class QLabel;
class QLayout;
class QMenu;
class QPushButton;
class QTextBrowser;
class QToolButton;

namespace nanscope {

class ElidedLabel;
class MarkLabel;

/// Why: the verdict as a sentence, its counted evidence as chips that open into lists, the deciding question and
/// the next experiments.
class VerdictPane : public QFrame
{
    Q_OBJECT

public:
    enum class List { none, speaksFor, speaksAgainst, notTestable, next };

    explicit VerdictPane(QWidget* parent = nullptr);

    void showVerdict(const Capture& capture, const CaptureVerdict& verdict);
    /// While a capture is not judged: what is going on instead.
    void showMessage(const QString& headline, const QString& text);

    void setOpenList(List list);
    List openList() const { return m_open; }

    /// Variants the user may say ran, and which of them are ticked.
    void setRan(const QStringList& variants, const QStringList& ticked);

    QString headline() const;
    QString listText() const;

Q_SIGNALS:
    void copyRequested();
    void causeRequested();
    void ranChanged(const QStringList& ticked);

protected:
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    struct ChipInfo
    {
        List list;
        QToolButton* button;
    };

    QWidget* buildHeader();
    QWidget* buildChips();
    void addChip(QLayout* layout, List list, const QString& toolTip);
    void setChip(List list, const QString& text, bool enabled);
    void fillList();
    void fitList();
    void styleChips();
    void collectRan();

    MarkLabel* m_mark = nullptr;
    QLabel* m_headline = nullptr;
    ElidedLabel* m_place = nullptr;
    QLabel* m_summary = nullptr;
    QLabel* m_question = nullptr;
    QToolButton* m_ran = nullptr;
    QMenu* m_ranMenu = nullptr;
    QPushButton* m_copy = nullptr;
    QPushButton* m_cause = nullptr;
    QWidget* m_chipRow = nullptr;
    QTextBrowser* m_list = nullptr;
    std::vector<ChipInfo> m_chips;
    List m_open = List::speaksFor;
    std::optional<CaptureVerdict> m_verdict;
};

} // namespace nanscope
