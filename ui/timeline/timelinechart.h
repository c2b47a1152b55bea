// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "ui/shared/paneframe.h"
#include "ui/shared/picture.h"
#include "ui/timeline/timelineplot.h"
#include "ui/timeline/timelineseries.h"

class QLabel;
class QMenu;
class QToolButton;

namespace nanscope {

/// What becomes of the values that are asked for.
enum class RowsUse { tsv, json, file, table };

/// One series of all ranks in its frame: title, legend or readout, switches, the plot, and a line that says what the
/// plot does not show.
class TimelineChart : public PaneFrame
{
    Q_OBJECT

public:
    /// Below it a chart goes without what can be missed.
    static constexpr int comfortableHeight = 172;

    TimelineChart(std::string name, TimelineView* view, QWidget* parent = nullptr);

    const std::string& name() const { return m_name; }
    QString title() const;
    TimelinePlot* plot() const { return m_plot; }
    const std::vector<TimelineLine>& lines() const { return m_lines; }

    /// A line that was there before keeps its curve until refine() brings another.
    void setLines(std::vector<TimelineLine> lines);
    void refine(std::vector<std::vector<Bucket>> lines);
    /// Every point is here: no zoom needs more.
    bool isComplete() const;
    void setProblem(const QString& problem);
    void setLook(const TimelineLook& look);
    /// Puts a button for it into the header; none takes it away.
    void setSeriesMenu(QMenu* menu);
    bool hasSeriesMenu() const;
    /// Said below the plot, of what no plot shows; empty for nothing.
    void setRemark(const QString& remark);
    void setLinesMenu(QMenu* menu);

    QString note() const;
    void fillMenu(QMenu& menu);
    void copyReadout() const;
    void copyPlace() const;
    Picture picture() const;
    void copyPicture() const;
    /// What a picture of it needs to be understood elsewhere.
    PictureCaption caption() const;
    void savePicture();

Q_SIGNALS:
    void lookChanged();
    void menuFilled(QMenu* menu);
    void readoutChanged(const QString& text);
    void rowsWanted(nanscope::RowsUse use);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void buildHeader();
    void toggleLook(const TimelineLook& look);
    void showReadout(const QString& text);
    void updateTexts();
    void updateLegend();
    bool makesRoomForLegend(int wanted);
    void spareRoom();
    QString legendText(std::size_t mostLabels) const;

    std::string m_name;
    TimelinePlot* m_plot;
    QLabel* m_legend;
    QToolButton* m_logButton;
    QToolButton* m_menuButton;
    QToolButton* m_seriesButton;
    QToolButton* m_linesButton;
    ElidedLabel* m_readoutLine;
    ElidedLabel* m_noteLine;
    std::vector<TimelineLine> m_lines;
    QString m_problem;
    QString m_remark;
};

} // namespace nanscope
