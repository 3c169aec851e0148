import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { fromJsonString, toJson } from "@bufbuild/protobuf";
import { RegistryPullSchema } from "@moorage/api";
import { eventually } from "../../../server/test/support/eventually.ts";
import { anyDigest, type RegistryServer, startRegistry } from "../../../server/test/support/registry-server.ts";
import { systemCall } from "../../../kernel/src/core/system-call.ts";
import { notePulls } from "../../src/events/index.ts";

// Every pull that is answered becomes one event soon after, and nothing else becomes a pull event.

const REPO = "acme/team/app";
const DATA = systemCall(0);

/** The pull events in order, once there are `count`. */
async function pullEvents({ deps, reader }: RegistryServer, count: number) {
  const read = async () => {
    while ((await deps.transactor.write(notePulls, DATA, {})).count > 0);
    return await reader
      .selectFrom("event_outbox")
      .selectAll()
      .where("type", "=", "registry.pull.v1")
      .orderBy("n")
      .execute();
  };
  const rows = await eventually(
    async () => {
      const found = await read();
      return found.length >= count && found;
    },
    { instead: read },
  );
  assert.equal(rows.length, count, JSON.stringify(rows));
  return rows.map(({ actor, body, ...row }) => ({
    ...row,
    actor: JSON.parse(actor) as object,
    body: JSON.parse(body) as Record<string, string>,
    message: fromJsonString(RegistryPullSchema, body),
  }));
}

async function pushed(registry: RegistryServer, name = REPO) {
  const image = await registry.image(name, "one");
  assert.equal((await registry.pushManifest(name, "v1", image.body)).status, 201);
  return { ...image, repo: await registry.repoUid(name.slice(name.lastIndexOf("/") + 1)) };
}

test("a pull of a manifest is an event, by tag and by digest, with GET and HEAD, cached or not, and not modified", async (t) => {
  const registry = await startRegistry(t);
  const { digest, repo } = await pushed(registry);
  const act = { iss: "https://issuer.example.com", sub: "someone" };
  const token = await registry.mint(registry.viewer, { act });
  const before = registry.clock.nowMs();
  const asked: { tag: string; method: string; status: number }[] = [];
  const ask = async (
    reference: string,
    method: string,
    status: number,
    headers: Record<string, string> = {},
  ): Promise<void> => {
    const sent = { "user-agent": 'client/1.2 ("quoted")', ...headers };
    const answer = await registry.ask(`/v2/${REPO}/manifests/${reference}`, { token, method, headers: sent });
    assert.equal(answer.status, status);
    asked.push({ tag: reference === digest ? "" : reference, method, status });
    // Event times are in milliseconds: this keeps them in the order of the calls.
    await wait(2);
  };
  for (const reference of ["v1", digest]) {
    for (const method of ["GET", "GET", "HEAD", "HEAD"]) await ask(reference, method, 200);
    await ask(reference, "GET", 304, { "if-none-match": `"${digest}"` });
  }
  const events = await pullEvents(registry, asked.length);
  const body = {
    repository: REPO,
    repo_id: repo,
    digest,
    type: "manifest",
    remote_address: "127.0.0.1",
    user_agent: 'client/1.2 ("quoted")',
  };
  const after = registry.clock.nowMs();
  for (const [
    at,
    {
      body: { when, ...rest },
      message,
      id: _,
      n: _n,
      time,
      ...event
    },
  ] of events.entries()) {
    const place = { subject: repo, parent: repo.slice(0, -17), target: "" };
    assert.deepEqual(event, { type: "registry.pull.v1", ...place, actor: { subject: registry.viewer, act } });
    assert.deepEqual(rest, { ...body, tag: asked[at]?.tag, method: asked[at]?.method });
    assert.equal(when, new Date(time).toISOString().replace("Z", "000"));
    assert.ok(time >= before && time <= after, "it happened when it was pulled");
    const written = toJson(RegistryPullSchema, message, { alwaysEmitImplicit: true }) as object;
    assert.deepEqual(Object.keys(written), Object.keys(events[at]?.body ?? {}), "as any message is written");
  }
  assert.equal(new Set(events.map(({ id }) => id)).size, events.length);
});

test("a pull of a blob is an event: the whole, a range, HEAD, and not modified", async (t) => {
  const registry = await startRegistry(t);
  const { layer, repo } = await pushed(registry);
  const large = "x".repeat(3 << 20);
  const [empty, big] = [await registry.pushBlob(REPO, ""), await registry.pushBlob(REPO, large)];
  const wanted: string[] = [];
  const ask = async (
    digest: string,
    method: string,
    status: number,
    headers: Record<string, string> = {},
  ): Promise<void> => {
    assert.equal(
      (await registry.ask(`/v2/${REPO}/blobs/${digest}`, { token: registry.ownerToken, method, headers })).status,
      status,
    );
    wanted.push(`${method} ${digest}`);
    await wait(2);
  };
  for (const digest of [layer, big]) {
    for (const method of ["GET", "GET", "HEAD"]) await ask(digest, method, 200);
    for (const range of ["bytes=0-1", "bytes=2-"]) await ask(digest, "GET", 206, { range });
    await ask(digest, "GET", 304, { "if-none-match": `"${digest}"` });
  }
  await ask(empty, "GET", 200);
  const events = await pullEvents(registry, wanted.length);
  assert.deepEqual(
    events.map(({ body: { method, digest } }) => `${method} ${digest}`),
    wanted,
  );
  for (const { subject, actor, body } of events) {
    assert.deepEqual([subject, body["repo_id"], body["repository"]], [repo, repo, REPO]);
    assert.deepEqual([body["type"], body["tag"], actor], ["blob", "", { subject: registry.owner, act: {} }]);
  }
});

test("the event of an anonymous pull has no identity", async (t) => {
  const registry = await startRegistry(t);
  const image = await registry.image("public/tool", "one");
  assert.equal((await registry.pushManifest("public/tool", "latest", image.body)).status, 201);
  const { token } = (await registry.ask("/token?scope=repository:public/tool:pull")).json;
  for (const target of ["manifests/latest", "manifests/latest", `blobs/${image.layer}`]) {
    assert.equal((await registry.ask(`/v2/public/tool/${target}`, { token })).status, 200);
  }
  for (const { actor, body, parent } of await pullEvents(registry, 3)) {
    assert.deepEqual([actor, body["repository"], parent], [{ subject: "", act: {} }, "public/tool", registry.open]);
  }
});

test("the event of a pull as of a time has the requested tag name and the digest at that time", async (t) => {
  const registry = await startRegistry(t);
  const { digest } = await pushed(registry);
  const second = new Date(registry.clock.nowMs()).toISOString().slice(0, 19).replaceAll(/[-:]/g, "");
  registry.clock.offsetMs += 60_000;
  const next = await registry.image(REPO, "two");
  assert.equal((await registry.pushManifest(REPO, "v1", next.body)).status, 201);
  assert.equal(
    (await registry.ask(`/v2/${REPO}/manifests/v1--at--${second}Z`, { token: registry.ownerToken })).status,
    200,
  );
  const [event] = await pullEvents(registry, 1);
  assert.deepEqual([event?.body["tag"], event?.body["digest"]], [`v1--at--${second}Z`, digest]);
});

test("denied and failed pulls, other requests and pushes are no pull events", async (t) => {
  const registry = await startRegistry(t);
  const { digest, layer } = await pushed(registry);
  const token = registry.ownerToken;
  const stranger = await registry.mint(registry.stranger);
  const targets = [`manifests/v1`, `manifests/${digest}`, `blobs/${layer}`];
  for (const target of targets) {
    assert.equal((await registry.ask(`/v2/${REPO}/${target}`, { token: stranger })).status, 403);
    assert.equal((await registry.ask(`/v2/${REPO}/${target}`)).status, 401);
    assert.equal((await registry.ask(`/v2/acme/team/other/${target}`, { token })).status, 404);
  }
  const status = async (target: string, headers = {}): Promise<number> =>
    (await registry.ask(`/v2/${REPO}/${target}`, { token, headers })).status;
  for (const target of ["manifests/v2", `manifests/${anyDigest()}`, `blobs/${anyDigest()}`])
    assert.equal(await status(target), 404);
  assert.equal(await status(`blobs/${layer}`, { range: "bytes=900-" }), 416);
  for (const target of ["tags/list", `referrers/${digest}`, "_service/history/v1"])
    assert.equal(await status(target), 200);
  assert.equal((await registry.ask(`/v2/${REPO}/manifests/v1`, { token, method: "DELETE" })).status, 202);
  assert.equal((await registry.ask(`/v2/${REPO}/manifests/${digest}`, { token })).status, 200);
  assert.equal((await pullEvents(registry, 1))[0]?.body["digest"], digest);
});

test("a user agent that is too long is truncated, and one with JSON syntax is escaped", async (t) => {
  const registry = await startRegistry(t);
  await pushed(registry);
  const agents = [`${"y".repeat(2_000)}`, `","when":"1970-01-01T00:00:00Z","x":"\\`, "größer"];
  for (const agent of agents) {
    const answer = await registry.ask(`/v2/${REPO}/manifests/v1`, {
      token: registry.ownerToken,
      headers: { "user-agent": agent },
    });
    assert.equal(answer.status, 200);
    await wait(2);
  }
  const events = await pullEvents(registry, 3);
  assert.deepEqual(
    events.map(({ body }) => body["user_agent"]),
    agents.map((agent) => agent.slice(0, 256)),
  );
});

test("each of hundreds of concurrent pulls by several identities is one event", async (t) => {
  const registry = await startRegistry(t);
  await pushed(registry);
  const tokens = await Promise.all(
    [registry.viewer, registry.owner, registry.pusher].map((identity) => registry.mint(identity)),
  );
  for (let round = 0; round < 100; round += 1) {
    await Promise.all(
      tokens.flatMap((token) =>
        ["GET", "HEAD"].map((method) => registry.ask(`/v2/${REPO}/manifests/v1`, { token, method })),
      ),
    );
  }
  const events = await pullEvents(registry, 600);
  for (const identity of [registry.viewer, registry.owner, registry.pusher]) {
    for (const method of ["GET", "HEAD"]) {
      assert.equal(
        events.filter(
          ({ actor, body }) => "subject" in actor && actor.subject === identity && body["method"] === method,
        ).length,
        100,
      );
    }
  }
  assert.equal(new Set(events.map(({ id }) => id)).size, 600);
  assert.ok(new Set(events.map(({ body }) => body["when"])).size > 1, "each with its own time");
});
