// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Parses the command line of nanscope-gui, and shows the window or writes a picture of it; --version and --help need no
// display. The window is panes, plots and item models over what core reads, replays and judges: no Torch, no CUDA, no
// SQL and no arithmetic on tensors; long work runs on worker threads or in the replay process.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <string_view>

#include <QApplication>
#include <QCommandLineParser>
#include <QCoreApplication>
#include <QFileInfo>
#include <QIcon>
#include <QImageWriter>
#include <QObject>
#include <QPixmap>
#include <QString>
#include <QStyleFactory>
#include <QTextStream>
#include <QTimer>

#include "core/platform/platform.h"
#include "core/replay/variants/nearest.h"
#include "ui/shared/text.h"
#include "ui/shell/mainwindow.h"
#include "ui/shell/parts/messagebar.h"
#include "ui/timeline/timelinepane.h"

// The macro declares a function in the namespace it is used in, and the resource lives in none.
static void initialiseIcons()
{
    Q_INIT_RESOURCE(icons);
}

namespace nanscope {

namespace {

struct Options
{
    QStringList paths;
    QString screenshot;
    QString pane;
    QSize size;
    std::optional<ThemeChoice> theme;
    bool sweep = false;
    QString layout;
    bool resetLayout = false;
    QString filter;
    std::optional<double> timeLimit; ///< seconds
    workflow::UserFiles known;
    QString error;
};

/// Waits until everything asked for is on the screen, writes a picture of the window or of one pane and ends the
/// program.
class Screenshot : public QObject
{
    Q_DECLARE_TR_FUNCTIONS(nanscope::Screenshot)

public:
    Screenshot(MainWindow& window, const Options& options);

private:
    void look();
    void finish();

    MainWindow& m_window;
    QString m_path;
    QString m_pane; ///< empty for the whole window
    QWidget* m_target = nullptr;
    bool m_sweep;
    bool m_opens; ///< something was named that should be open by then
    int m_quietLooks = 0;
    QTimer m_timer;
};

Screenshot::Screenshot(MainWindow& window, const Options& options)
    : m_window(window)
    , m_path(options.screenshot)
    , m_pane(options.pane)
    , m_sweep(options.sweep)
    , m_opens(!options.paths.isEmpty())
{
    connect(&m_timer, &QTimer::timeout, this, &Screenshot::look);
    m_timer.start(50);
}

void Screenshot::look()
{
    if (!m_window.workspace().settled() || !m_window.panes().timeline->settled()) {
        m_quietLooks = 0;
        return;
    }
    // Queued repaints of the plots follow the last result.
    constexpr int settledLooks = 4;
    if (++m_quietLooks < settledLooks) {
        return;
    }
    if (m_sweep && m_window.workspace().capture()) {
        m_sweep = false;
        m_quietLooks = 0;
        m_window.workspace().sweepSelected();
        return;
    }
    // A pane behind a tab is painted once more when it comes to the front.
    if (!m_pane.isEmpty() && !m_target) {
        m_target = m_window.pane(m_pane);
        m_quietLooks = 0;
        if (m_target) {
            return;
        }
    }
    finish();
}

void Screenshot::finish()
{
    m_timer.stop();
    if (!m_pane.isEmpty() && !m_target) {
        QTextStream(stderr) << tr("There is no pane of this name: %1\n").arg(m_pane);
        QCoreApplication::exit(1);
        return;
    }
    const bool saved = (m_target ? *m_target : static_cast<QWidget&>(m_window)).grab().save(m_path);
    if (!saved) {
        QTextStream(stderr) << tr("The picture could not be written: %1\n").arg(m_path);
    }
    const bool opened = m_window.workspace().hasRun() || !m_opens;
    if (!opened) {
        QTextStream(stderr) << m_window.messageBar()->sentence() << QLatin1Char('\n');
    }
    QCoreApplication::exit(saved && opened ? 0 : 1);
}

constexpr int wrongUsage = 2;

struct Words
{
    Q_DECLARE_TR_FUNCTIONS(nanscope::CommandLine)
};

void nameProgram()
{
    QCoreApplication::setApplicationName(QStringLiteral("nanscope"));
    QCoreApplication::setOrganizationName(QStringLiteral("nanscope"));
    QCoreApplication::setApplicationVersion(QStringLiteral(NANSCOPE_VERSION));
}

/// The words of `nanscope diagnose`.
void describeKnown(QCommandLineParser& parser)
{
    parser.addOptions({
        {QStringLiteral("variant-file"), Words::tr("JSON with variants of your own; may be repeated."),
            QStringLiteral("FILE.json")},
        {QStringLiteral("params"),
            Words::tr("Names and shapes of the model's parameters: .safetensors, its index, JSON, or lines."),
            QStringLiteral("FILE")},
        {QStringLiteral("env"), Words::tr("What `nanscope env --json` wrote in the training environment."),
            QStringLiteral("FILE.json")},
        {QStringLiteral("advisories"), Words::tr("More published problems of packages; may be repeated."),
            QStringLiteral("FILE.json")},
    });
}

/// With whole paths, because what is remembered of a run outlives the folder the program was started in.
workflow::UserFiles readKnownOptions(const QCommandLineParser& parser)
{
    const std::pair<const char*, workflow::UserFileKind> options[] = {
        {"variant-file", workflow::UserFileKind::variants}, {"params", workflow::UserFileKind::parameters},
        {"env", workflow::UserFileKind::environment}, {"advisories", workflow::UserFileKind::advisories}};
    workflow::UserFiles files;
    for (const auto& [option, kind] : options) {
        for (const QString& path : parser.values(QLatin1String(option))) {
            files = workflow::withFile(std::move(files), kind, QFileInfo(path).absoluteFilePath().toStdString());
        }
    }
    return files;
}

/// A file that was named and cannot be used; one of the configuration folder must not keep the window closed.
QString knownProblem(const workflow::UserFiles& files)
{
    const workflow::UserFacts known = files.empty() ? workflow::UserFacts() : workflow::readUserFiles(files, {});
    const auto bad =
        std::ranges::find_if(known.files, [](const workflow::UserFile& file) { return file.problem && !file.always; });
    return bad == known.files.end() ? QString() : qstr(sentence(*bad->problem));
}

void describe(QCommandLineParser& parser)
{
    parser.setApplicationDescription(
        Words::tr("Opens a run: a folder with dumps and logs, a capture, or a .nanscope session."));
    parser.addHelpOption();
    parser.addVersionOption();
    parser.addPositionalArgument(QStringLiteral("PATH"), Words::tr("What to open."), QStringLiteral("[PATH...]"));
    parser.addOptions({
        {QStringLiteral("screenshot"), Words::tr("Load, judge, write a picture of the window, and exit."),
            QStringLiteral("FILE.png")},
        {QStringLiteral("pane"),
            Words::tr("Picture of one pane: captures, faults, verdict, film, tensors, cliff, findings, rollback, "
                      "whatif, report, frame …"),
            QStringLiteral("NAME")},
        {QStringLiteral("size"), Words::tr("Size of the window, e.g. 1440x900."), QStringLiteral("WxH")},
        {QStringLiteral("theme"), Words::tr("system, light or dark."), QStringLiteral("NAME")},
        {QStringLiteral("layout"), Words::tr("Lay the panes as they were saved under this name."),
            QStringLiteral("NAME")},
        {QStringLiteral("reset-layout"), Words::tr("Forget how the window and its panes lay.")},
        {QStringLiteral("filter"), Words::tr("Filter of the captures, e.g. \"role:birth rank:0\"."),
            QStringLiteral("TEXT")},
        {QStringLiteral("time-limit"), Words::tr("Judge for at most so many seconds, and show what is known then."),
            QStringLiteral("SECONDS")},
        {QStringLiteral("sweep"), Words::tr("Sweep the first capture before the picture is taken.")},
    });
    describeKnown(parser);
}

QSize parseSize(const QString& text)
{
    const QStringList parts = text.split(QLatin1Char('x'));
    return parts.size() == 2 ? QSize(parts[0].toInt(), parts[1].toInt()) : QSize();
}

/// Before minutes are spent on what cannot be written.
QString pictureProblem(const QString& file)
{
    if (file.isEmpty()) {
        return {};
    }
    const QList<QByteArray> formats = QImageWriter::supportedImageFormats();
    if (formats.contains(QFileInfo(file).suffix().toLower().toLatin1())) {
        return {};
    }
    const QByteArray list = formats.join(", ");
    return Words::tr("--screenshot cannot write “%1”: the name of a picture ends in one of %2")
        .arg(file, QString::fromLatin1(list));
}

Options readOptions(const QCommandLineParser& parser)
{
    Options options;
    for (const QString& path : parser.positionalArguments()) {
        if (!path.isEmpty()) {
            options.paths << path;
        }
    }
    options.screenshot = parser.value(QStringLiteral("screenshot"));
    options.pane = parser.value(QStringLiteral("pane"));
    options.sweep = parser.isSet(QStringLiteral("sweep"));
    options.layout = parser.value(QStringLiteral("layout"));
    options.resetLayout = parser.isSet(QStringLiteral("reset-layout"));
    options.filter = parser.value(QStringLiteral("filter"));
    options.known = readKnownOptions(parser);
    options.error = knownProblem(options.known);
    if (const QString problem = pictureProblem(options.screenshot); !problem.isEmpty()) {
        options.error = problem;
    }
    if (parser.isSet(QStringLiteral("size"))) {
        options.size = parseSize(parser.value(QStringLiteral("size")));
        if (options.size.width() < 200 || options.size.height() < 200) {
            options.error = Words::tr("--size takes width and height of at least 200, e.g. 1440x900");
        }
    }
    if (parser.isSet(QStringLiteral("time-limit"))) {
        options.timeLimit = parser.value(QStringLiteral("time-limit")).toDouble();
        if (!(*options.timeLimit > 0)) {
            options.error = Words::tr("--time-limit takes a positive number of seconds, e.g. 60");
        }
    }
    if (parser.isSet(QStringLiteral("theme"))) {
        options.theme = parseThemeChoice(parser.value(QStringLiteral("theme")));
        if (!options.theme) {
            options.error = Words::tr("--theme takes system, light or dark");
        }
    }
    return options;
}

bool asksForText(int argc, char** argv)
{
    constexpr std::string_view asks[] = {"--help", "-h", "--help-all", "--version", "-v"};
    return std::any_of(argv + 1, argv + argc,
        [&](std::string_view argument) { return std::ranges::find(asks, argument) != std::end(asks); });
}

bool takesPicture(int argc, char** argv)
{
    return std::any_of(
        argv + 1, argv + argc, [](std::string_view argument) { return argument.starts_with("--screenshot"); });
}

int printText(int argc, char** argv)
{
    QCoreApplication app(argc, argv);
    nameProgram();
    QCommandLineParser parser;
    describe(parser);
    parser.process(app);
    return 0;
}

/// Qt aborts where it finds no display; a picture needs none, and everything else deserves a sentence.
bool displayMissing(bool picture)
{
    const bool display = qEnvironmentVariableIsSet("DISPLAY") || qEnvironmentVariableIsSet("WAYLAND_DISPLAY")
        || qEnvironmentVariableIsSet("QT_QPA_PLATFORM");
#if defined(Q_OS_LINUX)
    if (!display && picture) {
        qputenv("QT_QPA_PLATFORM", "offscreen");
    }
    return !display && !picture;
#else
    Q_UNUSED(display)
    Q_UNUSED(picture)
    return false;
#endif
}

QIcon programIcon()
{
    QIcon icon;
    for (const int size : {32, 64, 128, 256}) {
        icon.addFile(QStringLiteral(":/icons/nanscope-%1.png").arg(size));
    }
    return icon;
}

QString noSuchLayout(const QString& name, const QStringList& known)
{
    if (known.isEmpty()) {
        return Words::tr("no layout was saved yet; the panes lie by default: %1").arg(name);
    }
    std::vector<std::string> names;
    std::ranges::transform(known, std::back_inserter(names), &QString::toStdString);
    QStringList near;
    for (const std::string_view close : replay::nearest(name.toStdString(), {names.begin(), names.end()}, 3)) {
        near << qstr(close);
    }
    return Words::tr("there is no layout of this name, the nearest are %1; the panes lie by default: %2")
        .arg(near.join(QStringLiteral(", ")), name);
}

/// One sentence where it was not saved.
QString takeLayout(const QString& name, WindowOptions& options)
{
    const WindowSettings settings(true);
    options.layout = settings.layout(name);
    return options.layout->isEmpty() ? noSuchLayout(name, settings.layoutNames()) : QString();
}

int show(const QApplication& app, const Options& options)
{
    WindowOptions windowOptions;
    windowOptions.remember = options.screenshot.isEmpty();
    windowOptions.theme = options.theme;
    windowOptions.resetLayout = options.resetLayout;
    windowOptions.filter = options.filter;
    windowOptions.known = options.known;
    const QString problem = options.layout.isEmpty() ? QString() : takeLayout(options.layout, windowOptions);
    MainWindow window(windowOptions);
    if (options.size.isValid()) {
        window.resize(options.size);
    } else if (!options.screenshot.isEmpty()) {
        window.resize(1440, 900);
    }
    window.show();
    window.workspace().limitJudging(options.timeLimit);
    std::optional<Screenshot> screenshot;
    if (!options.paths.isEmpty()) {
        window.openPaths(options.paths);
    }
    if (!problem.isEmpty()) {
        std::fprintf(stderr, "nanscope-gui: %s\n", qPrintable(qstr(problem.toStdString())));
        window.messageBar()->showMessage(sentenceCase(problem));
    }
    QTimer::singleShot(0, &window, [&window] { window.workspace().startService(); });
    if (!options.screenshot.isEmpty()) {
        screenshot.emplace(window, options);
    }
    return app.exec();
}

} // namespace

} // namespace nanscope

int main(int argc, char** argv)
{
    using namespace nanscope;
    platform::failAtFileSizeLimit();
    if (asksForText(argc, argv)) {
        return printText(argc, argv);
    }
    if (displayMissing(takesPicture(argc, argv))) {
        std::fputs(
            "nanscope-gui: there is no display; use `nanscope diagnose PATH`, or --screenshot FILE.png\n", stderr);
        return 1;
    }
    QApplication app(argc, argv);
    nameProgram();
    QGuiApplication::setApplicationDisplayName(QStringLiteral("Nanscope"));
    QGuiApplication::setDesktopFileName(QStringLiteral("nanscope"));
    initialiseIcons();
    QApplication::setWindowIcon(programIcon());
    QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
    QCommandLineParser parser;
    describe(parser);
    parser.process(app);
    const Options options = readOptions(parser);
    if (!options.error.isEmpty()) {
        std::fprintf(stderr, "nanscope-gui: %s\n", qPrintable(qstr(options.error.toStdString())));
        return wrongUsage;
    }
    return show(app, options);
}
