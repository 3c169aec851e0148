# Sourced by libraries.sh: Maven builds a project with real dependencies and plugins that come through an upstream, a folder
# on a web server on loopback, which is gone after that.

YOUNG=2.10.1 OLDER=2.10
# maven_app FOLDER: a project that uses the newest Gson that there is, of two versions.
maven_app() {
  mkdir -p "$1/src/main/java"
  echo 'public class App { String text = new com.google.gson.Gson().toJson(new int[] {1}); }' >"$1/src/main/java/App.java"
  printf '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>org.example.ci</groupId><artifactId>app</artifactId><version>1.0</version><properties><maven.compiler.source>11</maven.compiler.source><maven.compiler.target>11</maven.compiler.target></properties><dependencies><dependency><groupId>com.google.code.gson</groupId><artifactId>gson</artifactId><version>[%s,%s]</version></dependency></dependencies></project>' "$OLDER" "$YOUNG" >"$1/pom.xml"
}
# maven_goals REPOSITORY OPTIONS…: what is done with the project, by Maven with that local repository.
maven_goals() {
  local mvn=(timeout 300 mvn -q -B "-Dmaven.repo.local=$1" -f app/pom.xml "${@:2}")
  "${mvn[@]}" compile && "${mvn[@]}" help:evaluate -Dexpression=project.version -DforceStdout
}
maven_get() { timeout 300 mvn -q -B "-Dmaven.repo.local=$1" "${@:3}" dependency:get -Dtransitive=false "-Dartifact=com.google.code.gson:gson:$2"; }

# The folder: what Maven gets of Maven Central for that project, once, as a repository has it.
prepare_maven_upstream() {
  [ ! -d "$BUILT/maven-folder" ] && command -v mvn >/dev/null || return 0
  rm -rf "$BUILT/maven-seed" && mkdir -p "$BUILT/maven-seed"
  (
    cd "$BUILT/maven-seed"
    maven_app app
    maven_goals "$PWD/m2" && maven_get "$PWD/m2" "$OLDER" && maven_get "$PWD/m2" "$YOUNG" || exit 0
    find m2 \( -name '_remote.repositories' -o -name 'resolver-status.properties' -o -name '*.lastUpdated' \) -delete
    find m2 -name 'maven-metadata-*.xml*' | while read -r file; do mv "$file" "$(sed -E 's/-[^-/]+(\.xml[^/]*)$/\1/' <<<"$file")"; done
    mv m2 ../maven-folder
  ) >"$BUILT/maven-upstream.log" 2>&1 || true
}

# maven_group NAME URL: a group with that upstream; sets GROUP (its uid), and writes NAME.xml, the settings of Maven for which
# the group is all that there is.
maven_group() {
  GROUP=$(api POST "/iam/v2/groups/$(bootstrap organization.uid)" "{\"name\": \"$1\"}" | json uid)
  api POST "/libraries/v2/upstreams/$GROUP" "{\"ecosystem\": \"ECOSYSTEM_JAVA\", \"url\": \"$2\"}" >/dev/null
  printf '<settings><servers><server><id>acme</id><username>any</username><password>%s</password></server></servers><mirrors><mirror><id>acme</id><mirrorOf>*</mirrorOf><url>%s/maven/%s/%s/-/</url></mirror></mirrors></settings>' "$PULL" "$URL" "$ORG" "$1" >"$1.xml"
}

check_maven_upstream() {
  [ -d "$BUILT/maven-folder" ] && command -v mvn >/dev/null && command -v python3 >/dev/null || { missing maven_upstream "Maven, Python, or what a build needs of Maven Central is not to be had"; return 0; }
  local port upstream gson=com/google/code/gson/gson
  cp -r "$BUILT/maven-folder" folder
  find folder -type f -exec touch -d '400 days ago' {} +
  find "folder/$gson/$YOUNG" "folder/$gson/maven-metadata.xml" -type f -exec touch -d '2 days ago' {} +
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  python3 -u -m http.server --bind 127.0.0.1 --directory folder "$port" >folder.log 2>&1 </dev/null &
  upstream=$!
  PIDS+=("$upstream")
  for _ in $(seq 100); do curl -fsS -o /dev/null "http://127.0.0.1:$port/" 2>/dev/null && break; sleep 0.1; done
  maven_app app

  maven_group through "http://127.0.0.1:$port/"
  does "maven: a project is built with dependencies and plugins of an upstream, its sums checked" maven_goals "$PWD/first" -C -s through.xml
  does "maven: an artifact of it is fetched by name" maven_get "$PWD/first" "$YOUNG" -C -s through.xml
  same "maven: of a range it has the newest version" "$(cd "first/$gson" && echo ./*/*.jar)" "./$YOUNG/gson-$YOUNG.jar"
  same "maven: the upstream was asked for no file twice" "$(grep -oE '"GET [^ ]+' folder.log | grep -vE '\.(sha[0-9]+|md5)$' | sort | uniq -d)" ""

  maven_group young "http://127.0.0.1:$port/"
  api POST "/libraries/v2/artifactPolicies/$GROUP" '{"ecosystem": "ECOSYSTEM_JAVA", "mode": "POLICY_MODE_ENFORCE"}' >/dev/null
  does "maven: with a cooldown it is built as well" maven_goals "$PWD/cooled" -C -s young.xml
  same "maven: with the newest version that is old enough" "$(cd "cooled/$gson" && echo ./*/*.jar)" "./$OLDER/gson-$OLDER.jar"
  refused "maven: what is too young is refused, with the reason" "Blocked: com.google.code.gson:gson@$YOUNG is too young" maven_get "$PWD/cooled" "$YOUNG" -s young.xml

  kill "$upstream"
  wait "$upstream" 2>/dev/null || true
  rm -rf app/target
  does "maven: when the upstream is gone, it is built with an empty local repository" maven_goals "$PWD/second" -C -s through.xml
  does "maven: and the artifact is fetched again" maven_get "$PWD/second" "$YOUNG" -C -s through.xml
  refused "maven: what nobody has asked for is not there" "503" maven_get "$PWD/second" 2.9.0 -s through.xml
}
