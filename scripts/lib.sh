# SPDX-License-Identifier: Apache-2.0
# Shared by the scripts beside it; sourced, not run. Leaves the caller in the root of the tree.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '==> %s\n' "$*"; }
fail() {
  printf '%s: %s\n' "$0" "$*" >&2
  exit 1
}

# need_packages <group>...: installs what scripts/packages lists for the groups and this machine lacks. Where it may
# not install, says what to install and stops.
need_packages() {
  local wanted=() missing=() group package
  for group in "$@"; do
    while read -r package; do wanted+=("$package"); done < <(awk -v g="$group" '$1 == g { print $2 }' scripts/packages)
  done
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    fail "this is not a Debian system. Install what corresponds to: ${wanted[*]}; then build as CONTRIBUTING.md says, with cmake --preset release"
  fi
  for package in "${wanted[@]}"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0

  local as_root=()
  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null || ! sudo -n true 2>/dev/null; then
      fail "packages are missing and this user may not install them. Run as root: apt-get update && apt-get install --no-install-recommends ${missing[*]}"
    fi
    as_root=(sudo -n)
  fi
  say "installing ${missing[*]}"
  "${as_root[@]}" apt-get update -q
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
}

# configured_as <preset> [<cmake argument>...]: what the stamp of a build configured this way says. Ninja notices a
# changed CMakeLists.txt by itself, but not changed presets.
configured_as() { printf '%s\n' "$(cksum <CMakePresets.json)" "${@:2}"; }

# configure <preset> [<cmake argument>...]: configures build/<preset> unless it already is configured this way.
configure() {
  local stamp="build/$1/configured-as"
  if [[ ! -f "build/$1/build.ninja" || $(cat "$stamp" 2>/dev/null) != "$(configured_as "$@")" ]]; then
    say "configuring $1"
    # --fresh, since options of an earlier configuration would stay in the cache.
    cmake --fresh --preset "$@"
    configured_as "$@" >"$stamp"
  fi
}
