import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { assertBody, assertDigest, assertError, assertStatus, locationOf, OCTET_STREAM } from "./answers.ts";
import { type Algorithm, digestOf } from "./content.ts";
import type { Checks, Run } from "./settings.ts";
import { assertPushed, begin, chunked, mount, postOnly, postPut, streamed, type Upload } from "./uploads.ts";

/** Three chunks, the last one shorter. */
const THREE_CHUNKS = 3 * 1024 - 5;

/** Ways to push a blob, with its size in bytes. */
const WAYS: Record<string, [upload: Upload, bytes: number]> = {
  "POST with the content": [postOnly, 512],
  "POST and PUT": [postPut, 512],
  "one chunk": [chunked(), 512],
  chunks: [chunked(), THREE_CHUNKS],
  "chunks, the last by PUT": [chunked({ putsLast: true }), THREE_CHUNKS],
  "chunks out of order": [chunked({ outOfOrder: true }), THREE_CHUNKS],
  "chunks out of order, the last by PUT": [chunked({ outOfOrder: true, putsLast: true }), THREE_CHUNKS],
  "one PATCH of no announced length": [streamed, 512],
};

const WRONG_DIGESTS: Record<string, Upload> = {
  "POST with the content": postOnly,
  "POST and PUT": postPut,
  chunks: chunked(),
  "chunks, the last by PUT": chunked({ putsLast: true }),
  "one PATCH of no announced length": streamed,
};

/** Ranges of a blob of 2048 bytes: its first and last byte, or nothing when it cannot be satisfied. */
const RANGES: Record<string, [first: number, last: number] | undefined> = {
  "500-1499": [500, 1499],
  "500-": [500, 2047],
  "-500": [1548, 2047],
  "2000-5000": [2000, 2047],
  "500-0": undefined,
  "5000-10000": undefined,
};

/** Every way to push, mount, read and delete a blob, by digests of the algorithm. */
export function blobChecks(algorithm: Algorithm): Checks {
  return async (t, run) => {
    const { client, repository } = run;
    const blob = (digest: string, of = repository): string => `/v2/${of}/blobs/${digest}`;

    for (const [name, [upload, bytes]] of Object.entries(WAYS)) {
      await t.test(name, async () => {
        const body = randomBytes(bytes);
        const digest = digestOf(body, algorithm);
        await assertPushed(run, await upload(run, repository, digest, body), digest, body);
        await assertPulled(run, repository, digest, body);
        await assertDeleted(run, repository, digest);
      });
    }

    for (const body of [Buffer.alloc(0), Buffer.from("{}")]) {
      await t.test(`well-known content of ${body.length} bytes`, async () => {
        const digest = digestOf(body, algorithm);
        for (const upload of [postOnly, postPut, streamed]) {
          await assertPushed(run, await upload(run, repository, digest, body), digest, body);
          await assertPulled(run, repository, digest, body);
        }
        await assertDeleted(run, repository, digest);
      });
    }

    await t.test("a blob that was never pushed is missing", async () => {
      const digest = digestOf(randomBytes(32), algorithm);
      assertError(await client.send("GET", blob(digest)), 404, "BLOB_UNKNOWN");
      assertStatus(await client.send("HEAD", blob(digest)), 404);
      assertError(await client.send("DELETE", blob(digest)), 404, "BLOB_UNKNOWN");
      assertError(await client.send("GET", blob("sha256:tooshort")), 400, "DIGEST_INVALID");
    });

    for (const [name, upload] of Object.entries(WRONG_DIGESTS)) {
      await t.test(`a push with a wrong digest is refused: ${name}`, async () => {
        const digest = digestOf(randomBytes(32), algorithm);
        assertError(await upload(run, repository, digest, randomBytes(THREE_CHUNKS)), 400, "DIGEST_INVALID");
        assertStatus(await client.send("HEAD", blob(digest)), 404);
      });
    }

    await t.test("a mount", async () => {
      const body = randomBytes(512);
      const digest = digestOf(body, algorithm);
      await assertPushed(run, await postPut(run, run.source, digest, body), digest, body);
      // A token from before is valid for this repository alone: the client is answered with an upload session instead.
      const mounted = await mount(run, digest, run.source);
      if (run.cachesTokens) await assertUploadInstead(run, mounted, digest, body);
      else await assertPushed(run, mounted, digest, body);
      await assertPulled(run, repository, digest, body);
      await assertDeleted(run, repository, digest);
      // The challenge to a mount names both repositories.
      const fresh = run.newClient();
      try {
        await assertPushed(run, await mount({ ...run, client: fresh }, digest, run.source), digest, body);
      } finally {
        fresh.close();
      }
      await assertPulled(run, repository, digest, body);
      await assertDeleted(run, repository, digest);
      await assertDeleted(run, run.source, digest);
    });

    await t.test("a mount without a source begins an upload", async () => {
      const body = randomBytes(512);
      const digest = digestOf(body, algorithm);
      await assertPushed(run, await postPut(run, run.source, digest, body), digest, body);
      await assertUploadInstead(run, await mount(run, digest), digest, body);
      await assertPulled(run, repository, digest, body);
      await assertDeleted(run, repository, digest);
      await assertDeleted(run, run.source, digest);
    });

    await t.test("a mount of a blob that the source does not have begins an upload", async () => {
      const body = randomBytes(512);
      const digest = digestOf(body, algorithm);
      await assertUploadInstead(run, await mount(run, digest, run.source), digest, body);
      await assertPulled(run, repository, digest, body);
      await assertDeleted(run, repository, digest);
    });

    if (run.expects.uploadCancel)
      await t.test("a canceled upload", async () => {
        const location = await begin(run, repository);
        assertStatus(await client.send("DELETE", location), 204);
        for (const method of ["GET", "PATCH", "PUT", "DELETE"]) {
          const query: Record<string, string> = method === "PUT" ? { digest: digestOf("", algorithm) } : {};
          assertError(await client.send(method, location, { query }), 404, "BLOB_UPLOAD_UNKNOWN", method);
        }
      });

    await t.test("ranges", async () => {
      const body = randomBytes(2048);
      const digest = digestOf(body, algorithm);
      await assertPushed(run, await postOnly(run, repository, digest, body), digest, body);
      for (const [range, bounds] of Object.entries(RANGES)) {
        const reply = await client.send("GET", blob(digest), { headers: { range: `bytes=${range}` } });
        if (bounds === undefined) {
          assertStatus(reply, 416, range);
          continue;
        }
        const [first, last] = bounds;
        assertStatus(reply, 206, range);
        assertBody(reply, body.subarray(first, last + 1));
        assert.equal(reply.headers["content-length"], `${last - first + 1}`);
        assert.equal(reply.headers["content-range"], `bytes ${first}-${last}/${body.length}`);
      }
      await assertDeleted(run, repository, digest);
    });
  };
}

/** Asserts that HEAD and GET answer what was pushed. */
export async function assertPulled(run: Run, repository: string, digest: string, body: Buffer): Promise<void> {
  for (const method of ["HEAD", "GET"]) {
    const reply = await run.client.send(method, `/v2/${repository}/blobs/${digest}`);
    assertStatus(reply, 200, method);
    assert.equal(reply.headers["content-length"], `${body.length}`, method);
    assertDigest(reply, digest, run);
    assertBody(reply, method === "HEAD" ? Buffer.alloc(0) : body);
  }
}

/** Deletes the blob and asserts that it is missing immediately. */
export async function assertDeleted({ client }: Run, repository: string, digest: string): Promise<void> {
  const path = `/v2/${repository}/blobs/${digest}`;
  assertStatus(await client.send("DELETE", path), 202, "DELETE");
  assertStatus(await client.send("HEAD", path), 404, "HEAD of what was deleted");
}

async function assertUploadInstead(
  run: Run,
  reply: Awaited<ReturnType<typeof mount>>,
  digest: string,
  body: Buffer,
): Promise<void> {
  assertStatus(reply, 202);
  const put = await run.client.send("PUT", locationOf(reply), { query: { digest }, headers: OCTET_STREAM, body });
  await assertPushed(run, put, digest, body);
}
