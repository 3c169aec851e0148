import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { calculateJwkThumbprint, type JWK } from "jose";
import { databaseEnv } from "../../../server/test/support/database.ts";
import { loadConfig, type Server, signToken, startServer } from "../../../server/src/index.ts";

const HOUR_MS = 3_600_000;

async function kidsOf(server: Server): Promise<string[]> {
  const { keys } = (await (await fetch(`${server.url}/.well-known/jwks.json`)).json()) as {
    keys: (JWK & { kid: string })[];
  };
  for (const key of keys) assert.equal(key.kid, await calculateJwkThumbprint(key));
  return keys.map(({ kid }) => kid);
}

test("a signing key past its maximum age is replaced; the old key verifies its tokens until they expire, and is then removed", async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), "moorage-rotation-"));
  t.after(() => rmSync(dataDir, { recursive: true, force: true, maxRetries: 10 }));
  let aheadMs = 0;
  const clock = { nowMs: () => Date.now() + aheadMs };
  const settings = loadConfig({
    MOORAGE_PORT: "0",
    MOORAGE_DATA_DIR: dataDir,
    MOORAGE_LOG_LEVEL: "silent",
    MOORAGE_SIGNING_KEY_AGE: "30m",
    MOORAGE_BASE_URL: "http://moorage.test",
    MOORAGE_REGISTRY_URL: "",
    ...(await databaseEnv(dataDir)),
  });
  const start = async (): Promise<{ server: Server; local: string }> => {
    const server = await startServer(settings, { clock });
    t.after(() => server.close());
    return { server, local: `http://127.0.0.1:${server.config.port}` };
  };
  const groups = async (local: string, token: string): Promise<number> =>
    (await fetch(`${local}/iam/v2/groups`, { headers: { authorization: `Bearer ${token}` } })).status;
  const kids = async ({ server, local }: { server: Server; local: string }): Promise<string[]> =>
    await kidsOf({ ...server, url: local });

  const first = await start();
  const [old] = await kids(first);
  const { token } = await signToken({ config: settings, audience: "platform", ttlMs: HOUR_MS });
  await first.server.close();

  aheadMs = HOUR_MS / 2;
  const second = await start();
  const both = await kids(second);
  assert.equal(both.length, 2);
  assert.ok(both.includes(old ?? ""), "the old key is still published");
  assert.equal(await groups(second.local, token), 200, "its token is still good");
  await second.server.close();

  aheadMs = 4 * HOUR_MS;
  const third = await start();
  assert.ok(!(await kids(third)).includes(old ?? ""), "after its grace the old key is gone");
  assert.equal(await groups(third.local, token), 401);
});
