# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
#
# Debian packages. "a|b" is one package under two names; the first that exists is taken.

packages_build=(ca-certificates g++ ninja-build ccache pkg-config python3 libexpected-dev libfmt-dev libeigen3-dev
  libsimdjson-dev nlohmann-json3-dev libre2-dev libcli11-dev libzstd-dev liblzma-dev zlib1g-dev libssl-dev libxxhash-dev libisal-dev
  libprotozero-dev libsqlite3-dev libyaml-cpp-dev libtomlplusplus-dev)
packages_window=(qt6-base-dev "qt6-svg-dev|libqt6svg6-dev" libgl1-mesa-dev libqcustomplot-dev fonts-dejavu-core)
packages_test=(libgtest-dev libgmock-dev xvfb xauth "clang-format-14|clang-format" "clang-tidy-14|clang-tidy")
packages_bench=(libbenchmark-dev)
elevate=()

find_elevation() {
  [ "$(id -u)" -ne 0 ] || return 0
  have sudo || fail "these packages are missing and need an administrator: apt-get install $*"
  sudo -n true 2>/dev/null || [ -t 0 ] || fail "sudo needs a password to install: sudo apt-get install $*"
  say "sudo runs apt-get, and nothing else, for: $*"
  elevate=(sudo)
}

apt_get() {
  local name settings=(DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8)
  for name in http_proxy https_proxy no_proxy; do
    [ -z "${!name:-}" ] || settings+=("$name=${!name}")
  done
  # The status of an installation needs a descriptor of its own, and sudo passes on none but the first three.
  "${elevate[@]}" env "${settings[@]}" sh -c 'exec apt-get "$@" 3>&1' sh \
    -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 --no-install-recommends "$@" </dev/null
}

# The entries of which no name is installed.
missing_packages() {
  local installed entry
  # shellcheck disable=SC2068
  installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' ${@//|/ } 2>/dev/null || true)
  for entry in "$@"; do
    grep -qxE "installed (${entry//+/\\+})" <<<"$installed" || echo "$entry"
  done
}

first_available() {
  local name
  for name in ${1//|/ }; do
    case $(apt-cache policy "$name" 2>/dev/null) in *'Candidate: (none)'* | '') ;; *) echo "$name"; return ;; esac
  done
  echo "${1%%|*}"
}

# Steps of 10 % from apt's machine-readable status; every other line goes to the log.
apt_progress() {
  local line shown='' now
  while IFS= read -r line; do
    if [[ $line =~ ^(dl|pm)status:.*:([0-9]+)[.0-9]*: ]]; then
      [ "${BASH_REMATCH[1]}" = dl ] && now=downloading || now=installing
      now="$now, $((BASH_REMATCH[2] / 10 * 10)) %"
      [ "$now" = "$shown" ] || say "  $now"
      shown=$now
    else
      echo "$line" >>"$logs/apt.log"
    fi
  done
}

apt_update() { apt_get update >"$logs/apt.log" 2>&1; }
apt_install() { apt_get --yes -o APT::Status-Fd=3 install "$@" 2>&1 | apt_progress; }

need_packages() {
  local missing entry names=() size
  if ! have apt-get; then
    say "no apt-get here; the counterparts of these packages have to be installed: $*"
    return
  fi
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  [ "$offline" = no ] || fail "missing, and --offline forbids to download: ${missing[*]%%|*}"
  find_elevation "${missing[@]%%|*}"
  say "reading the package lists"
  twice apt_update || fail "apt-get update failed: $(why_failed "$logs/apt.log")."
  for entry in "${missing[@]}"; do names+=("$(first_available "$entry")"); done
  size=$(apt_get --assume-no install "${names[@]}" 2>&1 | sed -n 's/^Need to get \(.*\) of archives\./\1 to download/p
    s/^After this operation, \(.*\) of additional.*/\1 on disk/p' | paste -sd, | sed 's/,/, /' || true)
  say "installing ${#names[@]} Debian packages and what they need (${size:-size unknown}): ${names[*]}"
  : >"$logs/apt.log"
  twice apt_install "${names[@]}" || fail "apt-get could not install the packages: $(why_failed "$logs/apt.log")."
}
