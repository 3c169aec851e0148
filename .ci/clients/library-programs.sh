# Sourced by the checks with clients of libraries: installs them from the package registries once, at pinned versions, into
# BUILT: pnpm, yarn and bun below node_modules, pip, twine, uv, poetry and build in PY. What cannot be installed is missing.
BUILT=$ROOT/build/tools/libraries
PY=$BUILT/python/bin
MISSING=()
missing() { echo "libraries: $1: not run: $2"; MISSING+=("$1"); }
mkdir -p "$BUILT"
if [ ! -x "$BUILT/node_modules/.bin/pnpm" ]; then
  echo '{"private": true, "allowScripts": {"bun": true, "pnpm": true, "yarn": true}}' >"$BUILT/package.json"
  npm install --silent --no-audit --no-fund --prefix "$BUILT" pnpm@12.21.0 yarn@1.22.22 bun@1.4.5 >"$BUILT/npm.log" 2>&1 || true
fi
if [ ! -x "$PY/twine" ] && command -v python3 >/dev/null; then
  { python3 -m venv "$BUILT/python" && "$PY/pip" install -q twine==7.0.0 uv==0.13.9 poetry==2.5.1 build==1.6.1 setuptools wheel; } >"$BUILT/python.log" 2>&1 || true
fi

# own_settings: from here on no settings, caches and indexes of this machine count.
own_settings() {
  export HOME="$WORK/home" XDG_CACHE_HOME="$WORK/cache" XDG_CONFIG_HOME="$WORK/config" PIP_CONFIG_FILE=/dev/null PIP_DISABLE_PIP_VERSION_CHECK=1
  unset PIP_INDEX_URL PIP_FIND_LINKS PIP_EXTRA_INDEX_URL UV_INDEX_URL UV_DEFAULT_INDEX UV_FIND_LINKS npm_config_registry NPM_CONFIG_REGISTRY
  mkdir -p "$HOME"
}
