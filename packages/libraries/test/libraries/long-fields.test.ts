// Metadata whose fields are as long as files may be: made for expressions that go back over what they have read. Each
// is read to its end, and nobody else waits for it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startMavenWorld } from "../../../server/test/support/maven-world.ts";
import { type Answer, type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { sdistOf, uploadPypi, wheelOf } from "../../../server/test/support/pypi.ts";

const GROUP = "acme/team";
/** Of what the server reads of metadata of Python, and of a POM. */
const [METADATA_CHARS, POM_CHARS] = [8_380_000, 4_190_000];
const LIMIT = { timeout: 300_000 };
let platform: Platform;
let others = "";
before(async () => {
  platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  await platform.group(platform.organization, { name: "team" });
  const { uid } = await platform.ok<{ uid: string }>("POST", "/iam/v2/groups", { name: "others" });
  others = await platform.token(await platform.identity(uid, "viewer"));
});
after(() => platform.close());

/** What somebody of another organization is answered meanwhile. */
async function meanwhile(): Promise<number[]> {
  const answers = await Promise.all([
    platform.call("GET", "/readyz"),
    platform.call("GET", "/ping/v2/ping", { token: others }),
  ]);
  return answers.map(({ status }) => status);
}

/** Lines of this length, with what makes an expression go back at their end. */
const LINES: readonly string[] = [
  `X:${" ".repeat(METADATA_CHARS)}\u2028x`,
  `Classifier: License :: ${":: ".repeat(METADATA_CHARS / 3)}\u2028`,
  `License-Expression: ${"GPL ".repeat(METADATA_CHARS / 4)}`,
];

test("a wheel and a source distribution are taken whose metadata have a line of 8 MiB", LIMIT, async () => {
  for (const [at, line] of LINES.entries()) {
    const distribution = { name: "long", version: `${at + 1}.0`, lines: [line] };
    const file = at === 0 ? sdistOf(distribution) : wheelOf(distribution);
    const [uploaded, seen] = await Promise.all([
      uploadPypi(platform, GROUP, { ...file, ...distribution }),
      meanwhile(),
    ]);
    assert.deepEqual([uploaded.status, seen], [200, [200, 200]], `${line.slice(0, 20)}: ${uploaded.text}`);
  }
  const wheel = wheelOf({ name: "long", version: "4.0", lines: LINES.slice(0, 1) });
  const { status, text } = await uploadPypi(platform, GROUP, { ...wheel, name: "long", version: "4.0" });
  assert.equal(status, 200, text);
});

test("a version that is longer than 2,048 characters counts as missing", async () => {
  const { bytes } = wheelOf({ name: "long", version: `9.0${" ".repeat(3_000)}x` });
  const wheel = { filename: "long-9.0-py3-none-any.whl", bytes, name: "long", version: "9.0" };
  const { status, text } = await uploadPypi(platform, GROUP, wheel);
  assert.equal(status, 400);
  assert.match(text, /the wheel's METADATA is of long , not of long 9\.0/);
});

test("a POM of an upstream is read whose licenses have names of 4 MiB", LIMIT, async (t) => {
  const { upstream, get } = await startMavenWorld(t, platform);
  const names = ["BSD ", "General Public License "];
  for (const [at, name] of names.entries()) {
    const version = `${at + 1}.0`;
    const long = name.repeat(Math.floor(POM_CHARS / name.length / 2));
    upstream.release("org.up", "app", version, {
      pom: `<licenses><license><name>${long}</name><url>${long}</url></license></licenses>`,
    });
    const file = `org/up/app/${version}/app-${version}`;
    const [pom, jar, seen] = await Promise.all<Answer | number[]>([
      get(`${file}.pom`),
      get(`${file}.jar`),
      meanwhile(),
    ]);
    assert.deepEqual([(pom as Answer).status, (jar as Answer).status, seen], [200, 200, [200, 200]], name);
  }
});
