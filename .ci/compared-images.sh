#!/usr/bin/env bash
# Makes roots of images with the tools that put packages into images, for .ci/compare.sh:
#   .ci/compared-images.sh FOLDER [KIND]…
# Each kind is FOLDER/KIND/root, with FOLDER/KIND/locks, lines of PARSER:FILE for osv-scanner with the same packages: lock
# files that the tool wrote beside, or that are made of what its package manager says. Fetches from the registries of
# Debian, npm, PyPI, Maven, Go and Rust. Makes all kinds where none is named. Prints the kinds that could not be made here,
# and why; exits with 0 all the same.
set -euo pipefail
ROOT=$(cd "$(dirname "$0")/.." && pwd)
WORK=$1
DEPENDENCIES='{"express":"4.19.2","lodash":"4.17.20","@babel/runtime":"7.24.0","minimist":"1.2.5"}'
KINDS=("${@:2}")
# kind NAME FUNCTION: calls the function with the folder of the kind, in which `root` exists.
kind() {
  local folder=$WORK/$1 status=0
  [ "${#KINDS[@]}" -eq 0 ] || [[ " ${KINDS[*]} " == *" $1 "* ]] || return 0
  mkdir -p "$folder/root"
  # In a condition, the shell would go on after a command that fails.
  set +e
  (set -eE; trap 'failed $? "$BASH_COMMAND" >"$folder.failed"' ERR; "$2" "$folder") >"$folder.log" 2>&1
  status=$?
  set -e
  [ "$status" -ne 0 ] || return 0
  echo "$1: not made: $(reason "$folder" "$status")"
  rm -rf "$folder" "$folder.failed"
}

# failed STATUS COMMAND: says which command of a kind has failed, and how. `timeout` ends with 124.
failed() {
  local how="ended with status $1"
  [ "$1" -ne 124 ] || how="took longer than its time limit"
  echo "\`${2%%$'\n'*}\` $how"
}

# reason FOLDER STATUS: the command that failed, and the last line that it printed, if any.
reason() {
  local command last
  command=$(cat "$1.failed" 2>/dev/null) || command="it ended with status $2"
  last=$(grep -v '^ *$' "$1.log" | tail -n 1) || true
  echo "$command: ${last:-it printed nothing}"
}

# download FOLDER PACKAGE…: the packages of this machine's Debian.
download() {
  mkdir -p "$1"
  (cd "$1" && timeout 120 apt-get download "${@:2}")
}

bookworm() {
  download "$1/debs" base-files bash coreutils zlib1g libssl3 perl-base tzdata
  mkdir -p "$1"/root/var/lib/dpkg/{updates,info} "$1/root/etc"
  : >"$1/root/var/lib/dpkg/status"
  dpkg --root="$1/root" --force-all --unpack "$1"/debs/*.deb
  echo "dpkg-status:$1/root/var/lib/dpkg/status" >"$1/locks"
}

npm_modules() {
  echo "{\"name\":\"shop\",\"version\":\"1.0.0\",\"private\":true,\"dependencies\":$DEPENDENCIES}" >"$1/root/package.json"
  (cd "$1/root" && timeout 200 npm install --no-audit --no-fund --ignore-scripts)
  echo "package-lock.json:$1/root/package-lock.json" >"$1/locks"
}

pnpm_modules() {
  echo "{\"name\":\"shop\",\"version\":\"1.0.0\",\"private\":true,\"dependencies\":$DEPENDENCIES}" >"$1/root/package.json"
  (cd "$1/root" && timeout 200 npx --yes pnpm@9.15.9 install --ignore-scripts --store-dir "$1/store")
  echo "pnpm-lock.yaml:$1/root/pnpm-lock.yaml" >"$1/locks"
}

yarn_cache() {
  echo "{\"name\":\"shop\",\"version\":\"1.0.0\",\"private\":true,\"dependencies\":$DEPENDENCIES}" >"$1/root/package.json"
  printf 'nodeLinker: pnp\nenableTelemetry: false\nenableGlobalCache: false\nnpmRegistryServer: "%s"\n' \
    "$(npm config get registry)" >"$1/root/.yarnrc.yml"
  : >"$1/root/yarn.lock"
  (cd "$1/root" && timeout 200 npx --yes @yarnpkg/cli-dist@4.9.2 install --mode=skip-build)
  echo "yarn.lock:$1/root/yarn.lock" >"$1/locks"
}

python_wheels() {
  local target=$1/root/usr/lib/python3/dist-packages
  timeout 200 python3 -m pip install --quiet --disable-pip-version-check --target "$target" flask==2.2.2 requests==2.28.1 \
    PyYAML==6.0 ruamel.yaml==0.17.21
  python3 -m pip list --path "$target" --format=freeze >"$1/requirements.txt"
  mkdir -p "$1/source"
  printf 'from setuptools import setup\nsetup(name="Old.Name", version="1.9", py_modules=["old"])\n' >"$1/source/setup.py"
  echo 'name = "old"' >"$1/source/old.py"
  (cd "$1/source" && python3 setup.py --quiet bdist_egg)
  cp "$1"/source/dist/*.egg "$target/"
  echo "Old.Name==1.9" >>"$1/requirements.txt"
  echo "requirements.txt:$1/requirements.txt" >"$1/locks"
}

# An executable archive as Spring Boot makes them and a web application, each with libraries in it, and all as one list.
java_archives() {
  command -v mvn >/dev/null
  cat >"$1/pom.xml" <<'XML'
<project><modelVersion>4.0.0</modelVersion><groupId>example</groupId><artifactId>shop</artifactId><version>1</version>
<dependencies>
<dependency><groupId>org.apache.logging.log4j</groupId><artifactId>log4j-core</artifactId><version>2.14.1</version></dependency>
<dependency><groupId>org.apache.logging.log4j</groupId><artifactId>log4j-api</artifactId><version>2.14.1</version></dependency>
<dependency><groupId>commons-io</groupId><artifactId>commons-io</artifactId><version>2.7</version></dependency>
<dependency><groupId>com.fasterxml.jackson.core</groupId><artifactId>jackson-core</artifactId><version>2.13.0</version></dependency>
<dependency><groupId>com.google.guava</groupId><artifactId>guava</artifactId><version>31.1-jre</version></dependency>
</dependencies></project>
XML
  mkdir -p "$1"/boot/BOOT-INF "$1"/web/WEB-INF "$1"/boot/META-INF "$1/root/app"
  (cd "$1" && timeout 280 mvn -B -q dependency:copy-dependencies -DexcludeTransitive=true -DoutputDirectory="$1/boot/BOOT-INF/lib")
  printf 'Manifest-Version: 1.0\nMain-Class: org.springframework.boot.loader.JarLauncher\nSpring-Boot-Lib: BOOT-INF/lib/\n' \
    >"$1/boot/META-INF/MANIFEST.MF"
  cp -r "$1/boot/BOOT-INF/lib" "$1/web/WEB-INF/lib"
  (cd "$1/boot" && python3 -m zipfile -c "$1/root/app/shop.jar" META-INF BOOT-INF)
  (cd "$1/web" && python3 -m zipfile -c "$1/root/app/shop.war" WEB-INF)
  echo "pom.xml:$1/pom.xml" >"$1/locks"
}

# The program that the comparison is with, whose own list of modules is that of its go.mod.
go_program() {
  local program
  program=$("$ROOT/.ci/tools.sh" osv-scanner)
  mkdir -p "$1/root/usr/bin"
  cp -L "$program" "$1/root/usr/bin/tool"
  {
    echo "module example.com/tool"
    go version -m "$1/root/usr/bin/tool" | awk '$1 == "dep" || $1 == "mod" { print "require " $2 " " $3 }'
    go version "$1/root/usr/bin/tool" | sed 's/.* go/go /'
  } >"$1/go.mod"
  echo "go.mod:$1/go.mod" >"$1/locks"
}

rust_program() {
  command -v cargo >/dev/null
  local tools=$ROOT/build/tools/cargo-auditable
  # A machine that is busy may take longer than the limit: what was built by then is used the next time.
  [ -x "$tools/bin/cargo-auditable" ] || CARGO_BUILD_JOBS=1 timeout 1800 cargo install --locked cargo-auditable \
    --root "$tools" --target-dir "$tools/target"
  mkdir -p "$1/source/src" "$1/root/usr/bin"
  printf '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\nitoa = "=1.0.9"\nserde = "=1.0.190"\n' \
    >"$1/source/Cargo.toml"
  echo 'fn main() { println!("{}", itoa::Buffer::new().format(1)); }' >"$1/source/src/main.rs"
  (cd "$1/source" && PATH="$tools/bin:$PATH" timeout 300 cargo auditable build --release)
  cp "$1/source/target/release/shop" "$1/root/usr/bin/shop"
  echo "Cargo.lock:$1/source/Cargo.lock" >"$1/locks"
}

# Gems, packages of R and applications of Erlang as Debian installs them, without what dpkg says of them.
debian_languages() {
  download "$1/debs" ruby-rack ruby-nokogiri ruby-mini-portile2 r-cran-jsonlite r-cran-curl r-cran-rcpp erlang-p1-tls
  for deb in "$1"/debs/*.deb; do dpkg-deb -x "$deb" "$1/root"; done
  {
    printf 'GEM\n  remote: https://rubygems.org/\n  specs:\n'
    find "$1/root" -name '*.gemspec' | sed 's|.*/\(.*\)-\([0-9].*\)\.gemspec|    \1 (\2)|'
    printf '\nPLATFORMS\n  ruby\n'
  } >"$1/Gemfile.lock"
  # An installed package is a folder of a library.
  python3 - "$1" <<'PY'
import glob, json, sys
packages = {}
for path in glob.glob(sys.argv[1] + "/root/usr/lib/R/site-library/*/DESCRIPTION"):
    lines = open(path, encoding="utf-8").read().split("\n")
    fields = dict(line.split(": ", 1) for line in lines if ": " in line and not line.startswith(" "))
    packages[fields["Package"]] = {"Package": fields["Package"], "Version": fields["Version"], "Repository": "CRAN"}
json.dump({"Packages": packages}, open(sys.argv[1] + "/renv.lock", "w"))
PY
  find "$1/root" -name '*.app' -path '*/ebin/*' -exec sed -n \
    -e 's/.*{application, *\x27\{0,1\}\([a-z0-9_]*\).*/NAME \1/p' -e 's/.*{vsn, *"\([^"]*\)".*/VERSION \1/p' {} \; |
    awk 'BEGIN { print "%{" } $1 == "NAME" { name = $2 } $1 == "VERSION" { printf "  \"%s\": {:hex, :%s, \"%s\", \"00\", [:rebar3], [], \"hexpm\", \"00\"},\n", name, name, $2 } END { print "}" }' >"$1/mix.lock"
  printf 'Gemfile.lock:%s\nrenv.lock:%s\nmix.lock:%s\n' "$1/Gemfile.lock" "$1/renv.lock" "$1/mix.lock" >"$1/locks"
}

kind bookworm bookworm
kind npm npm_modules
kind pnpm pnpm_modules
kind yarn yarn_cache
kind python python_wheels
kind java java_archives
kind go go_program
kind rust rust_program
kind debian-languages debian_languages
