import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { test } from "node:test";
import { eventually } from "../../../server/test/support/eventually.ts";
import { type Answer, type Json, startPlatform } from "../../../server/test/support/platform.ts";

// Uploads that are opened while there is space, and what metrics say of quotas.

const KIB = 1024;
const OPEN = 20;
const FIT = 6;
const SIZE = 15 * KIB;

interface Quota extends Json {
  state: string;
  used: { bytes?: string };
}

test("many uploads that are open under a quota end as one after the other would", { timeout: 300_000 }, async (t) => {
  const platform = await startPlatform({ MOORAGE_GC_INTERVAL: "0" });
  t.after(() => platform.close());
  const { uid: team } = await platform.group(platform.organization, { name: "team" });
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  const send = (method: string, path: string, raw?: Uint8Array): Promise<Answer> =>
    platform.call(method, path, {
      token,
      ...(raw && { raw: raw as unknown as string }),
      headers: { "content-type": "application/octet-stream" },
    });
  const quota = (): Promise<Quota> => platform.ok<Quota>("GET", `/registry/v2/quotas/${team}`);
  await platform.ok("POST", `/registry/v2/quotas/${team}`, { bytes: String(100 * KIB), repos: "5" });
  await eventually(async () => (await quota()).state !== "QUOTA_STATE_COUNTING");

  // Each fits by itself, so that each is taken; what is linked is decided one after the other.
  const uploads: { location: string; digest: string }[] = [];
  for (let at = 0; at < OPEN; at += 1) {
    const content = randomBytes(SIZE);
    const begun = await send("POST", `/v2/acme/team/app${at % 3}/blobs/uploads/`);
    assert.equal(begun.status, 202, begun.text);
    const patched = await send("PATCH", String(begun.headers["location"]), content);
    assert.equal(patched.status, 202, patched.text);
    const digest = `sha256:${createHash("sha256").update(content).digest("hex")}`;
    uploads.push({ location: String(patched.headers["location"]), digest });
  }
  assert.equal((await quota()).used.bytes, "0", "what is not linked is not counted");
  const ended = await Promise.all(
    uploads.map(({ location, digest }) =>
      send("PUT", `${location}${location.includes("?") ? "&" : "?"}digest=${digest}`),
    ),
  );
  const of = (status: number): number => ended.filter((answer) => answer.status === status).length;
  assert.deepEqual([of(201), of(403)], [FIT, OPEN - FIT]);
  for (const { status, text } of ended) if (status === 403) assert.match(text, /quota of acme\/team: 100 KiB, used /);
  assert.equal((await quota()).used.bytes, String(FIT * SIZE));
  const blobs = await platform.reader.selectFrom("blobs").select("digest").execute();
  assert.equal(blobs.length, FIT, "nothing stays of what was refused");
  // An upload that is still open does not go on either.
  const [first] = uploads;
  assert.ok(first !== undefined);
  assert.notEqual((await send("PATCH", first.location, randomBytes(1))).status, 202);

  const { text } = await platform.call("GET", "/metrics");
  const figures = text.split("\n").filter((line) => line.startsWith("moorage_quota_"));
  assert.deepEqual(figures.toSorted(), [
    `moorage_quota_limit{group="${team}",what="bytes"} ${100 * KIB}`,
    `moorage_quota_limit{group="${team}",what="repos"} 5`,
    `moorage_quota_used{group="${team}",what="bytes"} ${FIT * SIZE}`,
    `moorage_quota_used{group="${team}",what="repos"} 3`,
  ]);
});
