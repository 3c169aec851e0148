#!/usr/bin/env bash
# An image of real packages: what registries and build tools put into images, against what each ecosystem's own tool
# says is there. Fetches packages of Debian, npm, PyPI and Maven, and takes a program that Go built.
# Exit status 77: not everything can be fetched on this machine (its last line says what); the rest has passed.
set -euo pipefail
ROOT=$(cd "$(dirname "$0")/.." && pwd)
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
MISSING=()
# part NAME FUNCTION: makes $WORK/NAME, the root of a layer, and $WORK/NAME.txt, what is in it by the ecosystem's tool.
part() {
  local name=$1 status=0
  mkdir -p "$WORK/$name"
  # In a condition, the shell would go on after a command that fails.
  set +e
  (set -e; "$2" "$WORK/$name" "$WORK/$name.txt") >"$WORK/$name.log" 2>&1
  status=$?
  set -e
  if [ "$status" -ne 0 ]; then
    echo "$name:"; tail -n 12 "$WORK/$name.log"
    MISSING+=("$name")
    rm -rf "${WORK:?}/$name" "$WORK/$name.txt"
  fi
}

debian() {
  command -v apt-get dpkg dpkg-query >/dev/null
  local debs
  debs=$(mktemp -d)
  (cd "$debs" && timeout 120 apt-get download bash coreutils zlib1g libssl3 perl-base tzdata)
  mkdir -p "$1/var/lib/dpkg/updates" "$1/var/lib/dpkg/info" "$1/etc"
  : >"$1/var/lib/dpkg/status"
  cp /etc/os-release "$1/etc/os-release"
  dpkg --root="$1" --force-all --unpack "$debs"/*.deb
  rm -rf "$debs"
  # shellcheck disable=SC2016 # the names are those of dpkg-query
  dpkg-query --root="$1" -W -f '${Package} ${Version} ${Architecture} ${source:Package} ${source:Version}\n' >"$2"
}

npm_packages() {
  cat >"$1/package.json" <<'JSON'
{"name":"shop","version":"1.0.0","private":true,"dependencies":{"express":"^4","lodash":"^4","@babel/core":"^7"}}
JSON
  (cd "$1" && timeout 200 npm install --no-audit --no-fund --ignore-scripts)
  # The lock file that npm writes into node_modules: the path of each package, and its version.
  node -e '
    const { packages } = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8"));
    for (const [path, { version }] of Object.entries(packages))
      console.log(path.slice(path.lastIndexOf("node_modules/") + 13), version);
  ' "$1/node_modules/.package-lock.json" >"$2"
}

python_packages() {
  local target=$1/usr/lib/python3/dist-packages
  timeout 200 python3 -m pip install --quiet --target "$target" flask requests PyYAML Jinja2 ruamel.yaml
  python3 -m pip list --path "$target" --format=freeze >"$2"
}

java_packages() {
  command -v mvn >/dev/null
  cat >"$1/pom.xml" <<'XML'
<project><modelVersion>4.0.0</modelVersion><groupId>example</groupId><artifactId>shop</artifactId><version>1</version>
<dependencies>
<dependency><groupId>org.apache.logging.log4j</groupId><artifactId>log4j-core</artifactId><version>2.14.1</version></dependency>
<dependency><groupId>commons-io</groupId><artifactId>commons-io</artifactId><version>2.7</version></dependency>
<dependency><groupId>com.fasterxml.jackson.core</groupId><artifactId>jackson-databind</artifactId><version>2.13.0</version></dependency>
</dependencies></project>
XML
  (cd "$1" && timeout 280 mvn -B -q dependency:copy-dependencies -DoutputDirectory="$1/app/lib" &&
    timeout 100 mvn -B -q dependency:list -DoutputFile="$2.list" -DincludeScope=runtime)
  rm "$1/pom.xml"
  # "   group:artifact:jar:version:scope…"
  sed -n 's/^ *\([^: ]*\):\([^: ]*\):jar:\([^: ]*\):.*/\1 \2 \3/p' "$2.list" >"$2"
  [ -s "$2" ]
}

# 21 archives that many images hold, as Maven's clients get them; half of them state no coordinates.
java_archives() {
  command -v mvn >/dev/null
  cat >"$2" <<'LIST'
org.apache.tomcat.embed tomcat-embed-core 9.0.70
org.springframework.boot spring-boot 2.7.5
org.springframework spring-core 5.3.20
org.postgresql postgresql 42.3.1
com.h2database h2 2.0.204
com.squareup.okhttp3 okhttp 4.9.1
com.mysql mysql-connector-j 8.0.31
xerces xercesImpl 2.11.0
org.codehaus.groovy groovy 2.4.5
org.dom4j dom4j 2.1.1
org.bouncycastle bcprov-jdk18on 1.71
org.apache.logging.log4j log4j-core 2.14.1
org.apache.commons commons-text 1.9
com.fasterxml.jackson.core jackson-databind 2.13.0
com.google.guava guava 31.1-jre
io.netty netty-handler 4.1.90.Final
org.yaml snakeyaml 1.30
ch.qos.logback logback-classic 1.2.3
org.apache.struts struts2-core 2.5.22
commons-collections commons-collections 3.2.1
com.alibaba fastjson 1.2.80
LIST
  {
    echo '<project><modelVersion>4.0.0</modelVersion><groupId>example</groupId><artifactId>shop</artifactId>'
    echo '<version>1</version><dependencies>'
    while read -r group artifact version; do
      echo "<dependency><groupId>$group</groupId><artifactId>$artifact</artifactId><version>$version</version>"
      echo '<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions></dependency>'
    done <"$2"
    echo '</dependencies></project>'
  } >"$1/pom.xml"
  (cd "$1" && timeout 280 mvn -B -q dependency:copy-dependencies -DoutputDirectory="$1/app/lib")
  rm "$1/pom.xml"
}

go_program() {
  command -v go >/dev/null
  local program
  program=$("$ROOT/.ci/tools.sh" osv-scanner)
  mkdir -p "$1/usr/bin"
  cp -L "$program" "$1/usr/bin/osv-scanner"
  go version -m "$1/usr/bin/osv-scanner" >"$2"
}

part debian debian
part npm npm_packages
part python python_packages
part java java_packages
part archives java_archives
part go go_program
[ -s "$WORK/npm.txt" ] || { echo "real packages: not run: npm fetches nothing here"; exit 77; }
cd "$ROOT"
MOORAGE_TEST_ENGINES=sqlite MOORAGE_TEST_REAL_PACKAGES=$WORK npm test -- security/real-packages
[ "${#MISSING[@]}" -eq 0 ] || { echo "real packages: without ${MISSING[*]}: not to be fetched here"; exit 77; }
