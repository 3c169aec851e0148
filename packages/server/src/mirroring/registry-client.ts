import type { Clock } from "../lib/clock.ts";
import type { StoredManifest } from "../oci/index.ts";
import { createAuthorization, type Credentials } from "./authorization.ts";
import type { MirrorPlace } from "./commands.ts";
import { UpstreamError } from "./errors.ts";
import type { StreamClient } from "../lib/stream-client.ts";
import { openExchange, type RetryPolicy } from "./request.ts";
import { digestOf, readManifest } from "./source-manifests.ts";
import { listReferrers, listTags } from "./source-lists.ts";
import { requireMissing, type SourceRepository } from "./source-repository.ts";

/** The bytes of a blob as they arrive. */
export interface BlobStream {
  /** The offset in the blob of the first byte. */
  offset: number;
  /** The blob's size in bytes. */
  size: number;
  body: AsyncIterable<Buffer>;
  discard(): void;
}

/**
 * A client for one repository of a registry, to pull from. Everything throws an UpstreamError, or the signal's reason
 * when the signal is aborted.
 */
export interface Upstream {
  /** How often requests are repeated. */
  retryPolicy: RetryPolicy;
  /** The names of its tags, a page at a time; invalid names are left out. */
  tags(signal: AbortSignal): AsyncGenerator<string[]>;
  /** The digest that a tag or digest points to. Undefined when the registry does not have it. */
  digestOf(reference: string, signal: AbortSignal): Promise<string | undefined>;
  /**
   * The manifest, byte for byte; checked against the digest when one was asked for. Undefined when the registry does
   * not have it.
   */
  manifest(reference: string, signal: AbortSignal): Promise<StoredManifest | undefined>;
  /** The digests of the manifests that refer to the digest. */
  referrers(digest: string, signal: AbortSignal): Promise<string[]>;
  /**
   * A blob's bytes from the offset on, or from its beginning, as the registry chooses; not checked against the digest.
   * One attempt. Undefined when the registry does not have it.
   */
  blob(digest: string, offset: number, signal: AbortSignal): Promise<BlobStream | undefined>;
  /** A blob's size in bytes. Undefined when the registry does not have it. */
  blobSize(digest: string, signal: AbortSignal): Promise<number | undefined>;
  /**
   * Instead of `blob`, where the source is of this installation: links the blob to the repo. False when the source does
   * not have it.
   */
  link?(place: MirrorPlace, digest: string): Promise<boolean>;
}

export interface UpstreamOptions {
  client: StreamClient;
  clock: Clock;
  /** Scheme, host and port. */
  origin: string;
  /** The repository's name. */
  name: string;
  credentials: Credentials;
  retryPolicy: RetryPolicy;
  maxManifestBytes: number;
}

/** Source: OCI distribution specification v1.1, "Pull" and "Content Discovery". */
export function openUpstream({
  client,
  clock,
  origin,
  name,
  credentials,
  retryPolicy,
  maxManifestBytes,
}: UpstreamOptions): Upstream {
  const authorization = createAuthorization({ client, clock, name, credentials });
  const exchange = openExchange({ client, clock, origin, retryPolicy, authorization });
  const repository = { exchange, origin, base: `/v2/${name}`, maxManifestBytes };
  return {
    retryPolicy,
    tags: (signal) => listTags(repository, signal),
    digestOf: (reference, signal) => digestOf(repository, reference, signal),
    manifest: (reference, signal) => readManifest(repository, reference, signal),
    referrers: (digest, signal) => listReferrers(repository, digest, signal),
    blob: (digest, offset, signal) => openBlob(repository, digest, offset, signal),
    blobSize: (digest, signal) => blobSize(repository, digest, signal),
  };
}

async function openBlob(
  { exchange, base }: SourceRepository,
  digest: string,
  offset: number,
  signal: AbortSignal,
): Promise<BlobStream | undefined> {
  const headers: Record<string, string> = offset > 0 ? { range: `bytes=${offset}-` } : {};
  const answer = await exchange.open({ target: `${base}/blobs/${digest}`, headers, signal });
  const { status, body, discard } = answer;
  const length = lengthOf(answer.headers["content-length"]);
  const start = status === 206 ? startOf(answer.headers["content-range"]) : 0;
  if ((status === 200 || status === 206) && length !== undefined && start !== undefined)
    return { offset: start, size: start + length, body, discard };
  discard();
  if (status === 200 || status === 206) throw new UpstreamError("wrong", "the source does not say how long a blob is");
  return requireMissing(status);
}

async function blobSize(
  { exchange, base }: SourceRepository,
  digest: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { status, headers } = await exchange.read({ method: "HEAD", target: `${base}/blobs/${digest}`, signal }, 0);
  return status === 200 ? lengthOf(headers["content-length"]) : requireMissing(status);
}

function lengthOf(header: string | string[] | undefined): number | undefined {
  return typeof header === "string" && /^\d{1,15}$/.test(header) ? Number(header) : undefined;
}

/** The offset of the first byte by a Content-Range header. Undefined when it has none. */
function startOf(header: string | string[] | undefined): number | undefined {
  const [, start] = /^bytes (\d{1,15})-\d{1,15}\//.exec(typeof header === "string" ? header : "") ?? [];
  return start === undefined ? undefined : Number(start);
}
