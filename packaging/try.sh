#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
#
# try.sh ROOT PACKAGES: installs each package in a bare Debian root, runs it on its sample, and removes it. ROOT is made by
# debootstrap and has a network; needs root. Ends with one line per package.
set -euo pipefail
root=$1 packages=$2

inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive bash -lc "$1"; }
# The sessions of a user stay theirs.
left() { inside "find / -xdev -iname '*nanscope*' -not -path '/proc/*' -not -path '/tmp/*' -not -path '/root/.local/*' | head"; }
judges() { # COMMAND SAMPLE
  inside "$1 diagnose $2 --json" | grep '"verdict": *"implementation"' >/dev/null || { echo "$1 does not judge $2 as expected"; exit 1; }
}
gone() { [ -z "$(left)" ] || { echo "$1 left behind: $(left)"; exit 1; }; }

mkdir -p "$root/tmp/packages"
cp "$packages"/*.deb "$packages"/*.tar.xz "$packages"/*.whl "$root/tmp/packages/"
cp -r "$(dirname "$0")/../resources/sample" "$root/tmp/sample"

inside "apt-get -qq update && apt-get -qq install --no-install-recommends /tmp/packages/nanscope*.deb xz-utils python3-venv >/tmp/apt.log 2>&1" ||
  { tail -n 20 "$root/tmp/apt.log"; exit 1; }
judges nanscope /usr/share/nanscope/sample
# Nothing that the worker is configured with is missing in the package.
"${CMAKE:-cmake}" -S "$root/usr/share/nanscope/source" -B "$root/tmp/configured" -DNANSCOPE_WORKER=OFF -DNANSCOPE_GUI=OFF -DBUILD_TESTING=OFF >/dev/null
inside "nanscope doctor" | grep -- --build-worker >/dev/null || { echo "doctor names no way to a worker"; exit 1; }
inside "QT_QPA_PLATFORM=offscreen nanscope-gui --screenshot /tmp/window.png /usr/share/nanscope/sample && test -s /tmp/window.png"
inside "man -w nanscope-sweep >/dev/null 2>&1 || test -e /usr/share/man/man1/nanscope-sweep.1.gz"
inside "apt-get -qq purge 'nanscope*' >/dev/null 2>&1"
gone "the .deb"
echo "deb: installed, judged its sample, drew the window, removed"

inside "tar -C /opt -xf /tmp/packages/nanscope-*.tar.xz && mv /opt/nanscope-* /opt/moved"
judges /opt/moved/bin/nanscope /opt/moved/share/nanscope/sample
inside "rm -r /opt/moved"
gone "the tarball"
echo "tarball: unpacked, moved, judged its sample, removed"

inside "python3 -m venv /opt/venv && /opt/venv/bin/pip -q install --no-index /tmp/packages/*.whl"
judges /opt/venv/bin/nanscope /tmp/sample
inside "/opt/venv/bin/pip -q uninstall --yes nanscope"
[ -z "$(inside "find /opt/venv -iname '*nanscope*'")" ] || { echo "the wheel left files behind"; exit 1; }
echo "wheel: installed, judged the sample, removed"
