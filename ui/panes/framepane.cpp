// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panes/framepane.h"

#include <algorithm>
#include <utility>

#include <QGridLayout>
#include <QLabel>
#include <QVBoxLayout>

#include "ui/panes/elidedlabel.h"
#include "ui/panes/filmpane.h"
#include "ui/panes/framemap.h"
#include "ui/plots/filmscales.h"
#include "ui/plots/filmstrip.h"
#include "ui/plots/heatlegend.h"
#include "ui/plots/heatview.h"
#include "ui/text.h"
#include "ui/theme.h"

namespace nanscope {

FramePane::FramePane(HeatView* view, QWidget* parent)
    : PaneFrame(tr("Frame"), parent)
    , m_view(view)
{
    auto* maps = new QHBoxLayout;
    maps->setSpacing(grid(2));
    auto* scales = new QHBoxLayout;
    scales->setSpacing(grid(2));
    for (SideWidgets& side : m_sides) {
        side.map = new FrameMap(view, this);
        side.map->setMinimumHeight(grid(12));
        side.map->setMessage(tr("No frame selected"));
        maps->addWidget(side.map, 1);
        side.scale = new ScaleBar(this);
        scales->addWidget(side.scale, 1);
        describe(*side.map);
        connect(side.map, &FrameMap::detailShown, this, &FramePane::updateReadout);
    }
    map(Side::first)->setAccessibleName(tr("Selected frame"));
    map(Side::second)->setAccessibleName(tr("The same frame of the second cell"));
    auto* inner = new QVBoxLayout;
    inner->setContentsMargins(grid(3), 0, grid(3), grid(2));
    inner->setSpacing(grid(1));
    inner->addLayout(maps, 1);
    inner->addLayout(scales);
    inner->addWidget(new ClassLegend(this));
    inner->addLayout(buildFacts());
    body()->addLayout(inner, 1);
    connect(m_view, &HeatView::cursorChanged, this, &FramePane::updateReadout);
    setComparing(false);
    setFrame(nullptr, -1);
}

void FramePane::describe(FrameMap& map)
{
    map.setCaption([&map] {
        const Film* film = map.film();
        if (!film) {
            return PictureCaption {tr("Frame")};
        }
        const QString doubt = map.hint().isEmpty() ? QString() : QStringLiteral(" · ") + map.hint();
        return PictureCaption {frameLabel(*map.frame()), cellLabel(film->cell) + doubt, heatLegendText(map.scale()),
            qstr(film->cell.capture)};
    });
}

QGridLayout* FramePane::buildFacts()
{
    auto* form = new QGridLayout;
    form->setVerticalSpacing(2);
    form->setColumnStretch(1, 1);
    m_facts = form;
    form->addWidget(new QLabel(tr("Under cursor"), this), 0, 0);
    form->itemAt(0)->widget()->setObjectName(QStringLiteral("muted"));
    for (int i = 0; i < frameFactCount; ++i) {
        auto* name = new QLabel(factName(static_cast<FrameFact>(i)), this);
        name->setObjectName(QStringLiteral("muted"));
        form->addWidget(name, i + 1, 0);
        m_names[static_cast<std::size_t>(i)] = name;
    }
    for (std::size_t side = 0; side < m_sides.size(); ++side) {
        const int column = static_cast<int>(side) + 1;
        m_sides[side].cursor = addValue(*form, 0, column);
        for (int i = 0; i < frameFactCount; ++i) {
            m_sides[side].facts[static_cast<std::size_t>(i)] = addValue(*form, i + 1, column);
        }
    }
    return form;
}

ElidedLabel* FramePane::addValue(QGridLayout& form, int row, int column)
{
    auto* value = new ElidedLabel(this);
    value->setTextInteractionFlags(Qt::TextSelectableByMouse);
    form.addWidget(value, row, column);
    return value;
}

/// Two columns leave room for what tells two cells apart.
bool FramePane::isShown(FrameFact fact) const
{
    switch (fact) {
    case FrameFact::variant:
    case FrameFact::format:
    case FrameFact::outcome:
        return m_comparing;
    case FrameFact::counts:
    case FrameFact::first:
    case FrameFact::largest:
        return true;
    case FrameFact::distance: {
        const Film* film = m_sides[0].map->film();
        return m_comparing || (film && film->mode != FilmMode::values);
    }
    default:
        return !m_comparing;
    }
}

void FramePane::setComparing(bool comparing)
{
    m_comparing = comparing;
    map(Side::second)->setVisible(comparing);
    m_facts->setColumnStretch(2, comparing ? 1 : 0);
    m_facts->setHorizontalSpacing(comparing ? grid(2) : grid(3));
    if (!comparing) {
        setFrame(nullptr, -1, Side::second);
    }
    showRows();
    updateScale();
}

void FramePane::showRows()
{
    for (int i = 0; i < frameFactCount; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const bool shown = isShown(static_cast<FrameFact>(i));
        m_names[at]->setVisible(shown);
        m_sides[0].facts[at]->setVisible(shown);
        m_sides[1].facts[at]->setVisible(shown && m_comparing);
    }
    m_sides[1].cursor->setVisible(m_comparing);
}

void FramePane::setFrame(std::shared_ptr<const Film> film, int frame, Side side)
{
    SideWidgets& widgets = sideOf(side);
    widgets.map->setMessage(film ? tr("This cell has no such op in this step") : tr("No frame selected"));
    widgets.map->setFrame(std::move(film), frame);
    fillFacts(widgets);
    showRows();
    updateScale();
    updateReadout();
}

void FramePane::fillFacts(SideWidgets& side)
{
    const Film* film = side.map->film();
    const FilmFrame* frame = side.map->frame();
    for (int i = 0; i < frameFactCount; ++i) {
        const auto fact = static_cast<FrameFact>(i);
        side.facts[static_cast<std::size_t>(i)]->setFullText(
            frame ? factText(fact, *film, *frame) : QStringLiteral("–"));
    }
    if (side.map != map(Side::first)) {
        return;
    }
    const bool birth = film && film->birth >= 0 && frame == &film->frames[static_cast<std::size_t>(film->birth)];
    setNote(!frame ? QString() : birth ? tr("%1 · birth").arg(frameLabel(*frame)) : frameLabel(*frame));
}

/// Magnitudes beside each other are on one scale; a difference keeps its own.
void FramePane::updateScale()
{
    FrameMap* first = map(Side::first);
    FrameMap* second = map(Side::second);
    const bool shared = m_comparing && canShareScale(first->film(), second->film());
    for (SideWidgets& side : m_sides) {
        LogScale scale = side.map->ownScale();
        if (shared) {
            const auto a = ownScale(*first->frame());
            const auto b = ownScale(*second->frame());
            scale = a && b ? united(*a, *b) : a ? *a : b.value_or(scale);
        }
        side.map->setScale(scale);
        side.scale->setScale(scale);
    }
    sideOf(Side::first).scale->setNote(shared ? tr("one scale for both") : QString());
    sideOf(Side::first).scale->setVisible(first->picture() || !second->picture());
    sideOf(Side::second).scale->setVisible(m_comparing && !shared && second->picture());
}

void FramePane::updateReadout()
{
    QStringList places;
    for (SideWidgets& side : m_sides) {
        const QString value = side.map->elementUnderCursor();
        side.cursor->setFullText(value.isEmpty() ? QStringLiteral("–") : value);
        if (!value.isEmpty()) {
            places << QStringLiteral("%1 %2").arg(frameLabel(*side.map->frame()), value);
        }
    }
    if (!places.isEmpty()) {
        Q_EMIT readoutChanged(places.join(QStringLiteral("   |   ")));
    }
}

QString FramePane::factsText() const
{
    const auto values = [this](auto label) {
        const QString first = label(m_sides[0])->fullText();
        return m_comparing ? QStringLiteral("%1 | %2").arg(first, label(m_sides[1])->fullText()) : first;
    };
    QStringList lines {tr("Under cursor: %1").arg(values([](const SideWidgets& side) { return side.cursor; }))};
    for (std::size_t i = 0; i < m_names.size(); ++i) {
        if (isShown(static_cast<FrameFact>(i))) {
            lines << QStringLiteral("%1: %2").arg(
                m_names[i]->text(), values([i](const SideWidgets& side) { return side.facts[i]; }));
        }
    }
    return lines.join(QLatin1Char('\n'));
}

} // namespace nanscope
