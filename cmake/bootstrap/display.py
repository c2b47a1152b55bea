# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Asks the display servers as Qt will: prints the Qt platform to use, or says why there is none and fails."""
import ctypes
import os
import signal
import sys


def answers(library, connect, has_error=None):
    library = ctypes.CDLL(library)
    open_display = getattr(library, connect)
    open_display.restype = ctypes.c_void_p
    connection = ctypes.c_void_p(open_display(None, None))
    return bool(connection) and not (has_error and getattr(library, has_error)(connection))


def ask():
    asked, reasons = os.environ.get("QT_QPA_PLATFORM", ""), []
    if asked in ("offscreen", "minimal"):
        return 1, "QT_QPA_PLATFORM is " + asked
    for name, platform, *server in (
            ("DISPLAY", "xcb", "libxcb.so.1", "xcb_connect", "xcb_connection_has_error"),
            ("WAYLAND_DISPLAY", "wayland", "libwayland-client.so.0", "wl_display_connect")):
        if os.environ.get(name):
            if answers(*server):
                return 0, asked or platform
            reasons.append("%s is %s, which does not answer" % (name, os.environ[name]))
    return 1, " and ".join(reasons) or "neither DISPLAY nor WAYLAND_DISPLAY is set"


signal.alarm(10)
status, answer = ask()
print(answer)
sys.exit(status)
