import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { test } from "node:test";
import {
  anyDigest,
  type Ask,
  OCI_IMAGE,
  OCI_INDEX,
  startRegistry,
} from "../../../server/test/support/registry-server.ts";

// A pull of `<tag>--at--<yyyymmddThhmmssZ>` answers what the tag pointed to at the end of that second.

const REPO = "acme/app";
// The beginning of a second that is later than any time at which the registry issues a token, however long other files
// of this process take, and soon enough that these tokens are valid then.
const START_MS = Math.ceil(Date.now() / 1_000) * 1_000 + 600_000;

/** The reference of the tag as of that time. */
function at(tag: string, ms: number): string {
  return `${tag}--at--${new Date(ms).toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}Z`;
}

/** A registry whose clock stands still at START_MS, with pulls by reference. */
async function openRegistry(t: Parameters<typeof startRegistry>[0]) {
  const registry = await startRegistry(t);
  // The clock stands still, so that each step of a test happens at an exact millisecond.
  let nowMs = START_MS;
  let clockRead = Promise.withResolvers<void>();
  registry.clock.nowMs = () => {
    clockRead.resolve();
    return nowMs;
  };
  /** Resolves when the clock is read the next time, which is when a request begins. */
  const nextRead = (): Promise<void> => (clockRead = Promise.withResolvers<void>()).promise;
  const goTo = (ms: number): void => {
    nowMs = ms;
  };
  const pull = (reference: string, options: Ask = {}) =>
    registry.ask(`/v2/${REPO}/manifests/${reference}`, { token: registry.ownerToken, ...options });
  const digestAt = async (tag: string, ms: number): Promise<string | null> =>
    (await pull(at(tag, ms))).headers.get("docker-content-digest");
  const push = async (tag: string, body: string): Promise<void> => {
    assert.equal((await registry.pushManifest(REPO, tag, body)).status, 201);
  };
  return { registry, goTo, nextRead, pull, digestAt, push };
}

test("a tag as of a time has the digest that it had at the end of that second, even after its deletion", async (t) => {
  const { registry, goTo, pull, digestAt, push } = await openRegistry(t);
  const [one, two, three] = [
    await registry.image(REPO, "one"),
    await registry.image(REPO, "two"),
    await registry.image(REPO, "three"),
  ];
  goTo(START_MS + 500);
  await push("v1", one.body);
  goTo(START_MS + 10_000);
  await push("v1", two.body);
  goTo(START_MS + 10_999);
  await push("v1", three.body);
  goTo(START_MS + 20_000);
  assert.equal(
    (await registry.ask(`/v2/${REPO}/manifests/v1`, { method: "DELETE", token: registry.ownerToken })).status,
    202,
  );
  goTo(START_MS + 30_000);
  await push("v1", one.body);
  goTo(START_MS + 60_000);

  const seconds: [number, string | null][] = [
    [-1, null],
    [0, one.digest],
    [9, one.digest],
    [10, three.digest],
    [19, three.digest],
    [20, null],
    [29, null],
    [30, one.digest],
    [60, one.digest],
  ];
  for (const [second, digest] of seconds)
    assert.equal(await digestAt("v1", START_MS + second * 1_000), digest, `second ${second}`);
  const found = await pull(at("v1", START_MS + 9_000));
  assert.deepEqual([found.status, found.text, found.headers.get("content-type")], [200, one.body, OCI_IMAGE]);
  const head = await pull(at("v1", START_MS + 9_000), { method: "HEAD" });
  assert.deepEqual([head.status, head.text, head.headers.get("content-length")], [200, "", String(one.body.length)]);
  const same = await pull(at("v1", START_MS + 9_000), { headers: { "if-none-match": `"${one.digest}"` } });
  assert.equal(same.status, 304);

  for (const [reference, message] of [
    [at("v1", START_MS - 1_000), /there was no tag v1 then/],
    [at("v1", START_MS + 20_000), /there was no tag v1 then/],
    [at("v2", START_MS), /there was no tag v2 then/],
    [at("v1", START_MS + 61_000), /has not begun yet/],
    ["v1--at--20310231T000000Z", /<yyyymmddThhmmssZ>/],
    ["v1--at--yesterday", /<yyyymmddThhmmssZ>/],
  ] as const) {
    const { status, json } = await pull(reference);
    assert.deepEqual([status, json.errors[0]?.code], [404, "MANIFEST_UNKNOWN"], reference);
    assert.match(json.errors[0]?.message ?? "", message);
  }
});

test("an index is pulled as of a time, and its manifests by digest", async (t) => {
  const { registry, goTo, pull, push } = await openRegistry(t);
  const image = await registry.image(REPO, "one");
  await push(image.digest, image.body);
  const manifests = [{ mediaType: OCI_IMAGE, digest: image.digest, size: image.body.length }];
  const index = JSON.stringify({ schemaVersion: 2, mediaType: OCI_INDEX, manifests });
  await push("v1", index);
  goTo(START_MS + 5_000);
  const { text, headers } = await pull(at("v1", START_MS));
  assert.deepEqual([text, headers.get("content-type")], [index, OCI_INDEX]);
});

test("the error for a manifest that is not stored names its digest", async (t) => {
  const { registry, goTo, pull, push } = await openRegistry(t);
  const image = await registry.image(REPO, "one");
  await push("v1", image.body);
  goTo(START_MS + 5_000);
  const never = anyDigest();
  await registry.createTag(await registry.repoUid("app"), "v1", never);
  goTo(START_MS + 10_000);
  assert.equal(
    (await registry.ask(`/v2/${REPO}/manifests/${image.digest}`, { method: "DELETE", token: registry.ownerToken }))
      .status,
    202,
  );
  for (const [ms, digest] of [
    [START_MS, image.digest],
    [START_MS + 5_000, never],
  ] as const) {
    const { status, json } = await pull(at("v1", ms));
    assert.deepEqual([status, json.errors[0]?.code], [404, "MANIFEST_UNKNOWN"]);
    assert.ok(json.errors[0]?.message.includes(digest));
  }
});

test("a tag as of a time cannot be pushed, deleted or listed", async (t) => {
  const { registry, goTo, pull, push } = await openRegistry(t);
  const image = await registry.image(REPO, "one");
  await push("v1", image.body);
  goTo(START_MS + 5_000);
  for (const name of [at("v1", START_MS), at("v1", START_MS + 99_000), "v1--at--yesterday"]) {
    for (const [reference, query] of [
      [name, ""],
      [image.digest, `?tag=good&tag=${name}`],
    ] as const) {
      const { status, json } = await registry.pushManifest(REPO, reference + query, image.body);
      assert.deepEqual([status, json.errors[0]?.code], [400, "UNSUPPORTED"], name);
      assert.match(json.errors[0]?.message ?? "", /tag: must not hold --at--.*read-only/);
    }
  }
  const deleted = await pull(at("v1", START_MS), { method: "DELETE" });
  assert.deepEqual(
    [deleted.status, deleted.json.errors[0]?.code, deleted.headers.get("allow")],
    [405, "UNSUPPORTED", "GET, HEAD"],
  );
  assert.equal((await pull("v1--at--yesterday", { method: "DELETE" })).status, 404);
  assert.equal((await pull(at("v1", START_MS))).status, 200);
  assert.deepEqual((await registry.ask(`/v2/${REPO}/tags/list`, { token: registry.ownerToken })).json.tags, ["v1"]);
});

test("a pull as of a time needs the same rights as a pull of the tag", async (t) => {
  const { registry, goTo } = await openRegistry(t);
  const image = await registry.image("public/tool", "one");
  for (const tag of ["latest", "nightly"])
    assert.equal((await registry.pushManifest("public/tool", tag, image.body)).status, 201);
  goTo(START_MS + 5_000);
  const { token } = (await registry.ask("/token?scope=repository:public/tool:pull")).json;
  const status = async (tag: string, bearer?: string): Promise<number> =>
    (
      await registry.ask(`/v2/public/tool/manifests/${at(tag, START_MS)}`, {
        ...(bearer !== undefined && { token: bearer }),
      })
    ).status;
  assert.deepEqual(
    [await status("latest", token), await status("nightly", token), await status("latest")],
    [200, 403, 401],
  );
  assert.deepEqual(
    [await status("nightly", registry.ownerToken), await status("nightly", await registry.mint(registry.stranger))],
    [200, 403],
  );
});

test("within the current second each pull sees the last move, and no cached answer from before it", async (t) => {
  const { registry, goTo, digestAt, push } = await openRegistry(t);
  const [one, two] = [await registry.image(REPO, "one"), await registry.image(REPO, "two")];
  goTo(START_MS + 100);
  await push("v1", one.body);
  goTo(START_MS + 200);
  for (let again = 0; again < 3; again += 1) assert.equal(await digestAt("v1", START_MS), one.digest);
  goTo(START_MS + 300);
  await push("v1", two.body);
  for (let again = 0; again < 3; again += 1) assert.equal(await digestAt("v1", START_MS), two.digest);
  // A pull of a second that has not begun is rejected, and the rejection is not cached.
  assert.equal(await digestAt("v1", START_MS + 1_000), null);
  goTo(START_MS + 1_000);
  for (let again = 0; again < 2; again += 1) assert.equal(await digestAt("v1", START_MS + 1_000), two.digest);
  goTo(START_MS + 1_500);
  assert.equal(
    (await registry.ask(`/v2/${REPO}/manifests/v1`, { method: "DELETE", token: registry.ownerToken })).status,
    202,
  );
  assert.deepEqual([await digestAt("v1", START_MS), await digestAt("v1", START_MS + 1_000)], [two.digest, null]);
});

test("a push counts from the arrival of its last byte, however long it took to send", async (t) => {
  const { registry, goTo, nextRead, digestAt } = await openRegistry(t);
  const image = await registry.image(REPO, "one");
  const began = nextRead();
  const headers = {
    authorization: `Bearer ${registry.ownerToken}`,
    "content-type": OCI_IMAGE,
    "content-length": image.body.length,
  };
  const pushing = request(`${registry.baseUrl}/v2/${REPO}/manifests/v1`, {
    method: "PUT",
    headers,
    signal: AbortSignal.timeout(60_000),
  });
  const answered = once(pushing, "response");
  pushing.write(image.body.slice(0, 10));
  await began;
  goTo(START_MS + 30_000);
  pushing.end(image.body.slice(10));
  const [response] = (await answered) as [IncomingMessage];
  response.resume();
  assert.equal(response.statusCode, 201);
  assert.deepEqual(
    [await digestAt("v1", START_MS + 29_000), await digestAt("v1", START_MS + 30_000)],
    [null, image.digest],
  );
});
