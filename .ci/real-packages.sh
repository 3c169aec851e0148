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

# archives FOLDER LIST: fetches the archives of the list, a group, artifact and version a line, into FOLDER/app/lib.
archives() {
  command -v mvn >/dev/null
  {
    echo '<project><modelVersion>4.0.0</modelVersion><groupId>example</groupId><artifactId>shop</artifactId>'
    echo '<version>1</version><dependencies>'
    while read -r group artifact version; do
      echo "<dependency><groupId>$group</groupId><artifactId>$artifact</artifactId><version>$version</version>"
      echo '<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions></dependency>'
    done <"$2"
    echo '</dependencies></project>'
  } >"$1/pom.xml"
  (cd "$1" && timeout 480 mvn -B -q dependency:copy-dependencies -DoutputDirectory="$1/app/lib")
  rm "$1/pom.xml"
}

# 21 archives that many images hold, as Maven's clients get them; half of them state no coordinates.
java_archives() {
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
  archives "$1" "$2"
}

# What lies beside these: other parts, versions and groups of the same projects, and other archives that images hold.
java_neighbors() {
  cat >"$2" <<'LIST'
org.apache.tomcat.embed tomcat-embed-websocket 9.0.70
org.apache.tomcat.embed tomcat-embed-el 9.0.70
org.apache.tomcat tomcat-catalina 9.0.70
org.apache.tomcat tomcat-jdbc 9.0.70
org.apache.tomcat tomcat-coyote 9.0.70
org.springframework.boot spring-boot-autoconfigure 2.7.5
org.springframework.boot spring-boot-actuator-autoconfigure 2.7.5
org.springframework spring-web 5.3.20
org.springframework spring-webmvc 5.3.20
org.springframework spring-beans 5.3.20
org.springframework spring-expression 5.3.20
org.springframework.security spring-security-core 5.7.1
org.springframework.security spring-security-web 5.7.1
org.springframework.data spring-data-commons 2.7.0
org.springframework.cloud spring-cloud-function-context 3.2.2
org.postgresql postgresql 42.2.5
com.h2database h2 1.4.200
com.squareup.okhttp okhttp 2.7.5
com.squareup.okhttp3 okhttp 3.14.9
com.squareup.okio okio 1.17.2
com.squareup.okio okio-jvm 3.0.0
mysql mysql-connector-java 8.0.28
org.mariadb.jdbc mariadb-java-client 2.7.4
xerces xercesImpl 2.12.2
xalan xalan 2.7.2
xml-apis xml-apis 1.4.01
org.codehaus.groovy groovy-all 2.4.21
org.codehaus.groovy groovy-json 2.5.14
org.apache.groovy groovy 4.0.6
dom4j dom4j 1.6.1
org.dom4j dom4j 2.1.3
org.bouncycastle bcprov-jdk15on 1.60
org.bouncycastle bcpkix-jdk18on 1.71
org.bouncycastle bcpg-jdk15on 1.60
log4j log4j 1.2.17
org.apache.logging.log4j log4j-api 2.14.1
org.apache.logging.log4j log4j-1.2-api 2.14.1
org.apache.commons commons-compress 1.20
org.apache.commons commons-collections4 4.0
org.apache.commons commons-configuration2 2.7
commons-io commons-io 2.6
commons-fileupload commons-fileupload 1.4
commons-beanutils commons-beanutils 1.9.3
commons-codec commons-codec 1.11
commons-httpclient commons-httpclient 3.1
commons-logging commons-logging 1.1.1
commons-lang commons-lang 2.6
com.fasterxml.jackson.core jackson-core 2.13.0
com.fasterxml.jackson.dataformat jackson-dataformat-xml 2.13.0
org.codehaus.jackson jackson-mapper-asl 1.9.13
com.google.code.gson gson 2.8.8
com.google.protobuf protobuf-java 3.19.4
com.google.guava guava 19.0
io.netty netty-all 4.1.42.Final
io.netty netty-codec-http 4.1.90.Final
io.netty netty 3.10.6.Final
org.eclipse.jetty jetty-server 9.4.40.v20210413
org.eclipse.jetty jetty-http 9.4.40.v20210413
org.hibernate hibernate-core 5.6.5.Final
org.hibernate.validator hibernate-validator 6.2.0.Final
com.thoughtworks.xstream xstream 1.4.17
org.apache.velocity velocity 1.7
org.apache.velocity velocity-engine-core 2.2
org.freemarker freemarker 2.3.30
org.apache.httpcomponents httpclient 4.5.12
org.hsqldb hsqldb 2.5.2
org.apache.derby derby 10.14.2.0
org.quartz-scheduler quartz 2.3.0
com.mchange c3p0 0.9.5.3
org.jetbrains.kotlin kotlin-stdlib 1.4.10
org.scala-lang scala-library 2.13.8
net.minidev json-smart 2.4.7
org.json json 20220924
org.jsoup jsoup 1.13.1
junit junit 4.12
org.apache.kafka kafka-clients 2.8.0
com.microsoft.sqlserver mssql-jdbc 10.2.0.jre8
com.oracle.database.jdbc ojdbc8 21.5.0.0
net.sourceforge.htmlunit htmlunit 2.50.0
com.zaxxer HikariCP 4.0.3
org.apache.shiro shiro-core 1.8.0
org.apache.activemq activemq-client 5.15.9
org.elasticsearch elasticsearch 7.10.0
org.apache.lucene lucene-core 8.7.0
io.undertow undertow-core 2.2.10.Final
org.jboss.resteasy resteasy-jaxrs 3.15.0.Final
com.nimbusds nimbus-jose-jwt 9.8.1
com.itextpdf itextpdf 5.5.13
org.apache.poi poi-ooxml 4.1.0
org.apache.pdfbox pdfbox 2.0.23
org.apache.xmlgraphics batik-bridge 1.14
org.glassfish.jersey.core jersey-common 2.33
javax.servlet javax.servlet-api 4.0.1
org.glassfish jakarta.el 3.0.3
io.vertx vertx-core 4.0.0
io.grpc grpc-netty-shaded 1.40.0
org.apache.santuario xmlsec 2.2.2
org.apache.cxf cxf-core 3.4.4
org.apache.zookeeper zookeeper 3.6.2
com.hazelcast hazelcast 4.2
redis.clients jedis 3.6.0
io.jsonwebtoken jjwt 0.9.1
org.mozilla rhino 1.7.13
org.apache.ant ant 1.10.9
org.codehaus.plexus plexus-utils 3.0.15
com.jcraft jsch 0.1.55
ognl ognl 3.1.26
org.thymeleaf thymeleaf 3.0.12.RELEASE
antlr antlr 2.7.7
org.ow2.asm asm 9.2
aopalliance aopalliance 1.0
cglib cglib 3.3.0
org.javassist javassist 3.28.0-GA
org.slf4j slf4j-api 1.7.36
org.slf4j jcl-over-slf4j 1.7.36
javax.servlet jstl 1.2
org.apache.xmlbeans xmlbeans 3.1.0
org.codehaus.woodstox woodstox-core-asl 4.4.1
com.fasterxml.woodstox woodstox-core 6.2.1
org.apache.tika tika-core 1.26
org.xerial.snappy snappy-java 1.1.8.4
org.xerial sqlite-jdbc 3.36.0.3
io.springfox springfox-swagger-ui 2.9.2
com.sun.mail javax.mail 1.6.2
org.webjars jquery 3.4.1
org.keycloak keycloak-core 15.0.2
com.amazonaws aws-java-sdk-s3 1.12.100
org.apache.axis axis 1.4
axis axis 1.4
LIST
  archives "$1" "$2"
}

# The groups that Syft knows by the name of an artifact: its source is downloaded, and is not built.
syft_groups() {
  command -v go >/dev/null
  local source
  source=$(cd "$1" && timeout 120 go mod download -json github.com/anchore/syft@v1.44.0 | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
  sed -n 's/^\t"\([^"]*\)": *"\([^"]*\)",$/\1 \2/p' "$source/syft/pkg/cataloger/internal/cpegenerate/java_groupid_map.go" >"$2"
  [ -s "$2" ]
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
part neighbors java_neighbors
part syft syft_groups
part go go_program
[ -s "$WORK/npm.txt" ] || { echo "real packages: not run: npm fetches nothing here"; exit 77; }
cd "$ROOT"
MOORAGE_TEST_ENGINES=sqlite MOORAGE_TEST_REAL_PACKAGES=$WORK npm test -- security/real-packages
[ "${#MISSING[@]}" -eq 0 ] || { echo "real packages: without ${MISSING[*]}: not to be fetched here"; exit 77; }
