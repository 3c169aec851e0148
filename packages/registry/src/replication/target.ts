import { createHash } from "node:crypto";
import type { Authorization } from "../mirroring/index.ts";
import { UpstreamError } from "../mirroring/index.ts";
import { isDigest } from "../oci/index.ts";
import { isoTime } from "@moorage/kernel/lib/timestamps";
import { BlockedError, OutdatedError, rejection, saidBy } from "./errors.ts";
import type { Exchange } from "./exchange.ts";

/** A manifest as it is stored here. */
export interface LocalManifest {
  digest: string;
  mediaType: string;
  content: Uint8Array;
}

const ACCEPT = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
  "application/vnd.docker.distribution.manifest.v2+json",
  "*/*;q=0.5",
].join(", ");
const MAX_MANIFEST_BYTES = 16 * 1024 * 1024;
// How registries refuse to move or delete a tag.
const FIXED: ReadonlySet<number> = new Set([400, 403, 405, 409, 412]);

/** What a tag or digest points to at the destination; undefined when it has no such manifest. */
export async function manifestAt(
  exchange: Exchange,
  name: string,
  reference: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const target = `/v2/${name}/manifests/${reference}`;
  const headers = { accept: ACCEPT };
  const head = await exchange.send({ method: "HEAD", target, headers, signal });
  if (head.status === 404) return undefined;
  const digest = head.headers["docker-content-digest"];
  if (head.status === 200 && typeof digest === "string" && isDigest(digest)) return digest;
  if (head.status !== 200 && head.status !== 405)
    throw rejection(head.status, head.headers, "for a manifest", exchange.nowMs());
  // It answers no HEAD, or does not say the digest.
  const {
    status,
    headers: answered,
    body,
  } = await exchange.send({ method: "GET", target, headers, signal }, MAX_MANIFEST_BYTES);
  if (status === 404) return undefined;
  if (status !== 200) throw rejection(status, answered, "for a manifest", exchange.nowMs());
  return `sha256:${createHash("sha256").update(body).digest("hex")}`;
}

/** Whether the destination has the blob. One that it redirects to elsewhere is one that it has. */
export async function hasBlob(exchange: Exchange, name: string, digest: string, signal: AbortSignal): Promise<boolean> {
  const answer = await exchange.send({ method: "HEAD", target: `/v2/${name}/blobs/${digest}`, signal });
  if (answer.status === 200 || answer.status === 307 || answer.status === 302) return true;
  if (answer.status === 404) return false;
  throw rejection(answer.status, answer.headers, "for a blob", exchange.nowMs());
}

/**
 * Has the destination take the blob from another of its repos. Answers whether it did; it may not know such a repo.
 */
export async function mountBlob(
  exchange: Exchange,
  { name, from, digest, authorization }: { name: string; from: string; digest: string; authorization: Authorization },
  signal: AbortSignal,
): Promise<boolean> {
  const query = `mount=${encodeURIComponent(digest)}&from=${encodeURIComponent(from)}`;
  const target = `/v2/${name}/blobs/uploads/?${query}`;
  const answer = await exchange.send({ method: "POST", target, length: 0, authorization, signal });
  return answer.status === 201;
}

/** What is put where. */
interface Put {
  name: string;
  /** A tag or the digest. */
  reference: string;
  manifest: LocalManifest;
  /** Whether the reference points to something else there. */
  moves: boolean;
  /** When the tag moved here, in milliseconds since 1970, for a destination that is a Moorage. */
  movedMs?: number | undefined;
}

/**
 * Puts a manifest under a tag or its digest. Answers whether the destination lists it for its subject. Throws a
 * BlockedError for a tag that is fixed there, and an OutdatedError for one that moved later there.
 */
export async function putManifest(
  exchange: Exchange,
  { name, reference, manifest, moves, movedMs }: Put,
  signal: AbortSignal,
): Promise<{ isListed: boolean }> {
  const { content, mediaType, digest } = manifest;
  const { status, headers, body } = await exchange.send({
    method: "PUT",
    target: `/v2/${name}/manifests/${reference}`,
    headers: { "content-type": mediaType, ...moveHeader(movedMs) },
    length: content.length,
    async *body() {
      yield content;
    },
    signal,
  });
  requireInTime(status, body, movedMs);
  if (moves && FIXED.has(status))
    throw new BlockedError(`the destination does not let the tag move to ${digest} (${status})${saidBy(body)}`);
  if (status !== 201 && status !== 200)
    throw rejection(status, headers, `to take the manifest ${digest}`, exchange.nowMs());
  const said = headers["docker-content-digest"];
  if (typeof said === "string" && said !== digest && digest.startsWith("sha256:"))
    throw new UpstreamError("wrong", "the destination says that it stored another manifest than the one it was sent");
  return { isListed: headers["oci-subject"] !== undefined };
}

function moveHeader(movedMs: number | undefined): Record<string, string> {
  return movedMs === undefined ? {} : { "moorage-move-time": isoTime(movedMs) };
}

/** Throws for what only a destination answers that was sent the time of a move. */
function requireInTime(status: number, body: Buffer, movedMs: number | undefined): void {
  if (movedMs === undefined) return;
  if (status === 412) throw new OutdatedError(`the destination keeps what it has${saidBy(body)}`);
  // A tag that is fixed is 400 there.
  if (status === 403)
    throw new UpstreamError("refused", `the destination does not let us move a tag (403)${saidBy(body)}`, { status });
}

/**
 * Deletes a tag. `movedMs`: when it was deleted here, as for a Put. Throws a BlockedError when the destination deletes
 * none, and an OutdatedError as putManifest does.
 */
export async function deleteTagAt(
  exchange: Exchange,
  { name, tag, movedMs }: { name: string; tag: string; movedMs: number | undefined },
  signal: AbortSignal,
): Promise<void> {
  const target = `/v2/${name}/manifests/${tag}`;
  const { status, headers, body } = await exchange.send({
    method: "DELETE",
    target,
    headers: moveHeader(movedMs),
    signal,
  });
  requireInTime(status, body, movedMs);
  if ([200, 202, 204, 404].includes(status)) return;
  if (FIXED.has(status)) throw new BlockedError(`the destination does not delete the tag (${status})`);
  throw rejection(status, headers, "to delete a tag", exchange.nowMs());
}
