// Maven artifacts of an upstream: a folder on a web server, as Maven repositories are.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test, type TestContext } from "node:test";
import { pomText } from "../../../server/test/support/maven.ts";
import { type MavenWorld, startMavenWorld, versionsIn } from "../../../server/test/support/maven-world.ts";
import { type Platform, rows, startPlatform } from "../../../server/test/support/platform.ts";

const MINUTE_MS = 60_000;
const MAX_FILE_BYTES = 200_000;
let platform: Platform;
before(async () => {
  platform = await startPlatform({
    MOORAGE_ALLOW_PRIVATE_NETWORK: "1",
    MOORAGE_UPSTREAM_TIMEOUT: "1s",
    MOORAGE_UPSTREAM_FILE_TIMEOUT: "2s",
    MOORAGE_MAX_LIBRARY_FILE_BYTES: String(MAX_FILE_BYTES),
  });
});
after(() => platform.close());

const world = (t: TestContext, settings?: object): Promise<MavenWorld> => startMavenWorld(t, platform, settings);
const JAR = "org/up/app/1.0/app-1.0.jar";
const POM = "org/up/app/1.0/app-1.0.pom";
const METADATA = "org/up/app/maven-metadata.xml";
const sum = (algorithm: string, content: string): string => createHash(algorithm).update(content).digest("hex");

test("files of an upstream come through once, with all sums, and are kept", async (t) => {
  const { upstream, get, seen } = await world(t);
  upstream.release("org.up", "app", "1.0", {
    pom: "<description>Of far</description><licenses><license><name>Apache License, Version 2.0</name></license></licenses>",
  });
  upstream.put("org/up/app/1.0/app-1.0-sources.jar", "sources", { sums: [] });
  const pom = await get(POM);
  assert.match(pom.text, /<artifactId>app<\/artifactId>/);
  const jar = await get(JAR);
  assert.deepEqual(
    [jar.status, jar.text, jar.headers["content-type"]],
    [200, "jar of app 1.0", "application/java-archive"],
  );
  for (const algorithm of ["md5", "sha1", "sha256", "sha512"])
    assert.equal((await get(`${JAR}.${algorithm}`)).text, sum(algorithm, "jar of app 1.0"));
  assert.equal((await get(JAR, "HEAD")).headers["content-length"], "14");
  assert.equal((await get("org/up/app/1.0/app-1.0-sources.jar.sha1")).text, sum("sha1", "sources"));
  assert.equal((await get("org/up/app/1.0/app-1.0-javadoc.jar")).status, 404);
  assert.equal((await get("org/up/app/1.0/app-1.0-javadoc.jar")).status, 404);
  const there = (file: string): string => `GET /maven2/org/up/app/1.0/app-1.0${file}`;
  assert.deepEqual(seen(), [there(".pom"), there(".jar"), there("-sources.jar"), there("-javadoc.jar")]);
  const [artifact] = await rows(
    platform.ok("GET", "/libraries/v2/artifacts?ecosystems=ECOSYSTEM_JAVA&query=org.up:app"),
    "artifacts",
  );
  assert.deepEqual([artifact?.["description"], artifact?.["latestVersion"]], ["Of far", "1.0"]);
});

test("versions with characters that Maven takes, and plugins of sbt before 1.9, come through", async (t) => {
  const { upstream, get, seen } = await world(t);
  const versions = ["1.0+3-abc", "1.0~rc1", "1.0!2", "1.0=a", "1.0$1", "1.0@beta"];
  for (const version of versions) upstream.release("org.up", "odd", version);
  assert.deepEqual(new Set(versionsIn(await get("org/up/odd/maven-metadata.xml"))), new Set(versions));
  for (const version of versions) {
    const jar = await get(`org/up/odd/${version}/odd-${version}.jar`);
    assert.deepEqual([jar.status, jar.text], [200, `jar of odd ${version}`], version);
    assert.equal((await get(`org/up/odd/${version}/odd-${version}.pom`)).status, 200, version);
  }
  // Some file stores read a plus in a path as a space.
  assert.ok(seen().includes("GET /maven2/org/up/odd/1.0%2B3-abc/odd-1.0%2B3-abc.jar"));

  const folder = "org/up/sbt-x_2.12_1.0/1.2";
  const pom = pomText("org.up", "sbt-x", "1.2");
  upstream.put(`${folder}/sbt-x-1.2.pom`, pom);
  upstream.put(`${folder}/sbt-x-1.2.jar`, "plugin");
  assert.equal((await get(`${folder}/sbt-x-1.2.pom`)).text, pom);
  assert.equal((await get(`${folder}/sbt-x-1.2.jar`)).text, "plugin");
  assert.equal((await get(`${folder}/sbt-x_2.12_1.0-1.2.jar`)).status, 404);
  upstream.put("org/up/sbt-x_2.12_1.0/1.3/sbt-x-1.3.pom", pomText("org.up", "another", "1.3"));
  assert.equal((await get("org/up/sbt-x_2.12_1.0/1.3/sbt-x-1.3.pom")).status, 502);
});

test("what is kept is served while the upstream is down, and what is not is answered 503", async (t) => {
  const { upstream, get } = await world(t);
  upstream.release("org.up", "app", "1.0");
  upstream.release("org.up", "app", "1.1");
  upstream.release("org.up", "kept", "1.0");
  for (const path of [JAR, POM, METADATA, "org/up/kept/1.0/kept-1.0.jar"]) assert.equal((await get(path)).status, 200);
  upstream.intercept = (_, res) => (res.writeHead(500).end(), true);
  platform.clock.offsetMs += 24 * 60 * MINUTE_MS;
  assert.equal((await get(JAR)).text, "jar of app 1.0");
  assert.equal((await get(POM)).status, 200);
  assert.deepEqual(versionsIn(await get(METADATA)), ["1.0", "1.1"]);
  // Of this one nobody has asked for the metadata: what is kept is listed.
  assert.deepEqual(versionsIn(await get("org/up/kept/maven-metadata.xml")), ["1.0"]);
  const answer = await get("org/up/app/1.1/app-1.1.jar");
  assert.equal(answer.status, 503);
  assert.match(answer.text, /upstream has failed: it answered 500/);
  assert.equal((await get("org/up/other/maven-metadata.xml")).status, 503);
});

test("concurrent first requests fetch a file once", async (t) => {
  const { upstream, get, seen } = await world(t);
  upstream.release("org.up", "app", "1.0");
  const answers = await Promise.all(Array.from({ length: 12 }, (_, at) => get(at % 2 === 0 ? JAR : `${JAR}.sha1`)));
  assert.deepEqual(
    new Set(answers.map(({ status }) => status)),
    new Set([200]),
    answers.map(({ text }) => text).join(),
  );
  assert.deepEqual(seen(), [`GET /maven2/${JAR}`]);
});

test("the metadata of an upstream are those of the group, with what is kept", async (t) => {
  const { upstream, get, seen } = await world(t);
  for (const version of ["1.0", "1.10", "1.9", "2.0-rc1", "3.0-SNAPSHOT"]) upstream.release("org.up", "app", version);
  upstream.release("org.up", "app", "1.11");
  assert.equal((await get(JAR)).status, 200);
  const metadata = await get(METADATA);
  assert.deepEqual(versionsIn(metadata), ["1.0", "1.9", "1.10", "1.11", "2.0-rc1"]);
  assert.match(metadata.text, /<latest>1\.11<\/latest>\s+<release>1\.11<\/release>/);
  assert.match(metadata.text, /<lastUpdated>20260101000000<\/lastUpdated>/);
  assert.equal((await get(`${METADATA}.sha256`)).text, sum("sha256", metadata.text));
  assert.equal(seen().filter((line) => line.endsWith(METADATA)).length, 1);
  // What the upstream drops stays when it is kept, and what it adds comes after some minutes.
  upstream.put(METADATA, "<metadata><versioning><versions><version>1.12</version></versions></versioning></metadata>", {
    publishMs: Date.now(),
  });
  platform.clock.offsetMs += 10 * MINUTE_MS;
  assert.deepEqual(versionsIn(await get(METADATA)), ["1.0", "1.12"]);
});

test("snapshots of an upstream are not served", async (t) => {
  const { upstream, get, seen } = await world(t);
  upstream.put("org/up/app/1.0-SNAPSHOT/app-1.0-SNAPSHOT.jar", "snapshot");
  upstream.put("org/up/app/1.0-SNAPSHOT/maven-metadata.xml", "<metadata/>");
  assert.equal((await get("org/up/app/1.0-SNAPSHOT/app-1.0-SNAPSHOT.jar")).status, 404);
  assert.equal((await get("org/up/app/1.0-SNAPSHOT/maven-metadata.xml")).status, 404);
  assert.deepEqual(seen(), []);
});

test("a name of the group is never asked of the upstream, nor one that is reserved for it", async (t) => {
  const { upstream, get, put } = await world(t, { reservedNames: ["com.acme.*"] });
  for (const [groupId, artifactId] of [
    ["com.own", "lib"],
    ["com.acme", "secret"],
    ["com.acme.deep", "secret"],
  ] as const)
    upstream.release(groupId, artifactId, "9.9");
  const own = "com/own/lib/1.0/lib-1.0";
  assert.equal((await put(`${own}.jar`, "own")).status, 201);
  assert.equal((await put(`${own}.pom`, pomText("com.own", "lib", "1.0"))).status, 201);
  assert.deepEqual(versionsIn(await get("com/own/lib/maven-metadata.xml")), ["1.0"]);
  for (const path of [
    "com/own/lib/9.9/lib-9.9.jar",
    "com/own/lib/1.0/lib-1.0-sources.jar",
    "com/acme/secret/9.9/secret-9.9.pom",
    "com/acme/secret/maven-metadata.xml",
    "com/acme/maven-metadata.xml",
    "com/acme/deep/maven-metadata.xml",
    "maven-metadata.xml",
    "com/acme/deep/secret/9.9/secret-9.9.jar.sha1",
  ])
    assert.equal((await get(path)).status, 404, path);
  assert.deepEqual(upstream.seen, []);
});

test("a name that is merged has the versions of both, of which those of the group count", async (t) => {
  const { upstream, get, put } = await world(t, { mergedNames: ["org.up:app"] });
  for (const version of ["1.0", "9.0"]) upstream.release("org.up", "app", version);
  assert.equal((await put(JAR, "own")).status, 201);
  assert.equal((await put(POM, pomText("org.up", "app", "1.0"))).status, 201);
  assert.deepEqual(versionsIn(await get(METADATA)), ["1.0", "9.0"]);
  assert.equal((await get(JAR)).text, "own");
  assert.equal((await get("org/up/app/1.0/app-1.0-sources.jar")).status, 404);
  assert.equal((await get("org/up/app/9.0/app-9.0.jar")).text, "jar of app 9.0");
  const answer = await put("org/up/app/9.0/app-9.0-more.jar", "x");
  assert.equal(answer.status, 409);
  assert.match(answer.text, /came from the upstream/);
});

test("a version that the group has removed of a name that it merges is nobody's any more", async (t) => {
  const { upstream, get, put } = await world(t, { mergedNames: ["org.up:removed"] });
  for (const version of ["1.0", "2.0", "3.0"]) upstream.release("org.up", "removed", version);
  const path = (version: string): string => `org/up/removed/${version}/removed-${version}`;
  const metadata = "org/up/removed/maven-metadata.xml";
  assert.deepEqual(versionsIn(await get(metadata)), ["1.0", "2.0", "3.0"]);
  for (const version of ["1.0", "2.0"])
    assert.equal((await put(`${path(version)}.pom`, pomText("org.up", "removed", version))).status, 201);
  const of = (query: string): string => `/libraries/v2/artifacts?ecosystems=ECOSYSTEM_JAVA&query=${query}`;
  const [artifact] = await rows(platform.ok("GET", of("org.up:removed")), "artifacts");
  const uid = encodeURIComponent(String(artifact?.["uid"]));
  const versions = await rows(platform.ok("GET", `/libraries/v2/artifacts/${uid}/versions`), "artifactVersions");
  const second = versions.find(({ version }) => version === "2.0");
  await platform.ok("DELETE", `/libraries/v2/artifactVersions/${encodeURIComponent(String(second?.["uid"]))}`);
  assert.deepEqual(versionsIn(await get(metadata)), ["1.0", "3.0"]);
  for (const file of ["pom", "jar", "jar.sha1"]) assert.equal((await get(`${path("2.0")}.${file}`)).status, 404, file);
  assert.equal((await get(`${path("3.0")}.jar`)).text, "jar of removed 3.0");
  await platform.ok("DELETE", `/libraries/v2/artifacts/${uid}`);
  assert.deepEqual(versionsIn(await get(metadata)), ["3.0"]);
  for (const version of ["1.0", "2.0"]) assert.equal((await get(`${path(version)}.jar`)).status, 404, version);
});

test("a file with another sum than the upstream says is 502, and nothing of it is kept", async (t) => {
  const { upstream, get } = await world(t);
  for (const algorithm of ["md5", "sha1", "sha256", "sha512"]) {
    const artifactId = `by-${algorithm}`;
    const jar = `org/up/${artifactId}/1.0/${artifactId}-1.0.jar`;
    upstream.release("org.up", artifactId, "1.0", { sums: [algorithm] });
    upstream.put(`${jar}.${algorithm}`, sum(algorithm, "another"), { sums: [] });
    const answer = await get(jar);
    assert.equal(answer.status, 502, answer.text);
    assert.match(answer.text, new RegExp(`another ${algorithm} than the upstream says`));
    upstream.put(`${jar}.${algorithm}`, `${sum(algorithm, `jar of ${artifactId} 1.0`).toUpperCase()}  x.jar\n`, {
      sums: [],
    });
    assert.equal((await get(jar)).text, `jar of ${artifactId} 1.0`);
  }
  upstream.release("org.up", "page", "1.0");
  upstream.put("org/up/page/1.0/page-1.0.jar.sha1", "<html>Sign in</html>", { sums: [] });
  assert.match((await get("org/up/page/1.0/page-1.0.jar")).text, /has no sha1 in it/);
  const found = await rows(
    platform.ok("GET", "/libraries/v2/artifacts?ecosystems=ECOSYSTEM_JAVA&query=org.up:page"),
    "artifacts",
  );
  assert.deepEqual(found, []);
});

test("an upstream that answers with another artifact is 502", async (t) => {
  const { upstream, get } = await world(t);
  upstream.release("org.up", "app", "1.0");
  upstream.put(POM, pomText("org.up", "other", "1.0"));
  upstream.put(METADATA, "<html><body>Sign in</body></html>");
  const pom = await get(POM);
  assert.deepEqual([pom.status, /that of org\.up:other:1\.0/.test(pom.text)], [502, true], pom.text);
  const metadata = await get(METADATA);
  assert.deepEqual([metadata.status, /root is metadata/.test(metadata.text)], [502, true], metadata.text);
  upstream.put(POM, "no xml");
  assert.equal((await get(POM)).status, 502);
});

test("a version that the upstream changes later stays as it came", async (t) => {
  const { upstream, get } = await world(t);
  upstream.release("org.up", "app", "1.0");
  assert.equal((await get(JAR)).text, "jar of app 1.0");
  upstream.put(JAR, "changed", { publishMs: Date.now() });
  platform.clock.offsetMs += 60 * MINUTE_MS;
  assert.equal((await get(JAR)).text, "jar of app 1.0");
  assert.equal((await get(`${JAR}.sha1`)).text, sum("sha1", "jar of app 1.0"));
});

test("files that are too large or never end, and answers that never come, are given up", async (t) => {
  const { upstream, get } = await world(t);
  upstream.release("org.up", "app", "1.0", { sums: [], jar: Buffer.alloc(MAX_FILE_BYTES + 1) });
  const large = await get(JAR);
  assert.deepEqual([large.status, /more than 200000 bytes/.test(large.text)], [502, true], large.text);
  const chunk = Buffer.alloc(50_000);
  upstream.intercept = (req, res) => {
    if (req.url?.endsWith(".jar") !== true) return false;
    const send = (): void => void (res.destroyed || res.write(chunk, () => setTimeout(send, 1)));
    send();
    return true;
  };
  const endless = await get(JAR);
  assert.deepEqual([endless.status, /more than 200000 bytes/.test(endless.text)], [502, true], endless.text);
  const never = (ending: string): void => {
    upstream.intercept = (req) => req.url?.endsWith(ending) === true;
  };
  never(".jar");
  assert.equal((await get(JAR)).status, 503);
  never(".xml");
  assert.equal((await get(METADATA)).status, 503);
  upstream.intercept = (req, res) => {
    if (req.url?.endsWith(".xml") !== true) return false;
    res.write("<metadata>");
    const send = (): void => void (res.destroyed || res.write(" ".repeat(4_000_000), () => setTimeout(send, 1)));
    send();
    return true;
  };
  assert.ok([502, 503].includes((await get("org/up/endless/maven-metadata.xml")).status));
});

test("paths that are none of a Maven repository are not asked of the upstream", async (t) => {
  const { upstream, get } = await world(t);
  for (const path of [
    "org/..%2f..%2fsecret/app/1.0/app-1.0.jar",
    "org/%2e%2e/app/1.0/app-1.0.jar",
    "org/up/app/1.0/app-1.0%3f.jar",
    "org/up/app/1.0/%61pp-2.0.jar",
    "org/up/%00/1.0/x-1.0.jar",
  ])
    assert.equal((await get(path)).status, 400, path);
  assert.deepEqual(upstream.seen, []);
});

test("plugins of an upstream's groupId are found by prefix, and those of the group count before", async (t) => {
  const { upstream, get, put } = await world(t, { reservedNames: ["org.plugins:reserved-maven-plugin"] });
  const plugin = (name: string, artifactId = `${name}-maven-plugin`): string =>
    `<plugin><name>${name}</name><prefix>${name}</prefix><artifactId>${artifactId}</artifactId></plugin>`;
  const names = ["far", "own", "reserved"].map((name) => plugin(name)).join("");
  upstream.put(
    "org/plugins/maven-metadata.xml",
    `<metadata><plugins>${names}${plugin("mine", "x")}</plugins></metadata>`,
  );
  const pom = (artifactId: string): string =>
    pomText("org.plugins", artifactId, "1.0").replace(
      "<description>",
      "<packaging>maven-plugin</packaging><description>",
    );
  for (const artifactId of ["own-maven-plugin", "mine-maven-plugin"]) {
    const answer = await put(`org/plugins/${artifactId}/1.0/${artifactId}-1.0.pom`, pom(artifactId));
    assert.equal(answer.status, 201, answer.text);
  }
  const listed = async (): Promise<string[]> =>
    [...(await get("org/plugins/maven-metadata.xml")).text.matchAll(/<artifactId>(.*)<\/artifactId>/g)]
      .map(([, artifactId]) => artifactId ?? "")
      .sort();
  const expected = ["far-maven-plugin", "mine-maven-plugin", "own-maven-plugin"];
  assert.deepEqual(await listed(), expected);
  upstream.intercept = (_, res) => (res.writeHead(503).end(), true);
  platform.clock.offsetMs += 60 * MINUTE_MS;
  assert.deepEqual(await listed(), expected);
});

test("a name that differs from one of the group in case alone is not asked for at the upstream", async (t) => {
  const { upstream, get, put, seen } = await world(t);
  for (const [groupId, artifactId] of [
    ["org.up", "App"],
    ["org.up", "other"],
    ["Org.Up", "app"],
    ["org.up", "gone"],
  ] as const)
    upstream.release(groupId, artifactId, "9.0");
  assert.equal((await put(POM, pomText("org.up", "app", "1.0"))).status, 201);
  for (const path of [
    "org/up/App/9.0/App-9.0.jar",
    "org/up/App/maven-metadata.xml",
    "Org/Up/app/9.0/app-9.0.pom",
    "ORG/UP/APP/9.0/APP-9.0.pom",
  ])
    assert.equal((await get(path)).status, 404, path);
  assert.deepEqual(seen(), []);
  assert.equal((await get("org/up/other/9.0/other-9.0.jar")).status, 200);
  // A name stays the group's when all that was published under it is removed.
  assert.equal((await put("org/up/Gone/1.0/Gone-1.0.pom", pomText("org.up", "Gone", "1.0"))).status, 201);
  const [artifact] = await rows(
    platform.ok("GET", "/libraries/v2/artifacts?ecosystems=ECOSYSTEM_JAVA&query=org.up:Gone"),
    "artifacts",
  );
  await platform.ok("DELETE", `/libraries/v2/artifacts/${String(artifact?.["uid"])}`);
  assert.equal((await get("org/up/gone/9.0/gone-9.0.jar")).status, 404);
});
