import assert from "node:assert/strict";
import { assertBody, assertDigest, assertError, assertStatus, locationOf, OCTET_STREAM } from "./answers.ts";
import type { Reply } from "./client.ts";
import type { Run } from "./settings.ts";

/** The suite's smallest chunk, unless the registry's OCI-Chunk-Min-Length is larger. */
const CHUNK_BYTES = 1024;

/** A way to push a blob. Returns the last answer. */
export type Upload = (run: Run, repository: string, digest: string, body: Buffer) => Promise<Reply>;

export const postOnly: Upload = ({ client }, repository, digest, body) =>
  client.send("POST", `/v2/${repository}/blobs/uploads/`, { query: { digest }, headers: OCTET_STREAM, body });

export const postPut: Upload = async (run, repository, digest, body) =>
  run.client.send("PUT", await begin(run, repository), { query: { digest }, headers: OCTET_STREAM, body });

/** One PATCH without a Content-Length, and a PUT without a body. */
export const streamed: Upload = async (run, repository, digest, body) => {
  const location = await begin(run, repository);
  const patched = await run.client.send("PATCH", location, { headers: OCTET_STREAM, body, unannounced: true });
  assertStatus(patched, 202, "PATCH");
  assert.equal(patched.headers.range, `0-${Math.max(0, body.length - 1)}`);
  return finish(run, locationOf(patched), digest);
};

/**
 * Pushes chunks of a third, each with its Content-Range. `putsLast`: the last one is the body of the PUT. `outOfOrder`:
 * each is preceded by a wrong one, which must be answered with 416, after which a GET answers the offset.
 */
export function chunked({ outOfOrder = false, putsLast = false } = {}): Upload {
  return async (run, repository, digest, body) => {
    const begun = await start(run, repository);
    let location = locationOf(begun);
    const least = Number(begun.headers["oci-chunk-min-length"] ?? CHUNK_BYTES);
    const length = Math.min(body.length, Math.max(CHUNK_BYTES, least, Math.floor(body.length / 3) + 1));
    const send = (first: number, last: boolean): Promise<Reply> => {
      const chunk = body.subarray(first, first + length);
      return run.client.send(last && putsLast ? "PUT" : "PATCH", location, {
        headers: { ...OCTET_STREAM, "content-range": `${first}-${first + chunk.length - 1}` },
        ...(last && putsLast && { query: { digest } }),
        body: chunk,
      });
    };
    for (let first = 0; first < body.length; first += length) {
      if (outOfOrder) {
        const wrong = first + length < body.length ? first + length : 0;
        const rejected = await send(wrong, wrong + length >= body.length);
        assertError(rejected, 416, "BLOB_UPLOAD_INVALID");
        location = await statusOf(run, locationOf(rejected), first);
      }
      const isLast = first + length >= body.length;
      const reply = await send(first, isLast);
      if (isLast && putsLast) return reply;
      assertStatus(reply, 202, "PATCH");
      location = await statusOf(run, locationOf(reply), Math.min(first + length, body.length));
    }
    return finish(run, location, digest);
  };
}

/** Mounts the blob of another repository. The caller checks whether it was mounted or an upload was begun. */
export function mount(run: Run, digest: string, from?: string): Promise<Reply> {
  const query = { mount: digest, ...(from !== undefined && { from }) };
  return run.client.send("POST", `/v2/${run.repository}/blobs/uploads/`, { query });
}

/** A POST that begins an upload. Returns its Location. */
export async function begin(run: Run, repository: string): Promise<string> {
  return locationOf(await start(run, repository));
}

/** Asserts that the blob was created, and is found at the answer's Location. */
export async function assertPushed(run: Run, reply: Reply, digest: string, body: Buffer): Promise<void> {
  assertStatus(reply, 201);
  assertDigest(reply, digest, run);
  const there = await run.client.send("GET", locationOf(reply));
  assertStatus(there, 200, "Location");
  assertBody(there, body);
}

async function start({ client }: Run, repository: string): Promise<Reply> {
  const reply = await client.send("POST", `/v2/${repository}/blobs/uploads/`);
  assertStatus(reply, 202, "POST");
  return reply;
}

/** Asserts that the status of an upload has its offset. Returns its Location. */
async function statusOf({ client }: Run, location: string, received: number): Promise<string> {
  const reply = await client.send("GET", location);
  assertStatus(reply, 204, "status");
  assert.equal(reply.headers.range, `0-${Math.max(0, received - 1)}`);
  return locationOf(reply);
}

function finish({ client }: Run, location: string, digest: string): Promise<Reply> {
  return client.send("PUT", location, { query: { digest }, headers: OCTET_STREAM });
}
