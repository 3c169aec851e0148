// MCP with the rights of the caller alone: who sees what, who may promote, which tokens are taken, what is audited.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually } from "../support/eventually.ts";
import { connectMcp } from "../support/mcp.ts";
import { type Json, type Platform, startPlatform } from "../support/platform.ts";
import { openTaggedRepo, type TaggedRepo } from "../support/tagged-repo.ts";

let platform: Platform;
let repo: TaggedRepo;
before(async () => {
  platform = await startPlatform();
  repo = await openTaggedRepo(platform, "app");
  await repo.set("1.0", repo.digests[0]);
});
after(() => platform.close());

type Said = { isError: boolean; text: string; answer: Record<string, unknown> };

/** One call of a tool, with that token. */
async function call(token: string, name: string, args: Record<string, unknown>): Promise<Said> {
  const client = await connectMcp("2026-07-28", `${platform.url}/mcp?write=true`, token);
  try {
    return await client.call(name, args);
  } finally {
    await client.close();
  }
}

const QUESTIONS: [name: string, args: Record<string, unknown>][] = [
  ["tag_history", { image: "acme/app:1.0" }],
  ["resolve_as_of", { image: "acme/app:1.0", time: "2999-01-01" }],
  ["diff_images", { from: "acme/app:1.0", to: "1.0" }],
  ["image_findings", { image: "acme/app:1.0" }],
  ["image_coverage", { image: "acme/app:1.0" }],
  ["list_unknown_images", { image: "acme/app" }],
  ["image_signatures", { image: "acme/app:1.0" }],
  ["promote", { image: "acme/app", promotions: [{ tag: "prod", from: "1.0" }] }],
];

test("a stranger sees nothing, and is answered as if there were nothing", async () => {
  const elsewhere = await platform.ok("POST", "/iam/v2/groups", { name: "elsewhere" });
  const stranger = await platform.token(await platform.identity(elsewhere.uid, "owner"));
  assert.deepEqual((await call(stranger, "find_image", { query: "acme" })).answer["results"], []);
  assert.deepEqual((await call(stranger, "list_eol_tags", {})).answer["tags"], []);
  assert.deepEqual((await call(stranger, "list_unknown_images", {})).answer["images"], []);
  assert.deepEqual((await call(stranger, "list_signature_policies", {})).answer["policies"], []);
  for (const [name, args] of QUESTIONS) {
    const there = await call(stranger, name, args);
    const nowhere = await call(stranger, name, JSON.parse(JSON.stringify(args).replaceAll("acme/app", "acme/nil")));
    assert.deepEqual([there.isError, nowhere.isError], [true, true], name);
    assert.match(there.text, /NOT_FOUND/);
    assert.equal(there.text.replaceAll("acme/app", "acme/nil"), nowhere.text);
  }
  const { isError, text } = await call(stranger, "gc_preview", {});
  assert.deepEqual([isError, /PERMISSION_DENIED/.test(text)], [true, true], text);
  const about = await call(stranger, "explain_access", {
    identity: platform.owner,
    action: "pull",
    resource: "acme/app:1.0",
  });
  assert.deepEqual([about.isError, about.text.includes(repo.uid)], [true, false], about.text);
});

test("a viewer reads, and may not promote: nothing is written", async () => {
  const viewer = await platform.token(await platform.identity(platform.organization, "viewer"));
  for (const [name, args] of QUESTIONS.slice(0, 7)) {
    const { isError, text } = await call(viewer, name, args);
    assert.equal(isError, false, text);
  }
  const wish = { image: "acme/app", promotions: [{ tag: "prod", from: "1.0" }] };
  const { text, isError } = await call(viewer, "promote", wish);
  assert.deepEqual([isError, /PERMISSION_DENIED[\s\S]*explain_access/.test(text)], [true, true], text);
  // The preview that somebody else got does not help.
  const { answer } = await call(await platform.token(), "promote", wish);
  const forged = await call(viewer, "promote", { ...wish, dry_run: false, preview: answer["preview"] });
  assert.deepEqual([forged.isError, /PERMISSION_DENIED/.test(forged.text)], [true, true], forged.text);
  assert.equal(Object.hasOwn(await repo.tags(), "prod"), false);
});

test("whoever sees a part of a path alone finds images by their whole name", async () => {
  const team = await platform.group(platform.organization, { name: "team" });
  await platform.repo(team.uid, { name: "inner" });
  const inner = await platform.identity(team.uid, "viewer");
  const { answer, isError, text } = await call(await platform.token(inner), "tag_history", {
    image: "acme/team/inner:1.0",
  });
  assert.deepEqual([isError, answer["moves"]], [false, []], text);
});

test("a narrowed token allows no more here than elsewhere", async () => {
  const narrowed = async (form: Record<string, string>): Promise<string> => {
    const response = await fetch(`${platform.url}/sts/token`, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
        subject_token: await platform.token(),
        subject_token_type: "urn:ietf:params:oauth:token-type:access_token",
        ...form,
      }),
    });
    const body = (await response.json()) as { access_token: string };
    assert.equal(response.status, 200, JSON.stringify(body));
    return body.access_token;
  };
  const elsewhere = (await platform.group(platform.organization, { name: "other" })).uid;
  const outside = await call(await narrowed({ scope: elsewhere }), "tag_history", { image: "acme/app:1.0" });
  assert.match(outside.text, /NOT_FOUND/);
  const reading = await narrowed({ scope: "tag.list repo.list groups.list" });
  assert.equal((await call(reading, "tag_history", { image: "acme/app:1.0" })).isError, false);
  const wish = { image: "acme/app", promotions: [{ tag: "prod", from: "1.0" }] };
  assert.match((await call(reading, "promote", wish)).text, /PERMISSION_DENIED/);
  // A token for MCP alone, which is narrower by its audience.
  const mcp = await narrowed({ resource: `${platform.url}/mcp` });
  assert.equal((await call(mcp, "tag_history", { image: "acme/app:1.0" })).isError, false);
  const { status } = await platform.call("GET", "/registry/v2/repos", { token: mcp });
  assert.equal(status, 401);
  const host = new URL(platform.url).host;
  assert.equal((await platform.call("GET", "/v2/acme/app/tags/list", { token: mcp })).status, 401);
  assert.equal((await platform.call("GET", "/v2/acme/app/_service/history/1.0", { token: mcp })).status, 403);
  for (const resource of [platform.url, host]) {
    const answer = await platform.call("POST", "/sts/token", {
      raw: new URLSearchParams({
        grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
        subject_token: mcp,
        subject_token_type: "urn:ietf:params:oauth:token-type:access_token",
        resource,
      }).toString(),
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
    assert.deepEqual([answer.status, answer.body["error"]], [400, "invalid_target"], "it cannot be widened");
  }
});

test("no token, a wrong one, and one for the registry are answered with 401 and where to sign in", async () => {
  const metadata = `${platform.url}/.well-known/oauth-protected-resource/mcp`;
  const host = new URL(platform.url).host;
  const tokens = {
    none: undefined,
    nonsense: "x.y.z",
    registry: await platform.token(platform.owner, { audience: host }),
    "of another resource": await platform.token(platform.owner, { audience: "https://mcp.example.com/mcp" }),
    expired: await platform.token(platform.owner, { ttlMs: -60_000 }),
  };
  for (const [name, token] of Object.entries(tokens)) {
    const { status, headers } = await platform.call("POST", "/mcp", {
      token,
      body: { jsonrpc: "2.0", id: 1, method: "tools/list" },
    });
    assert.equal(status, 401, name);
    const error =
      token === undefined ? "" : 'error="invalid_token", error_description="the token is not accepted here", ';
    assert.equal(headers["www-authenticate"], `Bearer ${error}resource_metadata="${metadata}"`, name);
  }
  for (const path of ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"]) {
    const { status, body } = await platform.call("GET", path);
    assert.deepEqual(
      [status, body["resource"], body["authorization_servers"], body["bearer_methods_supported"]],
      [200, `${platform.url}/mcp`, [platform.url], ["header"]],
    );
  }
});

test("each call of a tool has a row in the audit log, and so has what it writes, with the client's id", async () => {
  const { token } = await mintFor("https://client.example.com/moorage.json");
  const wish = { image: "acme/app", promotions: [{ tag: "audited", from: "1.0" }] };
  const { answer } = await call(token, "promote", wish);
  await call(token, "promote", { ...wish, dry_run: false, preview: answer["preview"] });
  await call(token, "tag_history", { image: "acme/app:audited" });
  const rowsOf = async (): Promise<Json[]> => {
    const { auditEntries } = await platform.ok("GET", `/iam/v2/auditEntries?uidp.descendants_of=${repo.uid}`);
    return (auditEntries as Json[]).filter(
      ({ details }) =>
        (details as unknown as Record<string, string>)["client"] === "https://client.example.com/moorage.json",
    );
  };
  const found = await eventually(
    async () => {
      const rows = await rowsOf();
      return rows.length >= 4 && rows;
    },
    { instead: rowsOf },
  );
  const methods = found.map(({ method, decision, identity }) => [method, decision, identity]);
  for (const method of ["mcp.promote", "mcp.tag_history", "moorage.registry.v2.TagsService.PromoteTags"])
    assert.ok(
      methods.some((row) => JSON.stringify(row) === JSON.stringify([method, "AUDIT_DECISION_ALLOWED", platform.owner])),
      `${method}: ${JSON.stringify(methods)}`,
    );
});

/** A token for MCP that a client of others got, as after a sign-in. */
async function mintFor(client: string): Promise<{ token: string }> {
  return { token: await platform.token(platform.owner, { audience: `${platform.url}/mcp`, client }) };
}
