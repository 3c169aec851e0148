// Maven artifacts: the layout of a repository, its metadata and sums, snapshots, and what is rejected.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import { mavenPath, pomText, putMaven } from "../../../server/test/support/maven.ts";
import { type Answer, type Platform, rows, startPlatform } from "../../../server/test/support/platform.ts";

let platform: Platform;
let token = "";
before(async () => {
  platform = await startPlatform();
  token = await platform.token();
  await platform.group(platform.organization, { name: "team" });
});
after(() => platform.close());

const GROUP = "acme/team";
const get = (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
  platform.call("GET", mavenPath(GROUP, path), { token, headers });
const put = (path: string, content: string | Uint8Array): Promise<Answer> => putMaven(platform, GROUP, path, content);
const sum = (algorithm: string, content: string | Uint8Array): string =>
  createHash(algorithm).update(content).digest("hex");

/** Deploys a version of an artifact that must be taken. */
async function deploy(artifactId: string, version: string, description = ""): Promise<void> {
  const folder = `org/example/${artifactId}/${version}`;
  for (const [file, content] of [
    [`${artifactId}-${version}.jar`, `jar of ${artifactId} ${version}`],
    [`${artifactId}-${version}.pom`, pomText("org.example", artifactId, version, description)],
  ] as const) {
    const answer = await put(`${folder}/${file}`, content);
    assert.equal(answer.status, 201, answer.text);
    assert.equal((await put(`${folder}/${file}.sha1`, sum("sha1", content))).status, 201);
  }
  assert.equal((await put(`org/example/${artifactId}/maven-metadata.xml`, "<metadata/>")).status, 201);
}

test("versions with characters that Maven takes are deployed, listed and read, encoded or not", async () => {
  const versions = ["1.0+3-abc", "1.0~rc1", "1.0!2", "1.0=a", "1.0$1", "1.0@beta", "2.0+b-SNAPSHOT"];
  for (const version of versions) await deploy("odd", version);
  for (const version of versions) {
    const files = [`odd-${version}.jar`, `odd-${version}.pom`];
    for (const file of files)
      for (const path of [`${version}/${file}`, `${encodeURIComponent(version)}/${encodeURIComponent(file)}`])
        assert.equal((await get(`org/example/odd/${path}`)).status, 200, path);
  }
  assert.equal((await put("org/example/odd/1.0+3-abc/odd-1.0+3-abc-sources.jar", "sources")).status, 201);
  const metadata = await get("org/example/odd/maven-metadata.xml");
  assert.deepEqual(
    new Set([...metadata.text.matchAll(/<version>(.*)<\/version>/g)].map(([, version]) => version)),
    new Set(versions),
  );
  assert.equal((await get("org/example/odd/2.0+b-SNAPSHOT/maven-metadata.xml")).status, 200);
  assert.equal((await get("org/example/odd/1.0+3-abc/maven-metadata.xml")).status, 404);
  const [artifact] = await rows(
    platform.ok("GET", "/libraries/v2/artifacts?ecosystems=ECOSYSTEM_JAVA&query=org.example:odd"),
    "artifacts",
  );
  const listed = await rows(
    platform.ok("GET", `/libraries/v2/artifacts/${encodeURIComponent(artifact?.uid ?? "")}/versions`),
    "artifactVersions",
  );
  assert.deepEqual(new Set(listed.map((each) => each["version"])), new Set(versions));
  for (const version of ["1.0%2Fa", "1.0%5Ca", "1.0:a", "1.0%3Fa", "1.0%20a", "1.0%2525", "$%7Bv%7D", "[1.0", "1.0*"])
    assert.equal((await put(`org/example/odd/${version}/odd-${version}.jar`, "x")).status, 400, version);
});

test("plugins of sbt before 1.9 are deployed and read, whose files leave out the versions of Scala and sbt", async () => {
  for (const [suffix, version] of [
    ["2.12_1.0", "1.2.0"],
    ["2.10_0.13", "0.9"],
    ["2.12_1.0", "1.3.0-SNAPSHOT"],
    ["2.13.0-M5_1.5.0-M1", "1.0+4-abc"],
  ] as const) {
    const folder = `org/example/sbt-x_${suffix}/${version}`;
    const pom = pomText("org.example", "sbt-x", version);
    for (const [file, content] of [
      [`sbt-x-${version}.jar`, "jar"],
      [`sbt-x-${version}.pom`, pom],
      [`sbt-x-${version}-sources.jar`, "sources"],
      // sbt 1.9 publishes both.
      [`sbt-x_${suffix}-${version}.pom`, pomText("org.example", `sbt-x_${suffix}`, version)],
    ] as const) {
      const answer = await put(`${folder}/${file}`, content);
      assert.equal(answer.status, 201, `${file}: ${answer.text}`);
      assert.equal((await get(`${folder}/${file}`)).text, content);
      assert.equal((await get(`${folder}/${file}.sha1`)).text, sum("sha1", content));
    }
    assert.match(
      (await get(`org/example/sbt-x_${suffix}/maven-metadata.xml`)).text,
      new RegExp(`_${suffix}</artifactId>`),
    );
  }
  const stamped = "org/example/sbt-x_2.12_1.0/1.3.0-SNAPSHOT";
  assert.equal((await put(`${stamped}/sbt-x-1.3.0-20260131.101112-3.jar`, "jar")).status, 201);
  assert.match((await get(`${stamped}/maven-metadata.xml`)).text, /<value>1\.3\.0-20260131\.101112-3<\/value>/);
  for (const [artifactId, file] of [
    ["sbt-x_2.12", "sbt-x-1.0.jar"],
    ["sbt-x_2.12_1.0", "sbt-1.0.jar"],
    ["sbt_x_y", "sbt-1.0.jar"],
    ["_2.12_1.0", "-1.0.jar"],
  ] as const)
    assert.equal((await put(`org/example/${artifactId}/1.0/${file}`, "x")).status, 400, artifactId);
});

test("a release is deployed, and read with its sums, its metadata, and in the catalog", async () => {
  await deploy("app", "1.0", "An app & more".replace("&", "&amp;"));
  const jar = "jar of app 1.0";
  const found = await get("org/example/app/1.0/app-1.0.jar");
  assert.deepEqual([found.status, found.text, found.headers["content-type"]], [200, jar, "application/java-archive"]);
  for (const algorithm of ["md5", "sha1", "sha256", "sha512"])
    assert.equal((await get(`org/example/app/1.0/app-1.0.jar.${algorithm}`)).text, sum(algorithm, jar), algorithm);
  const part = await get("org/example/app/1.0/app-1.0.jar", { range: "bytes=0-2" });
  assert.deepEqual([part.status, part.text], [206, "jar"]);

  await deploy("app", "1.10");
  await deploy("app", "1.9");
  await deploy("app", "2.0-SNAPSHOT");
  const metadata = await get("org/example/app/maven-metadata.xml");
  assert.equal(metadata.headers["content-type"], "application/xml; charset=utf-8");
  assert.match(metadata.text, /<groupId>org\.example<\/groupId>\s+<artifactId>app<\/artifactId>/);
  assert.match(metadata.text, /<latest>2\.0-SNAPSHOT<\/latest>\s+<release>1\.10<\/release>/);
  assert.deepEqual(
    [...metadata.text.matchAll(/<version>(.*)<\/version>/g)].map(([, version]) => version),
    ["1.0", "1.9", "1.10", "2.0-SNAPSHOT"],
  );
  assert.match(metadata.text, /<lastUpdated>\d{14}<\/lastUpdated>/);
  for (const algorithm of ["sha1", "sha256"])
    assert.equal((await get(`org/example/app/maven-metadata.xml.${algorithm}`)).text, sum(algorithm, metadata.text));
  const etag = String(metadata.headers["etag"]);
  assert.equal((await get("org/example/app/maven-metadata.xml", { "if-none-match": etag })).status, 304);

  const [artifact] = await rows(
    platform.ok("GET", "/libraries/v2/artifacts?ecosystems=ECOSYSTEM_JAVA&query=app"),
    "artifacts",
  );
  assert.deepEqual(
    [artifact?.name, artifact?.["latestVersion"], artifact?.["versionCount"]],
    ["org.example:app", "1.10", 4],
  );
});

test("what the POM says of a project is its description", async () => {
  await deploy("described", "1.0", "Does &lt;this&gt; &amp; that");
  const [artifact] = await rows(
    platform.ok("GET", "/libraries/v2/artifacts?ecosystems=ECOSYSTEM_JAVA&query=described"),
    "artifacts",
  );
  assert.equal(artifact?.["description"], "Does <this> & that");
});

test("a snapshot's metadata names its last build and the newest file of each kind", async () => {
  const folder = "org/example/lib/1.0-SNAPSHOT";
  const files = [
    "lib-1.0-20260131.101112-1.jar",
    "lib-1.0-20260131.101112-1-sources.jar",
    "lib-1.0-20260131.101112-1.pom",
    "lib-1.0-20260201.000000-2.jar",
    "lib-1.0-20260201.000000-2.pom",
  ];
  for (const file of files) {
    const content = file.endsWith(".pom") ? pomText("org.example", "lib", "1.0-SNAPSHOT") : file;
    assert.equal((await put(`${folder}/${file}`, content)).status, 201, file);
  }
  const { text } = await get(`${folder}/maven-metadata.xml`);
  assert.match(text, /<timestamp>20260201\.000000<\/timestamp>\s+<buildNumber>2<\/buildNumber>/);
  const values = [...text.matchAll(/<extension>(.*)<\/extension>\s+<value>(.*)<\/value>/g)].map(
    ([, a, b]) => `${a} ${b}`,
  );
  assert.deepEqual(values.sort(), [
    "jar 1.0-20260131.101112-1",
    "jar 1.0-20260201.000000-2",
    "pom 1.0-20260201.000000-2",
  ]);
  assert.match(
    text,
    /<classifier>sources<\/classifier>\s+<extension>jar<\/extension>\s+<value>1\.0-20260131\.101112-1</,
  );
});

test("a published file never changes: the same again is taken, another is 409", async () => {
  await deploy("fixed", "1.0");
  const path = "org/example/fixed/1.0/fixed-1.0.jar";
  assert.equal((await put(path, "jar of fixed 1.0")).status, 201);
  const answer = await put(path, "another");
  assert.equal(answer.status, 409);
  assert.match(answer.text, /a published file never changes/);
  assert.equal((await get(path)).text, "jar of fixed 1.0");
  const answers = await Promise.all(
    ["a", "b", "c", "d"].map((content) => put("org/example/fixed/1.1/fixed-1.1.jar", content)),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409, 409]);
});

test("a sum that is not the file's is rejected, and one that comes before the file as well", async () => {
  await deploy("summed", "1.0");
  const path = "org/example/summed/1.0/summed-1.0.jar";
  assert.equal((await put(`${path}.sha256`, "0".repeat(64))).status, 409);
  assert.equal((await put(`${path}.md5`, `${sum("md5", "jar of summed 1.0")}  summed-1.0.jar\n`)).status, 201);
  assert.equal((await put("org/example/summed/1.0/summed-1.0-sources.jar.sha1", sum("sha1", ""))).status, 404);
});

test("paths that are none of a Maven repository are rejected with the reason", async () => {
  const cases: [string, number, RegExp][] = [
    ["org/example/app/1.0/other-1.0.jar", 400, /begins with app-1\.0/],
    ["org/example/app/1.0/app-1.0", 400, /begins with/],
    ["org/example/app/1.0/app-1.01.jar", 400, /begins with/],
    ["org/..%2f../app/1.0/app-1.0.jar", 400, /is no name/],
    ["org/%2e%2e/app/1.0/app-1.0.jar", 400, /is no name|begins with/],
    ["org/ex%20ample/app/1.0/app-1.0.jar", 400, /is no name/],
    ["org/exаmple/app/1.0/app-1.0.jar".replace("а", "%D0%B0"), 400, /is no name/],
    ["app.jar", 404, /no files above/],
  ];
  for (const [path, status, reason] of cases) {
    const answer = await put(path, "x");
    assert.equal(answer.status, status, `${path}: ${answer.text}`);
    assert.match(answer.text, reason, path);
  }
  assert.equal((await put("org/example/bad/1.0/bad-1.0.pom", "<html></html>")).status, 400);
  assert.equal((await put("org/example/bad/1.0/bad-1.0.pom", "no xml")).status, 400);
  assert.equal((await get("org/example/bad/maven-metadata.xml")).status, 404);
  const bomb = `<!DOCTYPE p [<!ENTITY a "${"x".repeat(1000)}"><!ENTITY b "${"&a;".repeat(1000)}">]><project><description>&b;</description></project>`;
  const answer = await put("org/example/bomb/1.0/bomb-1.0.pom", bomb);
  assert.equal(answer.status, 400, answer.text);
});

test("who may not deploy is answered 403 with the reason, who may not read as well", async () => {
  const viewer = await platform.token(await platform.identity(platform.organization, "viewer"));
  const answer = await putMaven(platform, GROUP, "org/example/no/1.0/no-1.0.jar", "x", viewer);
  assert.equal(answer.status, 403);
  assert.match(answer.text, /CAP_LIBRARIES_JAVA_PUBLISH/);
  const stranger = await platform.token(
    await platform.identity((await platform.group(platform.organization)).uid, "viewer"),
  );
  const path = mavenPath(GROUP, "org/example/app/1.0/app-1.0.jar");
  assert.equal((await platform.call("GET", path, { token: stranger })).status, 403);
  assert.equal((await platform.call("GET", path)).status, 401);
});
