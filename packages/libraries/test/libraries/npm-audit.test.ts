// `npm audit`, answered from the feeds of the installation and what advisories of the group say.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { ADVISORIES, newAdvisory } from "../../../server/test/support/advisories.ts";
import { osvOf, putRecords } from "../../../server/test/support/feed-records.ts";
import { CRITICAL } from "../../../server/test/support/gated-repo.ts";
import { openNpm, publishNpm } from "../../../server/test/support/npm.ts";
import { type Answer, type Platform, startPlatform } from "../../../server/test/support/platform.ts";

let platform: Platform;
let team = "";
let token = "";
before(async () => {
  platform = await startPlatform();
  token = await platform.token();
  team = (await platform.group(platform.organization, { name: "team" })).uid;
  const affected = (name: string, ...ranges: object[][]): object => ({
    affected: [{ package: { ecosystem: "npm", name }, ranges: ranges.map((events) => ({ type: "SEMVER", events })) }],
  });
  await putRecords(platform, "osv", "osv", [
    osvOf("GHSA-aaaa-bbbb-cccc", {
      aliases: ["CVE-2026-100"],
      summary: "Pads too far",
      references: [{ type: "ADVISORY", url: "https://example.com/advisories/GHSA-aaaa-bbbb-cccc" }],
      database_specific: { cwe_ids: ["CWE-1"] },
      ...CRITICAL,
      ...affected(
        "@acme/pad",
        [{ introduced: "1.0.0" }, { fixed: "1.2.0" }],
        [{ introduced: "2.0.0" }, { last_affected: "2.1.0" }],
      ),
    }),
    osvOf("MAL-2026-7", { summary: "Steals tokens", ...affected("evil", [{ introduced: "0" }]) }),
    osvOf("GHSA-gone-gone-gone", {
      withdrawn: "2026-01-01T00:00:00Z",
      ...affected("@acme/pad", [{ introduced: "0" }]),
    }),
  ]);
});
after(() => platform.close());

const BULK = "/npm/acme/team/-/npm/v1/security/advisories/bulk";
const ask = (body: object | string, headers: Record<string, string> = {}): Promise<Answer> =>
  platform.call("POST", BULK, { token, raw: typeof body === "string" ? body : JSON.stringify(body), headers });

test("vulnerable versions are answered with what is affected, how bad it is and where to read more", async () => {
  const answer = await ask({ "@acme/pad": ["1.1.0", "1.2.0"], evil: ["0.0.1"], fine: ["1.0.0"], nothing: [] });
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(JSON.parse(answer.text), {
    "@acme/pad": [
      {
        id: "GHSA-aaaa-bbbb-cccc",
        url: "https://example.com/advisories/GHSA-aaaa-bbbb-cccc",
        title: "Pads too far",
        severity: "critical",
        vulnerable_versions: ">=1.0.0 <1.2.0 || >=2.0.0 <=2.1.0",
        cwe: ["CWE-1"],
        cvss: { score: 9.8, vectorString: null },
      },
    ],
    evil: [
      {
        id: "MAL-2026-7",
        url: "https://osv.dev/vulnerability/MAL-2026-7",
        title: "Steals tokens",
        severity: "moderate",
        vulnerable_versions: "*",
        cwe: [],
        cvss: { score: 0, vectorString: null },
      },
    ],
  });
  assert.equal((await ask({ "@acme/pad": ["1.2.0", "3.0.0"] })).text, "{}");
});

test("a body may be packed; one that is no such object is rejected", async () => {
  const raw = gzipSync(JSON.stringify({ evil: ["1.0.0"] }));
  const packed = await platform.call("POST", BULK, { token, raw, headers: { "content-encoding": "gzip" } });
  assert.deepEqual(Object.keys(packed.body), ["evil"]);
  for (const body of ["", "[]", "{", '{"a": "1.0.0"}', '{"a": [1]}']) assert.equal((await ask(body)).status, 400, body);
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, 32));
  const refused = await platform.call("POST", BULK, { token, raw: bomb, headers: { "content-encoding": "gzip" } });
  assert.equal(refused.status, 400);
});

test("npm audit reports what an installation has, until an advisory of the group says that it is not affected", async (t) => {
  assert.equal((await publishNpm(platform, "acme/team", "@acme/pad", "1.1.0")).status, 201);
  const npm = openNpm(t, `${platform.url}/npm/acme/team/`, (place) => `${place}:_authToken=${token}`);
  const app = npm.folderOf("app", { name: "app", version: "1.0.0", dependencies: { "@acme/pad": "1.1.0" } });
  const installed = await npm.run(["install", "--no-audit"], { cwd: app });
  assert.equal(installed.code, 0, installed.stderr);
  const audit = async (): Promise<Record<string, { severity: string; range: string }>> =>
    (JSON.parse((await npm.run(["audit", "--json"], { cwd: app })).stdout) as { vulnerabilities: never })
      .vulnerabilities;
  assert.equal((await audit())["@acme/pad"]?.severity, "critical");
  const { uid } = await newAdvisory(platform, team, {
    artifactName: "@acme/pad",
    artifactType: "NPM",
    aliases: ["CVE-2026-100"],
  });
  await platform.ok("POST", `${ADVISORIES}/${uid}/events`, {
    reviewState: "APPROVED",
    falsePositiveDetermination: { type: "TYPE_VULNERABLE_CODE_NOT_IN_EXECUTION_PATH", note: "It is never called." },
  });
  assert.deepEqual(await audit(), {});
});
