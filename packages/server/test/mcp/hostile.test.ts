// Requests that no client of MCP would send.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { CLIENTS, connectMcp } from "../support/mcp.ts";
import { type Answer, type Ask, type Platform, startPlatform } from "../support/platform.ts";

let platform: Platform;
before(async () => {
  platform = await startPlatform();
});
after(() => platform.close());

const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" };
const ACCEPT = { accept: "application/json, text/event-stream" };

async function post(ask: Ask, path = "/mcp"): Promise<Answer> {
  return platform.call("POST", path, { token: await platform.token(), ...ask, headers: { ...ACCEPT, ...ask.headers } });
}

test("a body that is too large, cut short, no JSON, nested deeply or a batch is no message", async () => {
  const outcomes: [raw: string, status: number, code: number][] = [
    [JSON.stringify({ ...LIST, params: { text: "x".repeat(300_000) } }), 413, -32_600],
    ["{", 400, -32_700],
    ["", 400, -32_700],
    [`${'{"a":'.repeat(100)}1${"}".repeat(100)}`, 400, -32_700],
    [JSON.stringify([LIST, LIST]), 400, -32_600],
    ["null", 400, -32_600],
    ['"tools/list"', 400, -32_600],
  ];
  for (const [raw, status, code] of outcomes) {
    const answer = await post({ raw });
    assert.equal(answer.status, status, raw.slice(0, 40));
    assert.equal((answer.body["error"] as unknown as { code: number }).code, code, raw.slice(0, 40));
  }
  assert.equal((await post({ body: LIST })).status, 200, "the server goes on");
});

test("a page of another site is not answered, whatever name it calls", async () => {
  const { host, port } = new URL(platform.url);
  for (const headers of [
    { origin: "https://evil.example" },
    { origin: "null" },
    { origin: `http://127.0.0.1.evil.example:${port}` },
    { origin: "http://127.0.0.1:1" },
    { origin: `https://evil.example#${platform.url}` },
    { host: "evil.example" },
    { host: `evil.example:${port}` },
    { host: `${host}.evil.example` },
  ] as Record<string, string>[]) {
    const { status } = await post({ body: LIST, headers });
    assert.equal(status, 403, JSON.stringify(headers));
  }
  for (const headers of [
    { origin: platform.url },
    { origin: `http://localhost:${port}` },
    { host: `localhost:${port}` },
  ] as Record<string, string>[])
    assert.equal((await post({ body: LIST, headers })).status, 200, JSON.stringify(headers));
});

test("other methods than POST, and a wrong value of write, are errors", async () => {
  for (const method of ["GET", "DELETE", "PUT", "OPTIONS"]) {
    const { status, headers } = await platform.call(method, "/mcp", { token: await platform.token() });
    assert.deepEqual([status, headers["allow"]], [405, "POST"], method);
  }
  for (const query of ["write=yes", "write=true&write=false", "write="])
    assert.equal((await post({ body: LIST }, `/mcp?${query}`)).status, 400, query);
  assert.equal((await post({ body: LIST, headers: { "content-type": "text/plain" } })).status, 415);
});

test("headers that say something else than the body are rejected", async () => {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const body = { ...LIST, params: { _meta: meta } };
  const right = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" };
  assert.equal((await post({ body, headers: right })).status, 200);
  for (const headers of [
    { ...right, "mcp-method": "tools/call" },
    { ...right, "mcp-protocol-version": "2025-11-25" },
    { "mcp-protocol-version": "2026-07-28" },
  ])
    assert.equal((await post({ body, headers })).status, 400, JSON.stringify(headers));
});

test("text of a caller stays text: names with markup, null characters and long ones", async () => {
  const client = await connectMcp(CLIENTS[0], `${platform.url}/mcp`, await platform.token());
  for (const image of [
    "../../etc/passwd",
    "acme/<b>:1",
    "acme/a\0b:1",
    `acme/${"a".repeat(900)}:1`,
    "acme/app:1@never",
  ]) {
    const { isError, text } = await client.call("tag_history", { image });
    assert.equal(isError, true, image);
    assert.match(text, /image: must be an image|NOT_FOUND/);
  }
  await client.close();
});

test("MOORAGE_MCP=0 leaves it out", async () => {
  const without = await startPlatform({ MOORAGE_MCP: "0" });
  try {
    assert.equal((await without.call("POST", "/mcp", { token: await without.token(), body: LIST })).status, 404);
    const { body } = await without.call("GET", "/.well-known/oauth-authorization-server");
    assert.deepEqual(
      [body["client_id_metadata_document_supported"], body["protected_resources"]],
      [undefined, [without.url]],
    );
  } finally {
    await without.close();
  }
});
