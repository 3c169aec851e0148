import assert from "node:assert/strict";
import { test } from "node:test";
import {
  anyDigest,
  digestOf,
  OCI_IMAGE,
  OCI_INDEX,
  startRegistry,
} from "../../../server/test/support/registry-server.ts";

const REPO = "acme/team/app";
const descriptor = (digest: string, size: number, mediaType = OCI_IMAGE): object => ({ mediaType, digest, size });

test("an image and an index are pushed and pulled by tag and digest, byte for byte", async (t) => {
  const registry = await startRegistry(t);
  const token = registry.ownerToken;
  const image = await registry.image(REPO, "one");
  const pushed = await registry.pushManifest(REPO, image.digest, image.body);
  assert.equal(pushed.status, 201);
  assert.equal(pushed.headers.get("location"), `/v2/${REPO}/manifests/${image.digest}`);
  assert.equal(pushed.headers.get("docker-content-digest"), image.digest);
  const index = JSON.stringify({
    schemaVersion: 2,
    mediaType: OCI_INDEX,
    manifests: [{ ...descriptor(image.digest, image.body.length), platform: { architecture: "arm64", os: "linux" } }],
  });
  assert.equal((await registry.pushManifest(REPO, "v1", index)).status, 201);
  for (const [reference, body, type] of [
    ["v1", index, OCI_INDEX],
    [digestOf(index), index, OCI_INDEX],
    [image.digest, image.body, OCI_IMAGE],
  ] as const) {
    const pulled = await registry.ask(`/v2/${REPO}/manifests/${reference}`, {
      token,
      headers: { accept: "text/html" },
    });
    assert.equal(pulled.status, 200);
    assert.equal(pulled.text, body);
    assert.equal(pulled.headers.get("content-type"), type);
    assert.equal(pulled.headers.get("docker-content-digest"), digestOf(body));
    const head = await registry.ask(`/v2/${REPO}/manifests/${reference}`, { method: "HEAD", token });
    assert.deepEqual([head.status, head.headers.get("content-length"), head.text], [200, String(body.length), ""]);
    const same = await registry.ask(`/v2/${REPO}/manifests/${reference}`, {
      token,
      headers: { "if-none-match": head.headers.get("etag") ?? "" },
    });
    assert.deepEqual([same.status, same.text], [304, ""]);
  }
});

test("a push by digest takes sha512 and several tags", async (t) => {
  const registry = await startRegistry(t);
  const { body } = await registry.image(REPO, "one");
  const digest = digestOf(body, "sha512");
  const pushed = await registry.pushManifest(REPO, `${digest}?tag=a&tag=b`, body);
  assert.deepEqual(
    [pushed.status, pushed.headers.get("docker-content-digest"), pushed.headers.get("oci-tag")],
    [201, digest, "a, b"],
  );
  const pulled = await registry.ask(`/v2/${REPO}/manifests/b`, { token: registry.ownerToken });
  assert.deepEqual([pulled.headers.get("docker-content-digest"), pulled.text], [digest, body]);
});

test("an invalid push is rejected and leaves nothing behind", async (t) => {
  const registry = await startRegistry(t);
  const { body, manifest } = await registry.image(REPO, "one");
  const [gone, other] = [anyDigest(), anyDigest()];
  const cases: [string, string | object, Record<string, string>, number, string][] = [
    [anyDigest(), body, {}, 400, "DIGEST_INVALID"],
    ["sha256:abc", body, {}, 400, "DIGEST_INVALID"],
    ["...", body, {}, 400, "MANIFEST_INVALID"],
    ["t", "{}", {}, 400, "MANIFEST_INVALID"],
    ["t", body, { "content-type": OCI_INDEX }, 400, "MANIFEST_INVALID"],
    ["t", body, { "content-type": "application/json" }, 400, "MANIFEST_INVALID"],
    ["t", { ...manifest, layers: [descriptor(gone, 1)] }, {}, 400, "MANIFEST_BLOB_UNKNOWN"],
    [
      "t",
      { schemaVersion: 2, mediaType: OCI_INDEX, manifests: [descriptor(gone, 1), descriptor(other, 1)] },
      {},
      400,
      "MANIFEST_BLOB_UNKNOWN",
    ],
    ["t", { ...manifest, annotations: { long: "x".repeat(4 << 20) } }, {}, 413, "SIZE_INVALID"],
  ];
  for (const [reference, content, headers, status, code] of cases) {
    const answer = await registry.pushManifest(REPO, reference, content, { headers });
    assert.deepEqual([answer.status, answer.json.errors[0]?.code], [status, code], `${reference} ${answer.text}`);
    assert.ok(answer.json.code > 0);
  }
  const missing = await registry.pushManifest(REPO, "t", {
    schemaVersion: 2,
    mediaType: OCI_INDEX,
    manifests: [descriptor(gone, 1), descriptor(other, 1)],
  });
  assert.deepEqual(missing.json.errors[0]?.detail, [{ digest: gone }, { digest: other }]);
  for (const table of ["manifests", "manifest_references", "tags", "tag_history"] as const) {
    assert.deepEqual(await registry.reader.selectFrom(table).selectAll().execute(), [], table);
  }
});

test("references that only another repository holds are missing", async (t) => {
  const registry = await startRegistry(t);
  const { body } = await registry.image("acme/one", "x");
  const answer = await registry.pushManifest("acme/two", "t", body);
  assert.deepEqual([answer.status, answer.json.errors[0]?.code], [400, "MANIFEST_BLOB_UNKNOWN"]);
});

test("a new tag needs CAP_TAG_CREATE, an existing one that moves CAP_TAG_UPDATE", async (t) => {
  const registry = await startRegistry(t);
  const [one, two] = [await registry.image(REPO, "one"), await registry.image(REPO, "two")];
  const [pusher, tagger, viewer] = [
    await registry.mint(registry.pusher),
    await registry.mint(registry.tagger),
    await registry.mint(registry.viewer),
  ];
  const push = async (token: string, reference: string, body: string): Promise<number> =>
    (await registry.pushManifest(REPO, reference, body, { token })).status;
  assert.equal(await push(viewer, "t", one.body), 403);
  assert.equal(await push(tagger, "t", one.body), 403);
  assert.equal(await push(pusher, "t", one.body), 201);
  assert.equal(await push(pusher, "t", one.body), 201, "the same digest again moves nothing");
  assert.equal(await push(pusher, "t", two.body), 403);
  assert.equal(await push(tagger, "t", two.body), 201);
  assert.equal(await push(pusher, two.digest, two.body), 201);
  const registryToken = await registry.mint(registry.owner, {
    type: "registry",
    access: [{ type: "repository", name: REPO, actions: ["pull"] }],
  });
  assert.equal(await push(registryToken, "t", one.body), 401, "a token that covers less is challenged");
  assert.equal((await registry.ask(`/v2/${REPO}/manifests/t`, { method: "DELETE", token: pusher })).status, 403);
});

test("deleting a tag leaves the manifest; deleting a digest deletes its tags too", async (t) => {
  const registry = await startRegistry(t);
  const token = registry.ownerToken;
  const { body, digest } = await registry.image(REPO, "one");
  for (const tag of ["a", "b", "c"]) await registry.pushManifest(REPO, tag, body);
  const remove = async (reference: string): Promise<number> =>
    (await registry.ask(`/v2/${REPO}/manifests/${reference}`, { method: "DELETE", token })).status;
  const pull = async (reference: string): Promise<[number, string | undefined]> => {
    const { status, json } = await registry.ask(`/v2/${REPO}/manifests/${reference}`, { token });
    return [status, json.errors?.[0]?.code];
  };
  assert.equal(await remove("a"), 202);
  assert.deepEqual(await pull("a"), [404, "MANIFEST_UNKNOWN"]);
  assert.deepEqual(await pull(digest), [200, undefined]);
  assert.equal(await remove(digest), 202);
  for (const reference of ["b", "c", digest, ".invalid"])
    assert.deepEqual(await pull(reference), [404, "MANIFEST_UNKNOWN"], reference);
  for (const reference of ["a", "b", digest]) assert.equal(await remove(reference), 404);
  assert.equal((await registry.historyOf(REPO, "b")).json.history.length, 1);
  const counter = await registry.reader
    .selectFrom("counters")
    .select("n")
    .where("kind", "=", "tags")
    .where("ancestor", "=", registry.acme)
    .executeTakeFirstOrThrow();
  assert.equal(counter.n, 0);
});

test("a tag may point to a digest that the repo does not hold", async (t) => {
  const registry = await startRegistry(t);
  await registry.pushManifest(REPO, "seed", (await registry.image(REPO, "x")).body);
  const digest = anyDigest();
  await registry.createTag(await registry.repoUid("app"), "planned", digest);
  const pulled = await registry.ask(`/v2/${REPO}/manifests/planned`, { token: registry.ownerToken });
  assert.deepEqual([pulled.status, pulled.json.errors[0]?.code], [404, "MANIFEST_UNKNOWN"]);
  assert.deepEqual(
    (await registry.historyOf(REPO, "planned")).json.history.map((entry) => entry.digest),
    [digest],
  );
});

test("tags are listed in byte order, in pages", async (t) => {
  const registry = await startRegistry(t);
  const token = registry.ownerToken;
  const { body } = await registry.image(REPO, "one");
  for (const tag of ["b", "a", "Z", "_", "a.1", "a-1"]) await registry.pushManifest(REPO, tag, body);
  const sorted = ["Z", "_", "a", "a-1", "a.1", "b"];
  const list = (query: string) =>
    registry.ask(query.startsWith("/") ? query : `/v2/${REPO}/tags/list${query}`, { token });
  const whole = await list("");
  assert.deepEqual(whole.json, { name: REPO, tags: sorted });
  assert.equal(whole.headers.get("link"), null);
  const found: string[] = [];
  for (let next: string | undefined = "?n=4"; next !== undefined;) {
    const page = await list(next);
    found.push(...page.json.tags);
    next = /^<(.+)>; rel="next"$/.exec(page.headers.get("link") ?? "")?.[1];
  }
  assert.deepEqual(found, sorted);
  assert.deepEqual((await list("?n=6")).headers.get("link"), null);
  assert.deepEqual((await list("?n=0")).json.tags, []);
  assert.deepEqual((await list("?last=a")).json.tags, ["a-1", "a.1", "b"]);
  for (const query of ["?n=-1", "?n=x", "?n=1.5", "?n="]) assert.equal((await list(query)).status, 400, query);
  assert.equal((await registry.ask("/v2/acme/none/tags/list", { token })).status, 404);
  assert.equal(
    (await registry.ask(`/v2/${REPO}/tags/list`, { token: await registry.mint(registry.stranger) })).status,
    403,
  );
});

test("a plus in the filter of referrers is a plus, as it is and encoded, on each page", async (t) => {
  const registry = await startRegistry(t);
  const subject = await registry.image(REPO, "subject");
  const about = { subject: descriptor(subject.digest, subject.body.length) };
  const artifactType = "application/vnd.example.sbom+json";
  const sboms = [];
  for (const name of ["one", "two"]) sboms.push(await registry.image(REPO, name, { ...about, artifactType }));
  const other = await registry.image(REPO, "other", { ...about, artifactType: "application/vnd.example.sbom json" });
  for (const { digest, body } of [...sboms, other]) await registry.pushManifest(REPO, digest, body);
  const expected = sboms.map(({ digest }) => digest).sort();
  for (const spelling of [artifactType, encodeURIComponent(artifactType), artifactType.replace("+", "%2b")]) {
    const found: string[] = [];
    let path = `/v2/${REPO}/referrers/${subject.digest}?artifactType=${spelling}&n=1`;
    while (path !== "") {
      const page = await registry.ask(path, { token: registry.ownerToken });
      assert.equal(page.headers.get("oci-filters-applied"), "artifactType", spelling);
      found.push(...page.json.manifests.map(({ digest }) => digest));
      path = /^<(.+)>; rel="next"$/.exec(page.headers.get("link") ?? "")?.[1] ?? "";
    }
    assert.deepEqual(found, expected, spelling);
  }
});

test("referrers are listed as an index of the manifests with that subject, filtered and in pages", async (t) => {
  const registry = await startRegistry(t);
  const token = registry.ownerToken;
  const subject = await registry.image(REPO, "subject");
  const about = { subject: descriptor(subject.digest, subject.body.length) };
  const sbom = await registry.image(REPO, "sbom", {
    ...about,
    artifactType: "application/x.sbom",
    annotations: { of: "subject" },
  });
  const plain = await registry.image(REPO, "plain", about);
  // A referrer may be pushed before its subject.
  for (const { digest, body } of [sbom, plain]) {
    const pushed = await registry.pushManifest(REPO, digest, body);
    assert.deepEqual([pushed.status, pushed.headers.get("oci-subject")], [201, subject.digest]);
  }
  const referrers = async (query = "", digest = subject.digest) =>
    registry.ask(query.startsWith("/") ? query : `/v2/${REPO}/referrers/${digest}${query}`, { token });
  const all = await referrers();
  assert.equal(all.headers.get("content-type"), OCI_INDEX);
  assert.equal(all.headers.get("oci-filters-applied"), null);
  const expected = [
    {
      mediaType: OCI_IMAGE,
      digest: sbom.digest,
      size: sbom.body.length,
      artifactType: "application/x.sbom",
      annotations: { of: "subject" },
    },
    {
      mediaType: OCI_IMAGE,
      digest: plain.digest,
      size: plain.body.length,
      artifactType: "application/vnd.oci.image.config.v1+json",
    },
  ].sort((one, other) => (one.digest < other.digest ? -1 : 1));
  assert.deepEqual(all.json, { schemaVersion: 2, mediaType: OCI_INDEX, manifests: expected });
  const filtered = await referrers("?artifactType=application/x.sbom");
  assert.equal(filtered.headers.get("oci-filters-applied"), "artifactType");
  assert.deepEqual(
    filtered.json.manifests.map(({ digest }) => digest),
    [sbom.digest],
  );
  const page = await referrers("?n=1");
  const next = /^<(.+)>; rel="next"$/.exec(page.headers.get("link") ?? "")?.[1] ?? "";
  assert.deepEqual([...page.json.manifests, ...(await referrers(next)).json.manifests], expected);
  assert.deepEqual(
    [(await registry.ask(`/v2/acme/not-yet/referrers/${anyDigest()}`, { token: registry.ownerToken })).status],
    [200],
    "a repository that does not exist has none",
  );
  const none = await referrers("", anyDigest());
  assert.deepEqual([none.status, none.json.manifests], [200, []]);
  assert.equal((await referrers("", "sha256:x")).status, 400);
  await registry.ask(`/v2/${REPO}/manifests/${sbom.digest}`, { method: "DELETE", token });
  assert.deepEqual(
    (await referrers()).json.manifests.map(({ digest }) => digest),
    [plain.digest],
  );
});
