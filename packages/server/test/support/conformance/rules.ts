import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { ACCEPT, assertBody, assertError, assertStatus, jsonOf, nextOf } from "./answers.ts";
import { addImage, addIndex, addIndexOf, digestOf, emptyContent, OCI } from "./content.ts";
import { assertPut, deleteContent, pushBlobs, putManifest } from "./manifests.ts";
import { assertReferrers, referrersOf } from "./referrers.ts";
import type { Checks } from "./settings.ts";

/** Checks before anything is pushed. */
export const checkNothingYet: Checks = async (t, { client, repository, expects }) => {
  await t.test("ping", async () => {
    const reply = await client.send("GET", "/v2/");
    assertStatus(reply, 200);
    assert.equal(reply.headers["docker-distribution-api-version"], "registry/2.0");
  });
  await t.test("an unknown repository", async () => {
    for (const path of ["tags/list", `blobs/${digestOf(randomBytes(32))}`, "manifests/latest"])
      assertError(await client.send("GET", `/v2/${repository}/${path}`), 404, "NAME_UNKNOWN", path);
    if (!expects.referrers) return;
    const none = await client.send("GET", `/v2/${repository}/referrers/${digestOf(randomBytes(32))}`);
    assertStatus(none, 200);
    assert.deepEqual(jsonOf(none), { schemaVersion: 2, mediaType: OCI.index, manifests: [] });
  });
};

/** Requests for manifests that are invalid or missing. */
export const checkRejections: Checks = async (t, run) => {
  const { client, repository } = run;
  const content = emptyContent();
  const { digest } = addImage(content);
  const manifest = content.manifests.get(digest);
  assert.ok(manifest);
  await pushBlobs(run, content);
  const path = (reference: string): string => `/v2/${repository}/manifests/${reference}`;

  await t.test("a missing manifest", async () => {
    for (const reference of [digestOf(randomBytes(32)), digestOf(randomBytes(32), "sha512"), "not-there"]) {
      assertError(await client.send("GET", path(reference), { headers: ACCEPT }), 404, "MANIFEST_UNKNOWN");
      assertStatus(await client.send("HEAD", path(reference), { headers: ACCEPT }), 404);
      assertError(await client.send("DELETE", path(reference)), 404, "MANIFEST_UNKNOWN");
    }
  });
  await t.test("a push with the digest of other content", async () => {
    const body = Buffer.concat([manifest.body, Buffer.from("  ")]);
    for (const wrong of [digest, digestOf(randomBytes(32), "sha512")])
      assertError(await putManifest(run, wrong, { ...manifest, body }), 400, "DIGEST_INVALID", wrong);
    assertStatus(await client.send("HEAD", path(digest), { headers: ACCEPT }), 404);
  });
  await t.test("an invalid digest", async () => {
    for (const wrong of ["sha256:baddigeststring", "md5:d41d8cd98f00b204e9800998ecf8427e", `${digest}0`]) {
      assertError(await putManifest(run, wrong, manifest), 400, "DIGEST_INVALID", wrong);
      assertError(await client.send("GET", path(wrong), { headers: ACCEPT }), 400, "DIGEST_INVALID", wrong);
    }
    if (run.expects.referrers)
      assertError(await client.send("GET", `/v2/${repository}/referrers/sha256:bad`), 400, "DIGEST_INVALID");
  });
  await t.test("a Content-Type that differs from the manifest's media type", async () => {
    for (const mediaType of [OCI.index, "application/json"])
      assertError(await putManifest(run, "tag", { ...manifest, mediaType }), 400, "MANIFEST_INVALID", mediaType);
  });
  await t.test("a body that is no manifest", async () => {
    for (const text of ["", "{", "[]", "{}", manifest.body.toString().replace('"layers"', '"strata"')])
      assertError(
        await putManifest(run, "tag", { ...manifest, body: Buffer.from(text) }),
        400,
        "MANIFEST_INVALID",
        text,
      );
    assertError(await putManifest(run, "-tag", manifest), 400, "MANIFEST_INVALID");
  });
  await t.test("a manifest over 4 MiB", async () => {
    const large = emptyContent();
    addImage(large, { layers: 0, configContent: Buffer.from("{}"), annotations: { x: "x".repeat(4 << 20) } });
    for (const each of large.manifests.values())
      assertError(await putManifest(run, "large", each), 413, "SIZE_INVALID");
  });
  await deleteContent(run, { ...content, manifests: new Map() });
};

/**
 * The suite has a setting to push indexes whose manifests are missing (OCI_DATA_SPARSE, off by default). This registry
 * accepts them where the repo's policy says so. Elsewhere it rejects them, so that every tagged image can be pulled,
 * and images without their blobs everywhere. The error names all that is missing.
 */
export const checkSparse: Checks = async (t, run) => {
  const content = emptyContent();
  const complete = addImage(content);
  const missing = { mediaType: OCI.image, digest: digestOf(randomBytes(32)), size: 1024 };
  const incomplete = addImage(content, { architecture: "arm64" });
  const absent = [...content.blobs.keys()].at(-1) ?? "";
  content.blobs.delete(absent);
  await pushBlobs(run, content);
  const detailOf = async (reference: string, body: Buffer, mediaType: string): Promise<unknown> => {
    const reply = await putManifest(run, reference, { body, mediaType });
    assertError(reply, 400, "MANIFEST_BLOB_UNKNOWN");
    return jsonOf<{ errors: { detail: unknown }[] }>(reply).errors[0]?.detail;
  };
  const image = content.manifests.get(complete.digest);
  const sparse = content.manifests.get(incomplete.digest);
  assert.ok(image && sparse);

  await t.test("an image without one of its blobs is rejected", async () => {
    assert.deepEqual(await detailOf("sparse", sparse.body, OCI.image), [{ digest: absent }]);
  });
  await t.test("an index without one of its manifests is rejected", async () => {
    await assertPut(run, complete.digest, complete.digest, image);
    const indexes = emptyContent();
    addIndexOf(indexes, [complete, missing]);
    for (const { body } of indexes.manifests.values())
      assert.deepEqual(await detailOf("sparse", body, OCI.index), [{ digest: missing.digest }]);
    assertStatus(await run.client.send("HEAD", `/v2/${run.repository}/manifests/sparse`, { headers: ACCEPT }), 404);
  });
  await t.test("an index without one of its manifests is accepted where the repo's policy allows it", async () => {
    const there = { ...run, repository: run.sparse };
    await pushBlobs(there, content);
    await assertPut(there, complete.digest, complete.digest, image);
    const indexes = emptyContent();
    const later = addImage(indexes, { architecture: "riscv64" });
    addIndexOf(indexes, [complete, later]);
    await pushBlobs(there, indexes);
    const [lateImage, index] = [...indexes.manifests].map(([digest, manifest]) => ({ digest, manifest }));
    assert.ok(lateImage && index && lateImage.digest === later.digest);
    const head = (digest: string) =>
      run.client.send("HEAD", `/v2/${run.sparse}/manifests/${digest}`, { headers: ACCEPT });
    await assertPut(there, "sparse", index.digest, index.manifest);
    await assertPut(there, index.digest, index.digest, index.manifest);
    assertStatus(await head("sparse"), 200);
    assertStatus(await head(later.digest), 404);
    assertError(
      await putManifest(there, "broken", { body: sparse.body, mediaType: OCI.image }),
      400,
      "MANIFEST_BLOB_UNKNOWN",
    );
    await assertPut(there, later.digest, later.digest, lateImage.manifest);
    assertStatus(await head(later.digest), 200);
  });
  content.manifests.delete(incomplete.digest);
  await deleteContent(run, content);
};

/** Lists tags by pages of any size, and after any tag. */
export const checkTagPages: Checks = async (t, run) => {
  const content = emptyContent();
  const { digest } = addImage(content);
  const manifest = content.manifests.get(digest);
  assert.ok(manifest);
  await pushBlobs(run, content);
  const tags = ["page-5", "page-1", "Page", "page-3", "page.2", "page_4"];
  for (const tag of tags) {
    await assertPut(run, tag, digest, manifest);
    content.tags.set(tag, digest);
  }
  const path = `/v2/${run.repository}/tags/list`;
  const page = async (target: string, query: Record<string, string> = {}) => {
    const reply = await run.client.send("GET", target, { query });
    assertStatus(reply, 200);
    return { ...jsonOf<{ name: string; tags: string[] }>(reply), next: nextOf(reply) };
  };
  const sorted = tags.toSorted();

  await t.test("all on one page", async () => {
    assert.deepEqual(await page(path), { name: run.repository, tags: sorted, next: undefined });
    assert.deepEqual((await page(path, { n: "0" })).tags, []);
  });
  for (const size of [1, 2, 4, 6, 100])
    await t.test(`by pages of ${size}`, async () => {
      const found: string[] = [];
      for (let at = await page(path, { n: `${size}` }); ; at = await page(at.next)) {
        assert.ok(at.tags.length <= size);
        found.push(...at.tags);
        assert.ok(found.length <= sorted.length, `${found.length} tags`);
        if (at.next === undefined) break;
      }
      assert.deepEqual(found, sorted);
    });
  await t.test("those after a given tag", async () => {
    for (const [at, last] of sorted.entries()) {
      assert.deepEqual((await page(path, { last })).tags, sorted.slice(at + 1), last);
      assert.deepEqual((await page(path, { last, n: "2" })).tags, sorted.slice(at + 1, at + 3), last);
    }
  });
  await deleteContent(run, content);
};

/** A client gets the manifest that was pushed, whatever it accepts: manifests are never converted. */
export const checkNegotiation: Checks = async (t, run) => {
  const content = emptyContent();
  const digest = addIndex(content, ["amd64"], { tag: "negotiated" }).digest;
  await pushBlobs(run, content);
  for (const [each, manifest] of content.manifests) await assertPut(run, each, each, manifest);
  const index = content.manifests.get(digest);
  assert.ok(index);
  await assertPut(run, "negotiated", digest, index);
  const accepts = [
    OCI.index,
    [OCI.image, OCI.index],
    `${OCI.image}, ${OCI.index};q=0.1`,
    "*/*",
    OCI.image,
    "text/html",
  ];
  for (const accept of [undefined, ...accepts])
    await t.test(`accepting ${accept ?? "nothing"}`, async () => {
      const reply = await run.client.send("GET", `/v2/${run.repository}/manifests/negotiated`, {
        headers: accept === undefined ? {} : { accept },
      });
      assertStatus(reply, 200);
      assert.equal(reply.headers["content-type"], OCI.index);
      assertBody(reply, index.body);
    });
  await deleteContent(run, content);
};

/** A referrer is listed from its push to its deletion, whether or not its subject exists. */
export const checkReferrerOrder: Checks = async (t, run) => {
  const content = emptyContent();
  const subject = addImage(content);
  const referrer = addImage(content, { subject, configType: OCI.empty, configContent: Buffer.from("{}") });
  const [first, second] = [...content.manifests];
  assert.ok(first && second);
  await pushBlobs(run, content);
  const listed = content.referrers.get(subject.digest) ?? [];
  const remove = async (digest: string): Promise<void> =>
    assertStatus(await run.client.send("DELETE", `/v2/${run.repository}/manifests/${digest}`), 202);

  for (const [name, order] of [
    ["its subject first", [first, second]],
    ["the referrer first", [second, first]],
  ] as const)
    await t.test(name, async () => {
      assert.deepEqual(await referrersOf(run, subject.digest), []);
      for (const [digest, manifest] of order) {
        await assertPut(run, digest, digest, manifest);
        if (digest === referrer.digest) await assertReferrers(run, subject.digest, listed);
      }
      await assertReferrers(run, subject.digest, listed);
      await remove(subject.digest);
      await assertReferrers(run, subject.digest, listed);
      await remove(referrer.digest);
      assert.deepEqual(await referrersOf(run, subject.digest), []);
    });
  await deleteContent(run, { ...content, manifests: new Map() });
};
