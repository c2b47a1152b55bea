// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include "app/nanscope/shared/command.h"
#include "core/base/try.h"

namespace nanscope {

/// resources/python/nanscope_capture.py, which travels inside the program.
std::string_view captureHelper();

namespace {

class CaptureCommand : public Command
{
public:
    explicit CaptureCommand(CLI::App& root)
        : Command(root, "capture", "The Python file that makes captures in the training which decide")
    {
        options().addFlag("--print", m_print, "Write the file itself to standard output");
    }

    Result<int> run(Terminal& terminal) override;

private:
    bool m_print = false;
};

constexpr std::string_view howTo = R"(In the training's Python, with nothing to edit:

  nanscope capture --print >nanscope_capture.py
  NANSCOPE_CAPTURE=1 torchrun nanscope_capture.py train.py ...

or in the trainer, for a function of your own:

  import nanscope_capture
  newton_schulz = nanscope_capture.wrap(newton_schulz)
  nanscope_capture.watch(optimizer, model)

A call whose output is not finite leaves a dump and a sidecar in ./nanscope_captures; then

  nanscope diagnose nanscope_captures
)";

Result<int> CaptureCommand::run(Terminal& terminal)
{
    TRY(options().requireRead({{"other commands", false, {"--json"}}}));
    terminal.print(std::string(m_print ? captureHelper() : howTo));
    return exitDone;
}

} // namespace

std::unique_ptr<Command> makeCapture(CLI::App& root)
{
    return std::make_unique<CaptureCommand>(root);
}

} // namespace nanscope
