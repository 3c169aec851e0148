import assert from "node:assert/strict";
import { test } from "node:test";
import { signToken } from "../../../server/src/index.ts";
import { openComposition } from "../../../server/test/support/composition.ts";
import { dropDatabase } from "../../../server/test/support/database.ts";
import { temporaryFolder } from "../../../server/test/support/installation.ts";

test("a log-in just before the server ends is in its identity's lastSeenTime", async (t) => {
  const dataDir = temporaryFolder(t);
  t.after(() => dropDatabase(dataDir));
  const seen = async (house: Awaited<ReturnType<typeof openComposition>>, uid: string): Promise<number> => {
    const rows = await house.db.selectFrom("identities").select("last_seen_time").where("uid", "=", uid).execute();
    return Number(rows[0]?.last_seen_time);
  };
  const first = await openComposition(dataDir);
  const { token } = await signToken({ config: first.config, audience: "platform", ttlMs: 600_000 });
  const startedMs = Date.now();
  const answer = await fetch(`${first.config.baseUrl}/token?service=test`, {
    headers: { authorization: `Basic ${Buffer.from(`_token:${token}`).toString("base64")}` },
  });
  assert.equal(answer.status, 200, await answer.text());
  await first[Symbol.asyncDispose]();

  await using second = await openComposition(dataDir);
  assert.ok((await seen(second, second.installation.bootstrap.identity.uid)) >= startedMs);
});
