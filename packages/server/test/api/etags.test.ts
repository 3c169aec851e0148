import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Answer, type Ask, type Platform, startPlatform } from "../support/platform.ts";

// ETag and If-None-Match of the REST handler. Source: RFC 9110 §8.8.3 and §13.1.2.
let platform: Platform;
let token: string;
before(async () => {
  platform = await startPlatform();
  token = await platform.token();
});
after(() => platform.close());

const get = (path: string, ifNoneMatch?: string, ask: Ask & { method?: string } = {}): Promise<Answer> =>
  platform.call(ask.method ?? "GET", path, {
    token,
    ...ask,
    ...(ifNoneMatch !== undefined && { headers: { "if-none-match": ifNoneMatch } }),
  });
const etagOf = ({ headers }: Answer): string => String(headers["etag"]);

/** One GET of each kind: a resource, a list, an answer that needs no token. */
async function paths(): Promise<string[]> {
  const { uid } = await platform.repo(platform.organization);
  return [
    `/registry/v2/repos/${uid}`,
    `/registry/v2/repos?uidp.ids=${uid}`,
    `/registry/v2/repos/${uid}/readme`,
    "/iam/v2/roles?page_size=200",
    "/ping/v2/ping",
  ];
}

test("every GET has an ETag, the same for a cached answer; sent as If-None-Match it is answered with 304 and no body", async () => {
  for (const path of await paths()) {
    const first = await get(path);
    assert.equal(first.status, 200, first.text);
    assert.match(etagOf(first), /^"[\w-]{3,22}"$/);
    assert.equal(first.headers["cache-control"], "private, no-cache");
    assert.equal(first.headers["vary"], "authorization");
    for (let round = 0; round < 2; round += 1) {
      const again = await get(path, etagOf(first));
      assert.deepEqual(
        [again.status, again.text, again.headers["content-type"], again.headers["content-length"]],
        [304, "", undefined, undefined],
        path,
      );
      assert.deepEqual(
        [again.headers["etag"], again.headers["cache-control"], again.headers["vary"]],
        [etagOf(first), "private, no-cache", "authorization"],
      );
      assert.notEqual(again.headers["x-request-id"], first.headers["x-request-id"]);
    }
    const head = await get(path, undefined, { method: "HEAD" });
    assert.deepEqual(
      [head.status, etagOf(head), head.headers["content-length"], head.text],
      [200, etagOf(first), String(Buffer.byteLength(first.text)), ""],
    );
    assert.equal((await get(path, etagOf(first), { method: "HEAD" })).status, 304);
  }
});

test("If-None-Match is *, one ETag or several; a weak ETag compares as a strong one", async () => {
  const { uid } = await platform.repo(platform.organization);
  const path = `/registry/v2/repos/${uid}`;
  const etag = etagOf(await get(path));
  for (const header of [etag, `W/${etag}`, "*", ` ${etag} `, `"other", ${etag}`, `"other",W/${etag},"more"`])
    assert.equal((await get(path, header)).status, 304, header);
  for (const header of ["", '"other"', etag.slice(1, -1), etag.slice(0, -2), `${etag}x`, "**"])
    assert.equal((await get(path, header)).status, 200, header);
});

test("a change gives another ETag, and another caller's ETag matches only where the answer is the same", async () => {
  const repo = await platform.repo(platform.organization, { description: "one" });
  const path = `/registry/v2/repos/${repo.uid}`;
  const one = etagOf(await get(path));
  await platform.ok("PATCH", path, { description: "two" });
  const two = await get(path, one);
  assert.deepEqual([two.status, two.body.description], [200, "two"]);
  assert.notEqual(etagOf(two), one);
  await platform.ok("DELETE", path);
  const gone = await get(path, etagOf(two));
  assert.deepEqual([gone.status, gone.headers["etag"], gone.headers["cache-control"]], [404, undefined, "no-store"]);
  assert.equal((await get(path, "*")).status, 404);

  const list = "/registry/v2/repos?page_size=200";
  await platform.repo(platform.organization);
  const mine = etagOf(await get(list));
  const stranger = await platform.token(await platform.identity(platform.organization));
  const theirs = await get(list, mine, { token: stranger });
  assert.deepEqual([theirs.status, theirs.body.totalCount], [200, "0"]);
  for (const bad of [undefined, `${token}x`])
    assert.equal((await platform.call("GET", list, { token: bad, headers: { "if-none-match": "*" } })).status, 401);
});

test("writes answer no ETag and ignore If-None-Match", async () => {
  const made = await platform.call("POST", `/registry/v2/repos/${platform.organization}`, {
    token,
    body: { name: "named" },
    headers: { "if-none-match": "*" },
  });
  assert.deepEqual([made.status, made.headers["etag"]], [200, undefined]);
  const patched = await platform.call("PATCH", `/registry/v2/repos/${made.body.uid}`, {
    token,
    body: { description: "x" },
    headers: { "if-none-match": "*" },
  });
  assert.deepEqual([patched.status, patched.body.description], [200, "x"]);
  assert.equal((await get(`/registry/v2/repos/${made.body.uid}`, "*", { method: "DELETE" })).status, 200);
});
