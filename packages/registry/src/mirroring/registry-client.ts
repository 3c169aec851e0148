import type { Clock } from "@moorage/kernel/lib/clock";
import type { StreamClient } from "@moorage/kernel/lib/stream-client";
import type { StoredManifest } from "../oci/index.ts";
import { createAuthorization, type Credentials } from "./authorization.ts";
import type { MirrorPlace } from "./commands.ts";
import { type Guard, openExchange, type RetryPolicy } from "./request.ts";
import { readManifest, type Resolved, resolveTag } from "./source-manifests.ts";
import { listReferrers, listRepositories, listTags, type Referrers } from "./source-lists.ts";
import { type BlobStream, blobSize, openBlob } from "./source-blobs.ts";

/**
 * A client for one repository of a registry, to pull from. Everything throws an UpstreamError, or the signal's reason
 * when the signal is aborted.
 */
export interface Upstream {
  /** How often requests are repeated. */
  retryPolicy: RetryPolicy;
  /** The names of its tags, a page at a time; invalid names are left out. */
  tags(signal: AbortSignal): AsyncGenerator<string[]>;
  /** What a tag points to. Undefined when the registry does not have it. */
  resolve(tag: string, signal: AbortSignal): Promise<Resolved | undefined>;
  /**
   * The manifest, byte for byte; checked against the digest when one was asked for. Undefined when the registry does
   * not have it.
   */
  manifest(reference: string, signal: AbortSignal): Promise<StoredManifest | undefined>;
  /** The digests of the manifests that refer to the digest. */
  referrers(digest: string, signal: AbortSignal): Promise<Referrers>;
  /**
   * A blob's bytes from the offset on, or from its beginning, as the registry chooses; not checked against the digest.
   * One attempt. Undefined when the registry does not have it.
   */
  blob(digest: string, offset: number, signal: AbortSignal): Promise<BlobStream | undefined>;
  /** A blob's size in bytes, or `likely` where the registry does not say it. Undefined when it has no such blob. */
  blobSize(digest: string, likely: number | undefined, signal: AbortSignal): Promise<number | undefined>;
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
  /** For a whole list, and all its pages. Defaults to half an hour. */
  listTimeoutMs?: number;
  guard?: Guard;
}

const LIST_TIMEOUT_MS = 1_800_000;

/** Source: OCI distribution specification v1.1, "Pull" and "Content Discovery". */
export function openUpstream({
  client,
  clock,
  origin,
  name,
  credentials,
  retryPolicy,
  maxManifestBytes,
  listTimeoutMs = LIST_TIMEOUT_MS,
  guard,
}: UpstreamOptions): Upstream {
  const authorization = createAuthorization({ client, clock, scopes: [`repository:${name}:pull`], credentials });
  const exchange = openExchange({ client, clock, origin, retryPolicy, authorization, guard });
  const repository = { exchange, origin, base: `/v2/${name}`, maxManifestBytes, listTimeoutMs, refusesHead: false };
  return {
    retryPolicy,
    tags: (signal) => listTags(repository, signal),
    resolve: (tag, signal) => resolveTag(repository, tag, signal),
    manifest: (reference, signal) => readManifest(repository, reference, signal),
    referrers: (digest, signal) => listReferrers(repository, digest, signal),
    blob: (digest, offset, signal) => openBlob(repository, digest, offset, signal),
    blobSize: (digest, likely, signal) => blobSize(repository, digest, likely, signal),
  };
}

/** A client for the catalog of a registry. */
export interface Catalog {
  /** The names of its repositories, a page at a time; invalid names, too. Throws as Upstream does. */
  repositories(signal: AbortSignal): AsyncGenerator<string[]>;
}

/** Source: the Docker registry API, "Catalog". */
export function openCatalog({
  client,
  clock,
  origin,
  credentials,
  retryPolicy,
  maxManifestBytes,
  listTimeoutMs = LIST_TIMEOUT_MS,
  guard,
}: Omit<UpstreamOptions, "name">): Catalog {
  const authorization = createAuthorization({ client, clock, scopes: ["registry:catalog:*"], credentials });
  const exchange = openExchange({ client, clock, origin, retryPolicy, authorization, guard });
  const registry = { exchange, origin, base: "/v2", maxManifestBytes, listTimeoutMs, refusesHead: false };
  return { repositories: (signal) => listRepositories(registry, signal) };
}
