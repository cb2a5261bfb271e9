#!/usr/bin/env bash
# Sourced by ./run and ./test: makes .venv from a hashed lock file. Usage: setup LOCK
# Needs Python 3.11 to 3.13; everything else comes from the package index, into this folder.

say() { printf '%s\n' "$*" >&2; }

find_python() {
  local name
  for name in python3.13 python3.12 python3.11 python3 python; do
    if command -v "$name" >/dev/null &&
      "$name" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null; then
      command -v "$name"
      return
    fi
  done
  say "Python 3.11, 3.12 or 3.13 is needed and was not found. On Debian or Ubuntu: apt-get install python3 python3-venv"
  return 1
}

make_venv() {
  local python=$1
  "$python" -m venv .venv >/dev/null 2>&1 && return
  rm -rf .venv
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    say "This Python lacks venv: installing Debian's python3-venv."
    apt-get update -qq && apt-get install -y -qq --no-install-recommends python3-venv >/dev/null
    "$python" -m venv .venv && return
  fi
  say "This Python cannot make virtual environments. On Debian or Ubuntu: apt-get install python3-venv"
  return 1
}

setup() {
  local lock=$1 stamp
  stamp=$(cat "$lock" pyproject.toml | sha256sum | cut -d' ' -f1)
  if [ -x .venv/bin/repro ] && [ "$(cat .venv/.stamp 2>/dev/null)" = "$stamp" ]; then return; fi
  local python
  python=$(find_python) || return
  if ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
    say "Making .venv with $python …"
    rm -rf .venv
    make_venv "$python" || return
  fi
  say "Installing the locked packages …"
  sed -n '/^uv==/,/[^\\]$/p' "$lock" > .venv/uv.lock
  .venv/bin/python -m pip install -q --require-hashes -r .venv/uv.lock || return
  if ! VIRTUAL_ENV=.venv .venv/bin/uv pip install -q --compile-bytecode --require-hashes -r "$lock"; then
    say "uv could not reach the package index; the same locked packages by pip (slower) …"
    .venv/bin/python -m pip install -q --require-hashes -r "$lock" || return
  fi
  .venv/bin/python -m pip install -q --no-deps -e . || return
  echo "$stamp" > .venv/.stamp
}
