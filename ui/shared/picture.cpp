// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shared/picture.h"

#include <cmath>
#include <memory>

#include <QApplication>
#include <QBuffer>
#include <QPageSize>
#include <QPdfWriter>
#include <QScreen>
#include <QTextDocument>
#include <QTextOption>

#include "ui/shared/qcp.h"
#include "ui/shared/svgpicture.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

/// Title, note and legend, wrapped to the width of the picture: it may be a narrow one.
class CaptionText
{
public:
    CaptionText(const PictureCaption& caption, int width)
    {
        QTextOption wrapped;
        wrapped.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
        m_text.setDefaultTextOption(wrapped);
        m_text.setDocumentMargin(0);
        m_text.setDefaultFont(QApplication::font());
        const QString lines = caption.legend.isEmpty() ? QString() : QStringLiteral("<br>") + caption.legend;
        m_text.setHtml(QStringLiteral("<b style='color:%1'>%2</b><span style='color:%3'>&nbsp;&nbsp; %4%5</span>")
                           .arg(theme().text.name(), caption.title.toHtmlEscaped(), theme().muted.name(),
                               caption.note.toHtmlEscaped(), lines));
        m_text.setTextWidth(width - 2 * margin);
    }
    int height() const { return static_cast<int>(std::ceil(m_text.size().height())) + 2 * gap; }
    void paint(QPainter& painter)
    {
        painter.save();
        painter.translate(margin, gap);
        m_text.drawContents(&painter);
        painter.restore();
    }

private:
    static constexpr int margin = grid(3);
    static constexpr int gap = grid(1);
    QTextDocument m_text;
};

bool paintOn(QPaintDevice& device, const Picture& picture, QCPPainter::PainterMode mode)
{
    QCPPainter painter;
    if (!painter.begin(&device)) {
        return false;
    }
    painter.setMode(mode);
    painter.fillRect(QRect({0, 0}, picture.size), theme().surface);
    picture.paint(PictureCanvas(painter));
    return painter.end();
}

/// Of the screen, so that a font is as large beside the lines as it is there.
int pixelsPerInch()
{
    return static_cast<int>(std::lround(QGuiApplication::primaryScreen()->logicalDotsPerInch()));
}

bool writePng(QIODevice& out, const Picture& picture)
{
    return imageOf(picture).save(&out, "PNG");
}

bool writePdf(QIODevice& out, const Picture& picture, const QString& title)
{
    constexpr double pointsPerInch = 72;
    QPdfWriter writer(&out);
    writer.setTitle(title);
    writer.setResolution(pixelsPerInch());
    writer.setPageSize(
        QPageSize(QSizeF(picture.size) * pointsPerInch / pixelsPerInch(), QPageSize::Point, {}, QPageSize::ExactMatch));
    writer.setPageMargins({});
    return paintOn(writer, picture, QCPPainter::pmVectorized);
}

bool writeSvg(QIODevice& out, const Picture& picture, const QString& title)
{
    const auto paint = [&picture](QCPPainter& painter, SvgFragments& fragments) {
        painter.fillRect(QRect({0, 0}, picture.size), theme().surface);
        picture.paint(PictureCanvas(painter, &fragments));
    };
    const QByteArray drawing = svgOf(QRectF({0, 0}, QSizeF(picture.size)), title, paint);
    return !drawing.isEmpty() && out.write(drawing) == drawing.size();
}

bool write(QIODevice& out, const Picture& picture, const QString& title, const QString& ending)
{
    return ending == QStringLiteral("svg") ? writeSvg(out, picture, title)
        : ending == QStringLiteral("pdf")  ? writePdf(out, picture, title)
                                           : writePng(out, picture);
}

enum class Part { axes, inside };

/// Axes with their grid, or what lies within them.
void drawPart(QCPPainter& painter, QCustomPlot& plot, Part part)
{
    const QString axes = QStringLiteral("axes");
    std::vector<QCPLayer*> hidden;
    for (int i = 0; i < plot.layerCount(); ++i) {
        QCPLayer* layer = plot.layer(i);
        const bool ofAxes = layer->name() == axes || layer->name() == QStringLiteral("grid");
        if (ofAxes != (part == Part::axes) && layer->visible()) {
            layer->setVisible(false);
            hidden.push_back(layer);
        }
    }
    // Axes are hidden together with the rectangle they belong to, and that one with its layout.
    std::vector<std::pair<QCPLayerable*, QCPLayer*>> homes;
    for (QCPAxisRect* rect : plot.axisRects()) {
        for (QCPLayerable* place = rect; part == Part::axes && place; place = place->parentLayerable()) {
            homes.emplace_back(place, place->layer());
            place->setLayer(axes);
        }
    }
    plot.toPainter(&painter, plot.width(), plot.height());
    // A layout that holds two rectangles stands there twice: its own layer comes last.
    for (auto home = homes.rbegin(); home != homes.rend(); ++home) {
        home->first->setLayer(home->second);
    }
    for (QCPLayer* layer : hidden) {
        layer->setVisible(true);
    }
}

} // namespace

QPainter& PictureCanvas::painter() const
{
    return m_painter;
}

void PictureCanvas::draw(QCustomPlot& plot) const
{
    m_painter.save();
    if (!m_fragments) {
        plot.toPainter(&m_painter, plot.width(), plot.height());
    } else {
        plot.replot(); // so that the axes are where they will be
        QRect inside;
        for (const QCPAxisRect* rect : plot.axisRects()) {
            inside |= rect->rect();
        }
        plot.setBackground(QBrush(Qt::NoBrush)); // each part would paint over the one before
        drawPart(m_painter, plot, Part::axes);
        clipped(inside, [&plot](const PictureCanvas& canvas) { drawPart(canvas.m_painter, plot, Part::inside); });
        plot.setBackground(QBrush(theme().surface));
    }
    m_painter.restore();
}

void PictureCanvas::clipped(const QRectF& inside, const std::function<void(const PictureCanvas&)>& paint) const
{
    if (m_fragments) {
        addSvgFragment(m_painter, *m_fragments, inside,
            [&paint](QCPPainter& painter, SvgFragments& fragments) { paint(PictureCanvas(painter, &fragments)); });
        return;
    }
    m_painter.save();
    m_painter.setClipRect(inside, Qt::IntersectClip);
    paint(*this);
    m_painter.restore();
}

Picture pictureOf(QCustomPlot& plot)
{
    return {plot.size(), [&plot](const PictureCanvas& canvas) { canvas.draw(plot); }};
}

Picture pictureOf(QWidget& widget)
{
    return {widget.size(),
        [&widget](const PictureCanvas& canvas) { widget.render(&canvas.painter(), {}, {}, QWidget::DrawChildren); }};
}

Picture together(std::vector<std::pair<QPoint, Picture>> parts)
{
    QRect whole;
    for (const auto& [corner, part] : parts) {
        whole |= QRect(corner, part.size);
    }
    return {whole.size(), [parts = std::move(parts)](const PictureCanvas& canvas) {
                for (const auto& [corner, part] : parts) {
                    canvas.painter().save();
                    canvas.painter().translate(corner);
                    part.paint(canvas);
                    canvas.painter().restore();
                }
            }};
}

Picture captioned(Picture picture, const PictureCaption& caption)
{
    if (!picture) {
        return picture;
    }
    const auto text = std::make_shared<CaptionText>(caption, picture.size.width());
    const Picture heading {
        {picture.size.width(), text->height()}, [text](const PictureCanvas& canvas) { text->paint(canvas.painter()); }};
    std::vector<std::pair<QPoint, Picture>> parts {{{0, 0}, heading}};
    parts.emplace_back(QPoint(0, text->height()), std::move(picture));
    return together(std::move(parts));
}

QImage imageOf(const Picture& picture)
{
    constexpr int scale = 2;
    QImage image(picture.size * scale, QImage::Format_RGB32);
    image.setDevicePixelRatio(scale);
    paintOn(image, picture, QCPPainter::pmNoCaching);
    return image;
}

QStringList pictureEndings()
{
    QStringList endings {QStringLiteral("png")};
#ifdef NANSCOPE_SVG
    endings << QStringLiteral("svg");
#endif
    return endings << QStringLiteral("pdf");
}

Result<QByteArray> encoded(const Picture& picture, const QString& title, const QString& ending)
{
    if (!pictureEndings().contains(ending)) {
        return failure(ErrorKind::usage,
            QObject::tr("A picture's name has to end in .%1")
                .arg(pictureEndings().join(QStringLiteral(" or .")))
                .toStdString());
    }
    QBuffer buffer;
    buffer.open(QIODevice::WriteOnly);
    if (!write(buffer, picture, title, ending)) {
        return failure(ErrorKind::internal,
            QObject::tr("The picture could not be drawn; make the pane smaller, or choose another form").toStdString());
    }
    return buffer.data();
}

} // namespace nanscope
