// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shared/answerparts.h"

#include <algorithm>

#include <QApplication>
#include <QCoreApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/shared/copying.h"
#include "ui/shared/marks.h"
#include "ui/shared/table/roles.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

struct AnswerPartsWords
{
    Q_DECLARE_TR_FUNCTIONS(nanscope::AnswerParts)
};

/// Draws the mark of StatusRole before the text of a cell.
class StatusDelegate : public QStyledItemDelegate
{
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;
};

constexpr int answerMarkSize = 10;

// An empty icon keeps the room that the mark is painted into.
void StatusDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const
{
    QStyledItemDelegate::initStyleOption(option, index);
    if (index.data(StatusRole).isValid()) {
        option->features |= QStyleOptionViewItem::HasDecoration;
        option->decorationSize = {answerMarkSize + grid(1), answerMarkSize};
    }
}

void StatusDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    QStyledItemDelegate::paint(painter, option, index);
    const QVariant status = index.data(StatusRole);
    if (!status.isValid()) {
        return;
    }
    QStyleOptionViewItem filled(option);
    initStyleOption(&filled, index);
    const QStyle* style = option.widget ? option.widget->style() : QApplication::style();
    const QRect room = style->subElementRect(QStyle::SE_ItemViewItemDecoration, &filled, option.widget);
    QRectF box(0, 0, answerMarkSize, answerMarkSize);
    box.moveCenter(QRectF(room).center());
    drawStatusMark(*painter, box, static_cast<StatusMark>(status.toInt()));
}

} // namespace

QLabel* makeMutedLabel(QWidget* parent, const QString& text)
{
    auto* label = new QLabel(text, parent);
    label->setObjectName(QStringLiteral("muted"));
    return label;
}

QLabel* makeNewestLabel(QWidget* parent)
{
    auto* label = makeMutedLabel(parent, {});
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    label->setContentsMargins(grid(3), 0, grid(3), grid(2));
    label->hide();
    return label;
}

void showNewest(QLabel& label, const std::optional<std::int64_t>& most)
{
    label.setVisible(most.has_value());
    label.setText(most ? AnswerPartsWords::tr("Only the newest %1 points of each series of this large run were judged; "
                                              "`nanscope diagnose` on its folder reads them all")
                             .arg(countLabel(*most))
                       : QString());
}

QTableView* makeRowTable(QWidget* parent, QAbstractItemModel* model, const QString& title)
{
    auto* view = makeListOfRows(parent, model, title);
    view->setItemDelegate(new StatusDelegate(view));
    view->setSelectionMode(QAbstractItemView::SingleSelection);
    view->setEditTriggers(QAbstractItemView::NoEditTriggers);
    view->setWordWrap(false);
    view->verticalHeader()->setDefaultSectionSize(grid(7));
    auto* heading = view->horizontalHeader();
    heading->setHighlightSections(false);
    heading->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    heading->setSectionResizeMode(QHeaderView::ResizeToContents);
    makeCopyable(*view, title);
    return view;
}

QLabel* makeWrappedLabel(QWidget* parent, const char* objectName)
{
    auto* label = new QLabel(parent);
    label->setObjectName(QLatin1String(objectName));
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    QSizePolicy policy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    label->setSizePolicy(policy);
    // The hint of a wrapped label is that of a narrow one, which would keep the window from being low.
    label->setMinimumSize(1, label->fontMetrics().height());
    return label;
}

QLabel* makeAnswerLabel(QWidget* parent)
{
    auto* label = new QLabel(parent);
    label->setObjectName(QStringLiteral("headline"));
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    label->setContentsMargins(grid(3), grid(1), grid(3), grid(2));
    return label;
}

QToolButton* makeToolButton(QWidget* parent, const char* look, const QString& text, const QString& tip)
{
    auto* button = new QToolButton(parent);
    button->setObjectName(QLatin1String(look));
    button->setText(text);
    button->setToolTip(tip);
    if (!text.isEmpty() && std::ranges::none_of(text, [](QChar sign) { return sign.isLetter(); })) {
        button->setAccessibleName(tip); // a sign alone cannot be read out
    }
    return button;
}

void addSetting(QHBoxLayout& row, const QString& name, QWidget& setting, const QString& tip)
{
    auto* label = new QLabel(name, row.parentWidget());
    label->setBuddy(&setting);
    label->setToolTip(tip);
    setting.setToolTip(tip);
    setting.setAccessibleName(QString(name).remove(QLatin1Char('&')));
    row.addWidget(label);
    row.addWidget(&setting);
    row.addSpacing(grid(2));
}

QTableView* makeAnswerTable(
    QWidget* parent, QAbstractItemModel* model, const QString& title, const std::function<void(int)>& activate)
{
    auto* view = makeRowTable(parent, model, title);
    view->horizontalHeader()->setResizeContentsPrecision(300);
    QObject::connect(view, &QTableView::clicked, view, [activate](const QModelIndex& index) { activate(index.row()); });
    QObject::connect(
        view, &QTableView::activated, view, [activate](const QModelIndex& index) { activate(index.row()); });
    return view;
}

SettingsBar makeSettingsBar(QWidget* parent)
{
    auto* bar = new QWidget(parent);
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(grid(3), 0, grid(3), grid(1));
    row->setSpacing(grid(2));
    return {bar, row};
}

void layOutAnswer(QWidget& view, QWidget& settings, QLabel& headline, QWidget& below)
{
    auto* layout = new QVBoxLayout(&view);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(&settings);
    layout->addWidget(&headline);
    layout->addWidget(&below, 1);
    layout->addStretch();
    below.hide();
}

} // namespace nanscope
