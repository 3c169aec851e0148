// Runs the proxy of deploy/ in front of a running server, and sends it each kind of request:
//
//   node .ci/check-proxy.ts CADDY CONFIG.json SERVER_PORT
//
// CONFIG is deploy/Caddyfile as adapted by Caddy. Only addresses are changed: it listens on loopback, and the replicas
// are the server.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { dirname } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { Health, HealthCheckResponse_ServingStatus as ServingStatus } from "@moorage/api/gen/health/v1/health_pb";

const START_TIMEOUT_MS = 20_000;
const CALL_TIMEOUT_MS = 10_000;

const [caddy = "", config = "", serverPort = ""] = process.argv.slice(2);
const port = await freePort();
// In this check gRPC comes over HTTP/2 without TLS; clients of a real installation use TLS.
const adapted = readFileSync(config, "utf8")
  .replace('"listen":[":8080"]', `"protocols":["h1","h2c"],"listen":["127.0.0.1:${port}"]`)
  .replaceAll('"name":"moorage","port":"8080"', `"name":"localhost","port":"${serverPort}"`);
assert.ok(
  adapted.includes(`127.0.0.1:${port}`) && adapted.split(`"port":"${serverPort}"`).length === 3,
  "the addresses of the configuration are where they were",
);
writeFileSync(config, adapted);
const child = spawn(caddy, ["run", "--config", config], {
  env: { HOME: dirname(config), PATH: process.env.PATH },
  stdio: ["ignore", "ignore", "pipe"],
});
let log = "";
child.stderr.on("data", (chunk: Buffer) => (log = (log + chunk.toString()).slice(-4_000)));
try {
  const url = `http://127.0.0.1:${port}`;
  await ready(url);
  const registry = await fetch(`${url}/v2/`, { signal: AbortSignal.timeout(CALL_TIMEOUT_MS) });
  assert.equal(registry.status, 401);
  assert.match(registry.headers.get("www-authenticate") ?? "", /^Bearer realm=/);
  const health = createClient(Health, createGrpcTransport({ baseUrl: url, defaultTimeoutMs: CALL_TIMEOUT_MS }));
  assert.equal((await health.check({ service: "" })).status, ServingStatus.SERVING);
  assert.equal(
    (await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(CALL_TIMEOUT_MS) })).status,
    404,
    "the proxy does not expose the metrics",
  );
} catch (error) {
  console.error(log);
  throw error;
} finally {
  child.kill("SIGTERM");
}

async function ready(url: string): Promise<void> {
  for (const endMs = performance.now() + START_TIMEOUT_MS; performance.now() < endMs; await wait(100)) {
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(CALL_TIMEOUT_MS) }).catch(
      () => undefined,
    );
    if (answer?.status === 200) return;
    assert.equal(child.exitCode, null, "the proxy has ended");
  }
  throw new Error("the proxy does not reach the server");
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
