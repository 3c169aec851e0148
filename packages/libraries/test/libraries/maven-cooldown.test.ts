// What a policy hides of a Maven repository elsewhere: releases that are too young, and licenses.
import assert from "node:assert/strict";
import { after, before, test, type TestContext } from "node:test";
import { pomText } from "../../../server/test/support/maven.ts";
import { type MavenWorld, startMavenWorld, versionsIn } from "../../../server/test/support/maven-world.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { newPolicy } from "../../../server/test/support/policies.ts";

const DAY_MS = 24 * 3_600_000;
let platform: Platform;
before(async () => {
  platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
});
after(() => platform.close());

async function world(t: TestContext, policy: object): Promise<MavenWorld> {
  const made = await startMavenWorld(t, platform);
  await newPolicy(platform, made.uid, { ecosystem: "ECOSYSTEM_JAVA", ...policy });
  return made;
}

const ago = (days: number): number => platform.clock.nowMs() - days * DAY_MS;
const METADATA = "org/up/app/maven-metadata.xml";
const fileOf = (version: string, ending = "jar", artifactId = "app"): string =>
  `org/up/${artifactId}/${version}/${artifactId}-${version}.${ending}`;

test("a release that is too young is hidden in metadata and by direct URL until it opens", async (t) => {
  const { upstream, get } = await world(t, { cooldown: "604800s" });
  for (const [version, days] of [
    ["1.0", 400],
    ["1.1-rc1", 40],
    ["1.2", 30],
    ["2.0-rc1", 20],
    ["1.3", 6],
    ["1.4", 2],
  ] as const)
    upstream.release("org.up", "app", version, { publishMs: ago(days) });
  const metadata = await get(METADATA);
  assert.deepEqual(versionsIn(metadata), ["1.0", "1.1-rc1", "1.2", "2.0-rc1"]);
  assert.match(metadata.text, /<latest>1\.2<\/latest>\s+<release>1\.2<\/release>/);
  for (const ending of ["pom", "jar", "jar.sha1", "pom.sha256"]) {
    const answer = await get(fileOf("1.4", ending));
    assert.equal(answer.status, 403, answer.text);
    assert.match(answer.text, /org\.up:app@1\.4 is too young: it opens at \d{4}-/);
  }
  assert.equal((await get(fileOf("1.2"))).status, 200);
  platform.clock.offsetMs += 1.5 * DAY_MS;
  assert.deepEqual(versionsIn(await get(METADATA)), ["1.0", "1.1-rc1", "1.2", "1.3", "2.0-rc1"]);
  assert.equal((await get(fileOf("1.3"))).status, 200);
  assert.equal((await get(fileOf("1.4"))).status, 403);
  platform.clock.offsetMs += 4 * DAY_MS;
  assert.match((await get(METADATA)).text, /<release>1\.4<\/release>/);
  assert.equal((await get(fileOf("1.4"))).status, 200);
});

test("an artifact with young releases alone is 409, and what was kept before the policy is hidden as well", async (t) => {
  const made = await startMavenWorld(t, platform);
  const { upstream, uid, get } = made;
  upstream.release("org.up", "app", "1.0", { publishMs: ago(1) });
  upstream.release("org.up", "app", "1.1", { publishMs: ago(1) });
  assert.equal((await get(fileOf("1.0", "pom"))).status, 200);
  assert.equal((await get(fileOf("1.0"))).status, 200);
  await newPolicy(platform, uid, { ecosystem: "ECOSYSTEM_JAVA", cooldown: "604800s" });
  const metadata = await get(METADATA);
  assert.equal(metadata.status, 409, metadata.text);
  assert.match(metadata.text, /every version of org\.up:app is blocked/);
  assert.equal((await get(fileOf("1.0"))).status, 403);
  assert.equal((await get(fileOf("1.0", "pom.sha1"))).status, 403);
});

test("the age of a release is that of its POM, or else the time at which it was seen first", async (t) => {
  const { upstream, get, seen } = await world(t, { cooldown: "604800s" });
  for (const version of ["1.0", "1.1", "1.2"]) upstream.release("org.up", "app", version, { publishMs: ago(30) });
  upstream.release("org.up", "app", "1.3", { publishMs: ago(1) });
  upstream.intercept = (req, res) => {
    if (req.url?.endsWith("1.2.pom") !== true) return false;
    res.end(pomText("org.up", "app", "1.2"));
    return true;
  };
  assert.deepEqual(versionsIn(await get(METADATA)), ["1.0", "1.1"]);
  const asked = seen().filter((line) => line.endsWith(".pom")).length;
  assert.equal(asked, 4);
  platform.clock.offsetMs += 3 * DAY_MS;
  assert.deepEqual(versionsIn(await get(METADATA)), ["1.0", "1.1"]);
  platform.clock.offsetMs += 5 * DAY_MS;
  assert.deepEqual(versionsIn(await get(METADATA)), ["1.0", "1.1", "1.2", "1.3"]);
  // Their ages were known.
  assert.equal(seen().filter((line) => line.endsWith(".pom")).length, asked);
});

test("metadata that are old enough need no POMs, and of very many releases some are asked for at a time", async (t) => {
  const { upstream, get, seen } = await world(t, { cooldown: "604800s" });
  upstream.release("org.up", "old", "1.0", { publishMs: ago(8) });
  assert.deepEqual(versionsIn(await get("org/up/old/maven-metadata.xml")), ["1.0"]);
  assert.equal(seen().filter((line) => line.endsWith(".pom")).length, 0);
  for (let minor = 0; minor < 150; minor += 1)
    upstream.release("org.up", "app", `1.${minor}`, { publishMs: ago(30), sums: [] });
  upstream.release("org.up", "app", "0.1", { publishMs: ago(1) });
  const listed = versionsIn(await get(METADATA));
  assert.deepEqual([listed.length, listed[0], listed.at(-1)], [100, "1.50", "1.149"]);
  platform.clock.offsetMs += 2_000;
  const whole = versionsIn(await get(METADATA));
  assert.deepEqual([whole.length, whole[0], whole.at(-1)], [150, "1.0", "1.149"]);
});

test("the licence is that of the POM, of its parent, or of the parent's parent", async (t) => {
  const { upstream, get } = await world(t, {
    cooldown: "0s",
    allowedLicenses: ["Apache-2.0", "MIT"],
    unknownLicense: "UNKNOWN_LICENSE_BLOCK",
  });
  const licenses = (...names: string[]): string =>
    `<licenses>${names.map((name) => `<license><name>${name}</name></license>`).join("")}</licenses>`;
  const parent = (artifactId: string): string =>
    `<parent><groupId>org.up</groupId><artifactId>${artifactId}</artifactId><version>1</version></parent>`;
  const cases: [artifactId: string, pom: string, status: number, reason: RegExp][] = [
    ["named", licenses("Apache License, Version 2.0"), 200, /jar/],
    ["choice", licenses("GNU Lesser General Public License v2.1", "The MIT License"), 200, /jar/],
    ["other", licenses("GNU General Public License v3.0"), 403, /has the license GPL-3\.0/],
    ["none", "", 403, /has no known license/],
    ["inherits", parent("middle"), 200, /jar/],
    ["circle", parent("circle"), 403, /has no known license/],
    ["orphan", parent("nowhere"), 403, /has no known license/],
  ];
  upstream.release("org.up", "top", "1", { pom: licenses("Apache-2.0") });
  upstream.release("org.up", "middle", "1", { pom: parent("top") });
  for (const [artifactId, pom, status, reason] of cases) {
    const version = artifactId === "circle" ? "1" : "1.0";
    upstream.release("org.up", artifactId, version, { pom });
    const answer = await get(fileOf(version, "jar", artifactId));
    assert.equal(answer.status, status, `${artifactId}: ${answer.text}`);
    assert.match(answer.text, reason, artifactId);
    // Once more, of what is kept.
    assert.equal((await get(fileOf(version, "jar", artifactId))).status, status, artifactId);
    assert.equal((await get(fileOf(version, "pom", artifactId))).status, status, artifactId);
  }
});

test("the POM of a plugin of sbt before 1.9 is found, and a purl names versions with any characters", async (t) => {
  const { upstream, get } = await world(t, {
    cooldown: "604800s",
    allowedLicenses: ["Apache-2.0"],
    unknownLicense: "UNKNOWN_LICENSE_BLOCK",
    blockedPurls: ["pkg:maven/org.up/odd@1.0%2Bbad", "pkg:maven/org.up/odd@1.0%40bad"],
  });
  const licenses = "<licenses><license><name>Apache-2.0</name></license></licenses>";
  const folder = "org/up/sbt-x_2.12_1.0";
  const pom = (version: string): string =>
    `<project><groupId>org.up</groupId><artifactId>sbt-x</artifactId><version>${version}</version>${licenses}</project>`;
  for (const [version, days] of [
    ["1.0", 30],
    ["1.1", 1],
  ] as const) {
    upstream.put(`${folder}/${version}/sbt-x-${version}.pom`, pom(version), { publishMs: ago(days) });
    upstream.put(`${folder}/${version}/sbt-x-${version}.jar`, "plugin", { publishMs: ago(days) });
  }
  upstream.put(
    `${folder}/maven-metadata.xml`,
    "<metadata><groupId>org.up</groupId><artifactId>sbt-x</artifactId><versioning><versions><version>1.0</version><version>1.1</version></versions></versioning></metadata>",
    { publishMs: ago(1) },
  );
  assert.deepEqual(versionsIn(await get(`${folder}/maven-metadata.xml`)), ["1.0"]);
  assert.equal((await get(`${folder}/1.0/sbt-x-1.0.jar`)).text, "plugin");
  assert.equal((await get(`${folder}/1.1/sbt-x-1.1.jar`)).status, 403);
  for (const version of ["1.0+good", "1.0+bad", "1.0@bad"])
    upstream.release("org.up", "odd", version, { publishMs: ago(30), pom: licenses });
  assert.deepEqual(versionsIn(await get("org/up/odd/maven-metadata.xml")), ["1.0+good"]);
  assert.equal((await get("org/up/odd/1.0+good/odd-1.0+good.jar")).status, 200);
  for (const version of ["1.0+bad", "1.0@bad"])
    assert.equal((await get(`org/up/odd/${version}/odd-${version}.jar`)).status, 403, version);
});

test("a blocked purl hides releases of the group itself, too", async (t) => {
  const { upstream, get, put } = await world(t, {
    cooldown: "0s",
    blockedPurls: ["pkg:maven/org.own/lib@1.1", "pkg:maven/org.up/*"],
  });
  upstream.release("org.up", "app", "1.0");
  for (const version of ["1.0", "1.1"])
    assert.equal((await put(`org/own/lib/${version}/lib-${version}.jar`, version)).status, 201);
  assert.deepEqual(versionsIn(await get("org/own/lib/maven-metadata.xml")), ["1.0"]);
  const answer = await get("org/own/lib/1.1/lib-1.1.jar");
  assert.equal(answer.status, 403);
  assert.match(answer.text, /is blocked by the rule pkg:maven\/org\.own\/lib@1\.1/);
  assert.equal((await get("org/own/lib/1.0/lib-1.0.jar")).status, 200);
  assert.equal((await get(fileOf("1.0"))).status, 403);
});

test("a preview hides nothing", async (t) => {
  const { upstream, get } = await world(t, { mode: "POLICY_MODE_PREVIEW", cooldown: "604800s" });
  upstream.release("org.up", "app", "1.0", { publishMs: ago(1) });
  assert.deepEqual(versionsIn(await get(METADATA)), ["1.0"]);
  assert.equal((await get(fileOf("1.0"))).status, 200);
});

test("no other spelling of a groupId leads to what is blocked, or reserved, under the right one", async (t) => {
  const { upstream, get, put, seen } = await world(t, { cooldown: "604800s", blockedPurls: ["pkg:maven/org.up/evil"] });
  upstream.release("org.up", "evil", "1.0");
  upstream.release("org.up", "app", "1.0", { publishMs: ago(30) });
  assert.equal((await get(fileOf("1.0", "jar", "evil"))).status, 403);
  assert.equal((await get(fileOf("1.0"))).status, 200);
  const asked = seen().length;
  for (const groupId of ["org..up", "org./up", "org/.up", ".org/up", "org/up.", "org...up"]) {
    for (const ending of ["jar", "pom", "jar.sha1"]) {
      const answer = await get(`${groupId}/evil/1.0/evil-1.0.${ending}`);
      assert.equal(answer.status, 400, `${groupId} ${ending}: ${answer.text}`);
    }
    assert.equal((await get(`${groupId}/evil/maven-metadata.xml`)).status, 400, groupId);
    assert.equal((await put(`${groupId}/own/1.0/own-1.0.jar`, "own")).status, 400, groupId);
  }
  assert.equal(seen().length, asked, "nobody was asked");
  assert.equal((await get("org.up/app/1.0/app-1.0.jar")).status, 200, "a groupId in one folder is the same");
});
