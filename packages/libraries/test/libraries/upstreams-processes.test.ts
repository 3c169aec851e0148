// Two processes that serve one port: what comes from an upstream comes once for both.
import assert from "node:assert/strict";
import { Agent, get as httpGet } from "node:http";
import { test } from "node:test";
import { loadConfig, readBootstrap, signToken } from "../../../server/src/index.ts";
import { databaseEnv, dropDatabase } from "../../../server/test/support/database.ts";
import { temporaryFolder } from "../../../server/test/support/installation.ts";
import { startNpmRegistry, tarballPath } from "../../../server/test/support/npm-registry.ts";
import { startProcess } from "../../../server/test/support/processes.ts";

const CLIENTS = 40;

/** A GET on a connection of its own, so that the processes share the work. */
function getAlone(url: string, token: string): Promise<{ status: number; length: number }> {
  return new Promise((resolve, reject) => {
    httpGet(url, { agent: new Agent(), headers: { authorization: `Bearer ${token}` } }, (answer) => {
      let length = 0;
      answer
        .on("data", (chunk: Buffer) => (length += chunk.length))
        .on("end", () => resolve({ status: answer.statusCode ?? 0, length }))
        .on("error", reject);
    }).on("error", reject);
  });
}

test("clients of two processes that want the same at first are served by one fetch of each", async (t) => {
  const registry = await startNpmRegistry(t);
  const bytes = registry.publish("left", "1.0.0");
  const packument = JSON.stringify(registry.packages.get("left"));
  // Slow enough for both processes to be asked before it has answered.
  registry.answers.set("/left", (_, res) => void setTimeout(() => res.end(packument), 500));
  registry.answers.set(tarballPath("left", "1.0.0"), (_, res) => void setTimeout(() => res.end(bytes), 500));
  const dataDir = temporaryFolder(t);
  t.after(() => dropDatabase(dataDir));
  const env = {
    MOORAGE_DATA_DIR: dataDir,
    MOORAGE_WORKERS: "2",
    MOORAGE_ALLOW_PRIVATE_NETWORK: "1",
    ...(await databaseEnv(dataDir)),
  };
  const server = await startProcess(t, env);
  const { organization, baseUrl } = readBootstrap(dataDir);
  const config = loadConfig({ ...env, MOORAGE_BASE_URL: baseUrl });
  const { token } = await signToken({ config, audience: "platform", ttlMs: 3_600_000 });
  const made = await fetch(`${server.url}/libraries/v2/upstreams/${organization.uid}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ ecosystem: "ECOSYSTEM_JAVASCRIPT", url: registry.url }),
  });
  assert.equal(made.status, 200, await made.text());
  const { token: pull } = await signToken({ config, audience: "registry", ttlMs: 3_600_000 });
  for (const path of ["/left", tarballPath("left", "1.0.0")]) {
    const answers = await Promise.all(
      Array.from({ length: CLIENTS }, () => getAlone(`${server.url}/npm/acme${path}`, pull)),
    );
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]), path);
    assert.equal(new Set(answers.map(({ length }) => length)).size, 1, "all of them get the same");
    assert.equal(registry.count(path), 1, `${path} was asked for once`);
  }
});
