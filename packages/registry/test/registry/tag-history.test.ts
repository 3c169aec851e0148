import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Answer,
  anyDigest,
  OCI_IMAGE,
  OCI_INDEX,
  startRegistry,
} from "../../../server/test/support/registry-server.ts";

// Tests of GET /v2/<name>/_oci/tag-history/<tag>, as opencontainers/distribution-spec pull request 606 proposes it.

const REPO = "acme/app";
// Later than any time at which the registry issues a token, however long other files of this process take.
const START_MS = Math.ceil(Date.now() / 1_000) * 1_000 + 600_000;
const [TIME, EVENT] = ["org.opencontainers.distribution.tag.timestamp", "org.opencontainers.distribution.tag.event"];

/** An entry in short: the second after START_MS, the event and the digest. */
type Entry = [second: number, event: string, digest: string];

function entriesOf({ status, text, json }: Answer): Entry[] {
  assert.equal(status, 200, text);
  return json.manifests.map(({ digest, annotations = {} }) => [
    (Date.parse(annotations[TIME] ?? "") - START_MS) / 1_000,
    annotations[EVENT] ?? "",
    digest,
  ]);
}

function time(second: number): string {
  return new Date(START_MS + second * 1_000).toISOString();
}

/** A registry with a tag that was moved, deleted and created again, and the expected history. */
async function openRegistry(t: Parameters<typeof startRegistry>[0]) {
  const registry = await startRegistry(t);
  let nowMs = START_MS;
  registry.clock.nowMs = () => nowMs;
  const [one, two] = [await registry.image(REPO, "one"), await registry.image(REPO, "second")];
  const step = async (second: number, work: () => Promise<Answer>): Promise<void> => {
    nowMs = START_MS + second * 1_000;
    assert.ok((await work()).status < 300);
  };
  const push = (body: string) => () => registry.pushManifest(REPO, "v1", body);
  const remove = () => registry.ask(`/v2/${REPO}/manifests/v1`, { method: "DELETE", token: registry.ownerToken });
  await step(0, push(one.body));
  await step(1, push(two.body));
  await step(2, push(one.body));
  await step(3, remove);
  await step(4, push(one.body));
  await step(5, push(two.body));
  await step(6, remove);
  const history: Entry[] = [
    [6, "deleted", two.digest],
    [5, "created", two.digest],
    [4, "created", one.digest],
    [3, "deleted", one.digest],
    [2, "created", one.digest],
    [1, "created", two.digest],
    [0, "created", one.digest],
  ];
  const get = (query = "", token = registry.ownerToken): Promise<Answer> =>
    registry.ask(`/v2/${REPO}/_oci/tag-history/v1${query}`, { token });
  return { registry, one, two, history, get };
}

test("each move and deletion is listed, newest first, with its manifest, for a deleted tag as well", async (t) => {
  const { registry, one, two, history, get } = await openRegistry(t);
  const answer = await get();
  assert.deepEqual(entriesOf(answer), history);
  assert.deepEqual([answer.headers.get("content-type"), answer.headers.get("link")], [OCI_INDEX, null]);
  const { manifests, ...rest } = answer.json;
  assert.deepEqual(rest, { schemaVersion: 2, mediaType: OCI_INDEX });
  assert.deepEqual(manifests[0], {
    mediaType: OCI_IMAGE,
    size: two.body.length,
    digest: two.digest,
    annotations: { [TIME]: time(6), [EVENT]: "deleted" },
  });
  assert.deepEqual(manifests.at(-1), {
    mediaType: OCI_IMAGE,
    size: one.body.length,
    digest: one.digest,
    annotations: { [TIME]: time(0), [EVENT]: "created" },
  });
  const head = await registry.ask(`/v2/${REPO}/_oci/tag-history/v1`, { method: "HEAD", token: registry.ownerToken });
  assert.deepEqual([head.status, head.text, head.headers.get("content-length")], [200, "", String(answer.text.length)]);
  // The history API (`_service/history`) lists the moves only, oldest first.
  assert.equal((await registry.historyOf(REPO, "v1")).json.history.length, 5);
});

test("pages of any size cover the whole history, by their Link and by the last timestamp", async (t) => {
  const { registry, one, two, history, get } = await openRegistry(t);
  const wanted = (filter: string): Entry[] =>
    history.filter(([, , digest]) => filter === "" || filter.endsWith(digest));
  for (const filter of ["", `&digest=${one.digest}`, `&digest=${two.digest}`]) {
    for (let n = 1; n <= 8; n += 1) {
      const [byLink, byTime]: [Entry[], Entry[]] = [[], []];
      for (let path: string | undefined = `/v2/${REPO}/_oci/tag-history/v1?n=${n}${filter}`; path !== undefined;) {
        const answer: Answer = await registry.ask(path, { token: registry.ownerToken });
        const page = entriesOf(answer);
        byLink.push(...page);
        const link = answer.headers.get("link");
        assert.ok(page.length === n || link === null, `a page of ${n} is full, but for the last`);
        path = link === null ? undefined : /^<([^>]+)>; rel="next"$/.exec(link)?.[1];
      }
      for (let before = ""; ;) {
        const page = entriesOf(await get(`?n=${n}${filter}${before}`));
        byTime.push(...page);
        if (page.length < n) break;
        before = `&before=${time(page.at(-1)?.[0] ?? 0)}`;
      }
      assert.deepEqual(byLink, wanted(filter), `n=${n}${filter}`);
      assert.deepEqual(byTime, wanted(filter), `n=${n}${filter}`);
    }
  }
});

test("a window excludes both its ends, with a digest too", async (t) => {
  const { one, two, history, get } = await openRegistry(t);
  const seconds = async (query: string): Promise<number[]> => entriesOf(await get(query)).map(([second]) => second);
  for (let since = -1; since <= 6; since += 1) {
    for (let before = since; before <= 7; before += 1) {
      for (const digest of ["", one.digest, two.digest]) {
        const wanted = history
          .filter((entry) => entry[0] > since && entry[0] < before && (digest === "" || entry[2] === digest))
          .map(([second]) => second);
        const query = `?since=${time(since)}&before=${time(before)}${digest === "" ? "" : `&digest=${digest}`}`;
        assert.deepEqual(await seconds(query), wanted, query);
      }
    }
  }
  assert.deepEqual(await seconds(`?since=${time(4).replace("Z", "%2B00:00")}`), [6, 5]);
  assert.deepEqual(await seconds(`?since=${time(4).replace("Z", "+00:00")}`), [6, 5]);
  assert.deepEqual(await seconds(`?before=${time(1).replace(".000Z", ".0000001Z")}`), [1, 0]);
  assert.deepEqual(await seconds(`?since=${time(5).replace(".000Z", ".0000001Z")}`), [6]);
  const first = await get(`?n=1&since=${time(4)}&digest=${two.digest}`);
  const link = first.headers.get("link") ?? "";
  assert.match(link, /since=.*digest=|digest=.*since=/);
});

test("n=0 answers an empty page; a tag or repository that never existed has an empty history", async (t) => {
  const { registry, get } = await openRegistry(t);
  const zero = await get("?n=0");
  assert.deepEqual([entriesOf(zero), zero.headers.get("link")], [[], null]);
  assert.deepEqual(entriesOf(await get(`?digest=${anyDigest()}`)), []);
  for (const path of [
    `${REPO}/_oci/tag-history/never`,
    "acme/never/_oci/tag-history/v1",
    `${REPO}/_oci/tag-history/v1--at--20310102T000000Z`,
  ]) {
    assert.deepEqual(entriesOf(await registry.ask(`/v2/${path}`, { token: registry.ownerToken })), [], path);
  }
});

test("an invalid parameter is named", async (t) => {
  const { get } = await openRegistry(t);
  const bad = [
    ["?n=-1", "n"],
    ["?n=many", "n"],
    ["?before=yesterday", "before"],
    ["?since=2031-01-02", "since"],
    ["?since=2031-02-31T00:00:00Z", "since"],
  ] as const;
  for (const [query, field] of bad) {
    const { status, json } = await get(query);
    const badRequest = json.details.find((detail) => detail["@type"].endsWith("google.rpc.BadRequest"));
    assert.deepEqual([status, badRequest?.fieldViolations?.[0]?.field], [400, field], query);
  }
  const { status, json } = await get("?digest=sha256:abc");
  assert.deepEqual([status, json.errors[0]?.code], [400, "DIGEST_INVALID"]);
});

test("a manifest that is no longer stored stays in the history, with unknown type and size", async (t) => {
  const { registry, one, history, get } = await openRegistry(t);
  assert.equal(
    (await registry.ask(`/v2/${REPO}/manifests/${one.digest}`, { method: "DELETE", token: registry.ownerToken }))
      .status,
    202,
  );
  const answer = await get();
  assert.deepEqual(entriesOf(answer), history);
  const { mediaType, size } = answer.json.manifests.at(-1) ?? {};
  assert.deepEqual([mediaType, size], ["application/octet-stream", 0]);
});

test("reading it needs the same rights as the tag history API", async (t) => {
  const registry = await startRegistry(t);
  const image = await registry.image("public/tool", "one");
  for (const tag of ["latest", "nightly"])
    assert.equal((await registry.pushManifest("public/tool", tag, image.body)).status, 201);
  const { token } = (await registry.ask("/token?scope=repository:public/tool:pull")).json;
  const statuses = async (bearer?: string): Promise<number[]> =>
    Promise.all(
      [
        "public/tool/_oci/tag-history/latest",
        "public/tool/_oci/tag-history/nightly",
        `${REPO}/_oci/tag-history/latest`,
      ].map(async (path) => (await registry.ask(`/v2/${path}`, bearer === undefined ? {} : { token: bearer })).status),
    );
  assert.deepEqual(await statuses(), [401, 401, 401]);
  assert.deepEqual(await statuses(token), [200, 403, 403]);
  assert.deepEqual(await statuses(await registry.mint(registry.stranger)), [200, 403, 403]);
  assert.deepEqual(await statuses(registry.ownerToken), [200, 200, 200]);
  assert.deepEqual(
    await statuses(await registry.mint(registry.owner, { audiences: ["https://elsewhere.test"] })),
    [403, 403, 403],
  );
});

test("the extension is listed, for the registry and for a repository", async (t) => {
  const registry = await startRegistry(t);
  const discover = async (path: string): Promise<{ name: string; url: string; endpoints: string[] }[]> => {
    const { status, text, headers } = await registry.ask(path, { token: registry.ownerToken });
    assert.deepEqual([status, headers.get("content-type")], [200, "application/json"], path);
    return (JSON.parse(text) as { extensions: { name: string; url: string; endpoints: string[] }[] }).extensions;
  };
  const [everywhere, ...rest] = await discover("/v2/_oci/ext/discover");
  assert.deepEqual(rest, []);
  const endpoints = ["/v2/_oci/ext/discover", "/v2/<name>/_oci/ext/discover", "/v2/<name>/_oci/tag-history/<tag>"];
  assert.deepEqual([everywhere?.name, everywhere?.endpoints], ["_oci", endpoints]);
  assert.ok(URL.canParse(everywhere?.url ?? ""));
  const [own] = await discover(`/v2/${REPO}/_oci/ext/discover`);
  assert.deepEqual(own?.endpoints, [`/v2/${REPO}/_oci/ext/discover`, `/v2/${REPO}/_oci/tag-history/<tag>`]);
  for (const path of ["/v2/_oci/ext/discover", `/v2/${REPO}/_oci/ext/discover`])
    assert.equal((await registry.ask(path)).status, 401);
  for (const path of [
    "/v2/_oci/ext/other",
    `/v2/${REPO}/_oci/other/v1`,
    "/v2/_oci/tag-history/v1",
    `/v2/${REPO}/_other/tag-history/v1`,
  ]) {
    assert.ok([400, 404].includes((await registry.ask(path, { token: registry.ownerToken })).status), path);
  }
  assert.equal(
    (await registry.ask(`/v2/${REPO}/_oci/tag-history/v1`, { method: "DELETE", token: registry.ownerToken })).status,
    405,
  );
});
