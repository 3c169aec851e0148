import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { ACCEPT, assertBody, assertDigest, assertError, assertStatus, jsonOf, locationOf } from "./answers.ts";
import { assertDeleted, assertPulled } from "./blobs.ts";
import type { Reply } from "./client.ts";
import type { Content, Manifest } from "./content.ts";
import { assertReferrers } from "./referrers.ts";
import type { Run } from "./settings.ts";
import { assertPushed, chunked, postOnly, postPut, streamed } from "./uploads.ts";

/** Ways to push a manifest, used in turn. */
const UPLOADS = [postPut, postOnly, streamed, chunked()];

/**
 * Pushes the content, then lists, reads and deletes it; asserts that it is unchanged in between and missing at the end.
 */
export async function checkContent(t: TestContext, run: Run, content: Content, byParameter = false): Promise<void> {
  await t.test("push", async () => {
    await pushBlobs(run, content);
    for (const [digest, manifest] of content.manifests) {
      const tags = byParameter ? tagsOf(content, digest) : [];
      const reply = await assertPut(run, digest, digest, manifest, tags);
      if (byParameter) assert.deepEqual(listed(reply.headers["oci-tag"]), tags, "OCI-Tag");
    }
    if (byParameter) return;
    for (const [tag, digest] of content.tags) await assertPut(run, tag, digest, manifestOf(content, digest));
  });
  await t.test("tags", () => assertTags(run, [...content.tags.keys()]));
  await t.test("pull", async () => {
    for (const [digest, manifest] of content.manifests) await assertManifest(run, digest, digest, manifest);
    for (const [tag, digest] of content.tags) await assertManifest(run, tag, digest, manifestOf(content, digest));
    for (const [digest, body] of content.blobs) await assertPulled(run, run.repository, digest, body);
  });
  if (run.expects.referrers && content.referrers.size > 0)
    await t.test("referrers", async () => {
      for (const [subject, expected] of content.referrers) await assertReferrers(run, subject, expected);
    });
  await t.test("delete", () => deleteContent(run, content));
}

export async function pushBlobs(run: Run, { blobs }: Content): Promise<void> {
  let at = 0;
  for (const [digest, body] of blobs) {
    const upload = UPLOADS[at++ % UPLOADS.length] ?? postPut;
    await assertPushed(run, await upload(run, run.repository, digest, body), digest, body);
  }
}

/** PUT of a manifest without a Content-Length, as the suite sends it. */
export function putManifest(
  { client, repository }: Run,
  reference: string,
  { body, mediaType }: Pick<Manifest, "body" | "mediaType">,
  tags: string[] = [],
): Promise<Reply> {
  return client.send("PUT", `/v2/${repository}/manifests/${reference}`, {
    headers: { "content-type": mediaType },
    query: { tag: tags },
    body,
    unannounced: true,
  });
}

/** Asserts that the manifest was accepted, and is found at the answer's Location. */
export async function assertPut(
  run: Run,
  reference: string,
  digest: string,
  manifest: Manifest,
  tags: string[] = [],
): Promise<Reply> {
  const reply = await putManifest(run, reference, manifest, tags);
  assertStatus(reply, 201, reference);
  assertDigest(reply, digest, run);
  if (run.expects.referrers) assert.equal(reply.headers["oci-subject"], manifest.subject, "OCI-Subject");
  const there = await run.client.send("GET", locationOf(reply), { headers: ACCEPT });
  assertStatus(there, 200, "Location");
  assertSame(there, manifest, "GET");
  return reply;
}

/** Tags first, then manifests from the last pushed to the first, then blobs; each is missing immediately. */
export async function deleteContent(run: Run, content: Content): Promise<void> {
  for (const reference of [...content.tags.keys(), ...[...content.manifests.keys()].toReversed()]) {
    const path = `/v2/${run.repository}/manifests/${reference}`;
    assertStatus(await run.client.send("DELETE", path), 202, `DELETE ${reference}`);
    assertStatus(await run.client.send("HEAD", path, { headers: ACCEPT }), 404, `HEAD ${reference}`);
    assertError(await run.client.send("GET", path, { headers: ACCEPT }), 404, "MANIFEST_UNKNOWN");
  }
  for (const digest of content.blobs.keys()) await assertDeleted(run, run.repository, digest);
}

async function assertManifest(run: Run, reference: string, digest: string, manifest: Manifest): Promise<void> {
  for (const method of ["HEAD", "GET"]) {
    const path = `/v2/${run.repository}/manifests/${reference}`;
    const reply = await run.client.send(method, path, { headers: ACCEPT });
    assertStatus(reply, 200, `${method} ${reference}`);
    assertDigest(reply, digest, run);
    assertSame(reply, manifest, method);
  }
}

function assertSame(reply: Reply, { body, mediaType }: Manifest, method: string): void {
  assert.equal(reply.headers["content-type"], mediaType);
  assert.equal(reply.headers["content-length"], `${body.length}`);
  assertBody(reply, method === "HEAD" ? Buffer.alloc(0) : body);
}

/** Asserts that the tags are listed, and that `last` leaves out those up to it. */
async function assertTags({ client, repository }: Run, expected: string[]): Promise<void> {
  const list = async (query: Record<string, string>): Promise<string[] | undefined> => {
    const reply = await client.send("GET", `/v2/${repository}/tags/list`, { query });
    if (reply.status === 404) return undefined;
    assertStatus(reply, 200);
    return jsonOf<{ tags: string[] }>(reply).tags;
  };
  const all = (await list({})) ?? [];
  for (const tag of expected) assert.ok(all.includes(tag), `${tag} is not listed`);
  for (const [at, last] of all.entries()) assert.deepEqual(await list({ last }), all.slice(at + 1), `after ${last}`);
}

function tagsOf(content: Content, digest: string): string[] {
  return [...content.tags].filter(([, of]) => of === digest).map(([tag]) => tag);
}

function listed(header: string | string[] | undefined): string[] {
  return [header ?? []].flat().flatMap((value) => value.split(",").map((tag) => tag.trim()));
}

function manifestOf(content: Content, digest: string): Manifest {
  const manifest = content.manifests.get(digest);
  if (manifest === undefined) throw new Error(`the content has no manifest ${digest}`);
  return manifest;
}
