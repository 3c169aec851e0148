import assert from "node:assert/strict";
import test from "node:test";
import { identify } from "../../src/security/catalog/java-groups.ts";
import type { ArchiveClues } from "../../src/security/catalog/readers/java-clues.ts";
import { zipOf } from "../../../server/test/support/catalog/archives.ts";
import { catalogOf } from "../../../server/test/support/catalog/catalog.ts";
import { classesIn, type JarFiles, manifestOf } from "../../../server/test/support/catalog/java.ts";
import { PUBLIC_ARTIFACTS } from "../../../server/test/support/catalog/public-artifacts.ts";

/** `group:artifact:version` of an archive when feeds know these artifacts; empty when it is not identified. */
async function identified(path: string, files: JarFiles, known: readonly string[]): Promise<string> {
  const { components } = await catalogOf([[{ path, content: zipOf(files) }]]);
  const [component] = components;
  assert.ok(component?.clues, path);
  const artifacts = known.map((each) => each.split(":"));
  const found = identify(JSON.parse(component.clues) as ArchiveClues, (artifact) =>
    artifacts.flatMap(([group = "", name]) => (name === artifact ? [group] : [])),
  );
  return found === undefined ? "" : `${found.namespace}:${found.name}:${found.version}`;
}

const APACHE_TOMCAT = {
  "Bundle-Name": "tomcat-embed-core",
  "Bundle-SymbolicName": "org.apache.tomcat-embed-core",
  "Bundle-Version": "9.0.70",
  "Implementation-Title": "Apache Tomcat",
  "Implementation-Version": "9.0.70",
  "Specification-Version": "9.0",
};

// The manifests and folders of archives that Maven's clients get, without what says nothing.
const SHAPES: [path: string, files: JarFiles, expected: string][] = [
  [
    "tomcat-embed-core-9.0.70.jar",
    {
      ...manifestOf(APACHE_TOMCAT),
      ...classesIn("org/apache/catalina", 5),
      ...classesIn("org/apache/tomcat/util", 4),
      ...classesIn("javax/servlet", 3),
    },
    "org.apache.tomcat.embed:tomcat-embed-core:9.0.70",
  ],
  [
    "spring-boot-2.7.5.jar",
    {
      ...manifestOf({
        "Implementation-Title": "Spring Boot",
        "Automatic-Module-Name": "spring.boot",
        "Implementation-Version": "2.7.5",
      }),
      ...classesIn("org/springframework/boot/context", 3),
    },
    "org.springframework.boot:spring-boot:2.7.5",
  ],
  [
    "spring-core-5.3.20.jar",
    {
      ...manifestOf({
        "Implementation-Title": "spring-core",
        "Automatic-Module-Name": "spring.core",
        "Implementation-Version": "5.3.20",
      }),
      ...classesIn("org/springframework/core", 3),
    },
    "org.springframework:spring-core:5.3.20",
  ],
  [
    "postgresql-42.3.1.jar",
    {
      ...manifestOf({
        "Automatic-Module-Name": "org.postgresql.jdbc",
        "Bundle-SymbolicName": "org.postgresql.jdbc",
        "Bundle-Version": "42.3.1",
        "Implementation-Title": "PostgreSQL JDBC Driver",
        "Implementation-Vendor-Id": "org.postgresql",
        "Implementation-Version": "42.3.1",
        "Specification-Title": "JDBC",
        "Specification-Version": "4.2",
      }),
      ...classesIn("org/postgresql/core", 3),
    },
    "org.postgresql:postgresql:42.3.1",
  ],
  [
    "h2-2.0.204.jar",
    {
      ...manifestOf({
        "Implementation-Title": "H2 Database Engine",
        "Implementation-Version": "2.0.204",
        "Automatic-Module-Name": "com.h2database",
        "Bundle-SymbolicName": "com.h2database",
        "Bundle-Version": "2.0.204",
      }),
      ...classesIn("org/h2/util", 3),
    },
    "com.h2database:h2:2.0.204",
  ],
  [
    "okhttp-4.9.1.jar",
    { ...manifestOf({ "Automatic-Module-Name": "okhttp3" }), ...classesIn("okhttp3/internal/http2", 3) },
    "com.squareup.okhttp3:okhttp:4.9.1",
  ],
  [
    "mysql-connector-j-8.0.31.jar",
    {
      ...manifestOf({
        "Implementation-Title": "MySQL Connector/J",
        "Implementation-Version": "8.0.31",
        "Implementation-Vendor-Id": "com.mysql",
        "Bundle-Version": "8.0.31",
        "Bundle-SymbolicName": "com.mysql.cj",
      }),
      ...classesIn("com/mysql/cj", 3),
    },
    "com.mysql:mysql-connector-j:8.0.31",
  ],
  // The same fields, and another group.
  [
    "mysql-connector-java-8.0.29.jar",
    {
      ...manifestOf({ "Implementation-Version": "8.0.29", "Implementation-Vendor-Id": "com.mysql" }),
      ...classesIn("com/mysql/cj", 3),
    },
    "mysql:mysql-connector-java:8.0.29",
  ],
  [
    "xercesImpl-2.11.0.jar",
    { ...manifestOf({}), ...classesIn("org/apache/xerces/dom", 9), ...classesIn("org/w3c/dom", 2) },
    "xerces:xercesImpl:2.11.0",
  ],
  [
    "groovy-2.4.5.jar",
    {
      ...manifestOf({ "Bundle-SymbolicName": "groovy", "Bundle-Version": "2.4.5", "Implementation-Version": "2.4.5" }),
      ...classesIn("org/codehaus/groovy/runtime", 9),
      ...classesIn("groovy/lang", 3),
    },
    "org.codehaus.groovy:groovy:2.4.5",
  ],
  [
    "bcprov-jdk18on-1.71.jar",
    {
      ...manifestOf({
        "Bundle-SymbolicName": "bcprov",
        "Implementation-Vendor-Id": "org.bouncycastle",
        "Automatic-Module-Name": "org.bouncycastle.provider",
        "Implementation-Version": "1.71.0",
        "Bundle-Version": "1.71",
      }),
      ...classesIn("org/bouncycastle/asn1", 3),
    },
    "org.bouncycastle:bcprov-jdk18on:1.71",
  ],
  // 1.6.1 is of the group dom4j and 2.1.1 of org.dom4j, and both look so.
  ["dom4j-2.1.1.jar", { ...manifestOf({}), ...classesIn("org/dom4j/tree", 3) }, ""],
];

test("an archive is of the group that feeds know for its artifact and that its classes fit", async () => {
  for (const [path, files, expected] of SHAPES)
    assert.equal(await identified(path, files, PUBLIC_ARTIFACTS), expected, path);
  for (const [path, files] of SHAPES) assert.equal(await identified(path, files, []), "", path);
});

test("what does not fit as a whole is not identified", async () => {
  const SPRING = { ...manifestOf({ "Implementation-Version": "5.3.20" }), ...classesIn("org/springframework/core", 3) };
  const groovy4 = manifestOf({ "Automatic-Module-Name": "org.apache.groovy", "Implementation-Version": "4.0.1" });
  const rows: [path: string, files: JarFiles, known: string, expected: string][] = [
    ["spring-core-5.3.20.jar", SPRING, "org.springframework:spring-core", "org.springframework:spring-core:5.3.20"],
    // A classifier is no part of the version.
    [
      "spring-core-5.3.20-tests.jar",
      SPRING,
      "org.springframework:spring-core",
      "org.springframework:spring-core:5.3.20",
    ],
    [
      "spring-core-5.3.20.jar",
      SPRING,
      "org.springframework:spring-core org.example:other",
      "org.springframework:spring-core:5.3.20",
    ],
    // Of two groups one fits; then both.
    [
      "spring-core-5.3.20.jar",
      SPRING,
      "org.springframework:spring-core org.springframework.old:spring-core",
      "org.springframework:spring-core:5.3.20",
    ],
    ["spring-core-5.3.20.jar", SPRING, "org.springframework:spring-core org.springframework.core:spring-core", ""],
    // The file has another version than its manifest.
    ["spring-core-6.0.0.jar", SPRING, "org.springframework:spring-core", ""],
    // Classes of somebody else.
    ["spring-core-1.0.jar", classesIn("com/example/shop", 3), "org.springframework:spring-core", ""],
    ["spring-core-1.0.jar", manifestOf({ "Automatic-Module-Name": "shop" }), "org.springframework:spring-core", ""],
    // Some packed into what is somebody's own.
    [
      "zxing-1.0.jar",
      { ...classesIn("com/google/zxing", 3), ...classesIn("com/example/shop", 9) },
      "com.google.zxing:zxing",
      "",
    ],
    // Groups that are named with hyphens, and classes that do not lie where the group says.
    [
      "tomcat-catalina-9.0.70.jar",
      {
        ...manifestOf({ "Bundle-SymbolicName": "org.apache.tomcat-catalina", "Implementation-Version": "9.0.70" }),
        ...classesIn("org/apache/catalina/core", 3),
      },
      "org.apache.tomcat:tomcat-catalina",
      "org.apache.tomcat:tomcat-catalina:9.0.70",
    ],
    [
      "scala-library-2.13.8.jar",
      {
        ...manifestOf({ "Bundle-SymbolicName": "org.scala-lang.scala-library", "Implementation-Version": "2.13.8" }),
        ...classesIn("scala/collection", 3),
      },
      "org.scala-lang:scala-library",
      "org.scala-lang:scala-library:2.13.8",
    ],
    // The same letters, and no label of the group.
    [
      "tomcatter-1.0.jar",
      { ...manifestOf({ "Bundle-SymbolicName": "org.apache.tomcatter" }), ...classesIn("org/apache/catalina", 3) },
      "org.apache.tomcat:tomcatter",
      "",
    ],
    // The words of the group are folders, the last of them deep; then another group has its classes there as well.
    [
      "commons-httpclient-3.1.jar",
      classesIn("org/apache/commons/httpclient", 3),
      "commons-httpclient:commons-httpclient",
      "commons-httpclient:commons-httpclient:3.1",
    ],
    [
      "commons-io-1.3.jar",
      classesIn("org/apache/commons/io", 3),
      "commons-io:commons-io org.apache.commons:commons-io",
      "",
    ],
    // A name that many have.
    ["core-1.0.jar", classesIn("com/google/zxing", 3), "com.google.zxing:core", ""],
    // The same domain, and another project of it.
    ["wicket-util-1.0.jar", classesIn("org/apache/felix", 3), "org.apache.wicket:wicket-util", ""],
    // The group has moved, and the feed knows only the old one.
    [
      "groovy-4.0.1.jar",
      { ...groovy4, ...classesIn("org/codehaus/groovy/runtime", 9) },
      "org.codehaus.groovy:groovy",
      "",
    ],
    // Not the artifact log4j in version 1.2-api-2.14.1.
    [
      "log4j-1.2-api-2.14.1.jar",
      { ...manifestOf({ "Implementation-Version": "2.14.1" }), ...classesIn("org/apache/log4j", 3) },
      "log4j:log4j org.apache.logging.log4j:log4j-1.2-api",
      "",
    ],
    // Renamed: the version of a bundle may not be that of Maven.
    [
      "text.jar",
      {
        ...manifestOf({ "Bundle-SymbolicName": "org.yaml.snakeyaml", "Bundle-Version": "1.30.0" }),
        ...classesIn("org/yaml/snakeyaml", 3),
      },
      "org.yaml:snakeyaml",
      "",
    ],
    [
      "tomcat.jar",
      { ...manifestOf(APACHE_TOMCAT), ...classesIn("org/apache/tomcat/util", 4) },
      "org.apache.tomcat.embed:tomcat-embed-core",
      "org.apache.tomcat.embed:tomcat-embed-core:9.0.70",
    ],
  ];
  for (const [path, files, known, expected] of rows)
    assert.equal(await identified(path, files, known.split(" ")), expected, `${path}: ${known}`);
});
