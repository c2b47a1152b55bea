// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/timelinepicture.h"

#include <cmath>

#include <QCoreApplication>
#include <QTextDocument>
#ifdef NANSCOPE_SVG
#include <QSvgGenerator>
#endif

#include "ui/plots/qcp.h"
#include "ui/plots/timelineplot.h"
#include "ui/theme.h"

namespace nanscope {

namespace {

struct Words
{
    Q_DECLARE_TR_FUNCTIONS(Timeline)
};

constexpr int captionHeight = grid(7);

/// Wrapped to the width of the plot; colours without a legend would say nothing in another program.
class Legend
{
public:
    Legend(const TimelinePlot& plot, const PictureCaption& caption)
    {
        m_text.setDocumentMargin(0);
        m_text.setDefaultFont(plot.font());
        m_text.setHtml(caption.legend);
        m_text.setTextWidth(plot.canvas()->width() - grid(6));
        m_height = caption.legend.isEmpty() ? 0 : static_cast<int>(std::ceil(m_text.size().height())) + grid(1);
    }
    int height() const { return m_height; }
    void paint(QPainter& painter) { m_text.drawContents(&painter); }

private:
    QTextDocument m_text;
    int m_height = 0;
};

QSize pictureSize(const TimelinePlot& plot, const PictureCaption& caption)
{
    return plot.canvas()->size() + QSize(0, captionHeight + Legend(plot, caption).height());
}

void paint(QCPPainter& painter, const TimelinePlot& plot, const PictureCaption& caption)
{
    const QSize size = pictureSize(plot, caption);
    painter.fillRect(QRect({0, 0}, size), theme().surface);
    const QRect line(grid(3), 0, size.width() - grid(6), captionHeight);
    QFont bold = plot.font();
    bold.setBold(true);
    painter.setFont(bold);
    painter.setPen(theme().text);
    painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, caption.title);
    painter.setFont(plot.font());
    painter.setPen(theme().muted);
    painter.drawText(line, Qt::AlignRight | Qt::AlignVCenter, caption.note);
    Legend legend(plot, caption);
    painter.translate(grid(3), captionHeight);
    legend.paint(painter);
    painter.translate(-grid(3), legend.height());
    plot.canvas()->toPainter(&painter, plot.canvas()->width(), plot.canvas()->height());
}

#ifdef NANSCOPE_SVG
bool writeSvg(const TimelinePlot& plot, const PictureCaption& caption, const QString& path)
{
    QSvgGenerator generator;
    generator.setFileName(path);
    generator.setSize(pictureSize(plot, caption));
    generator.setViewBox(QRect({0, 0}, pictureSize(plot, caption)));
    generator.setTitle(caption.title);
    generator.setDescription(caption.note);
    QCPPainter painter;
    if (!painter.begin(&generator)) {
        return false;
    }
    painter.setMode(QCPPainter::pmVectorized);
    paint(painter, plot, caption);
    return painter.end();
}
#else
bool writeSvg(const TimelinePlot&, const PictureCaption&, const QString&)
{
    return false;
}
#endif

} // namespace

QImage timelineImage(const TimelinePlot& plot, const PictureCaption& caption)
{
    constexpr int scale = 2;
    QImage image(pictureSize(plot, caption) * scale, QImage::Format_ARGB32_Premultiplied);
    image.setDevicePixelRatio(scale);
    QCPPainter painter(&image);
    painter.setMode(QCPPainter::pmNoCaching);
    paint(painter, plot, caption);
    painter.end();
    return image;
}

bool canWriteSvg()
{
#ifdef NANSCOPE_SVG
    return true;
#else
    return false;
#endif
}

QString saveTimeline(const TimelinePlot& plot, const PictureCaption& caption, const QString& path)
{
    const bool svg = path.endsWith(QStringLiteral(".svg"), Qt::CaseInsensitive);
    const bool written = svg ? writeSvg(plot, caption, path) : timelineImage(plot, caption).save(path, "PNG");
    return written ? QString() : Words::tr("The picture could not be written: %1").arg(path);
}

} // namespace nanscope
