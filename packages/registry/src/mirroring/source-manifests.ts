import { createHash } from "node:crypto";
import { algorithmOf, isDigest, parseManifest, type StoredManifest } from "../oci/index.ts";
import { UpstreamError } from "./errors.ts";
import type { SmallAnswer } from "./request.ts";
import { mayHaveGet, requireMissing, type SourceRepository } from "./source-repository.ts";

const ACCEPT = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
  "application/vnd.docker.distribution.manifest.v2+json",
].join(", ");

/** The manifest that a tag or digest points to. Undefined when the registry does not have it. */
export async function readManifest(
  { exchange, base, maxManifestBytes }: SourceRepository,
  reference: string,
  signal: AbortSignal,
): Promise<StoredManifest | undefined> {
  const answer = await exchange.read(
    { target: `${base}/manifests/${reference}`, headers: { accept: ACCEPT }, signal },
    maxManifestBytes,
  );
  return answer.status === 200 ? checkedManifest(reference, answer) : requireMissing(answer.status);
}

/** What a tag points to. */
export interface Resolved {
  digest: string;
  /** The manifest, where it had to be read to learn its digest. */
  stored?: StoredManifest;
}

/**
 * What a tag points to, by HEAD; by GET where the registry refuses HEAD, answers it without a digest, or has nothing by
 * it. Undefined when the registry does not have it.
 */
export async function resolveTag(
  repository: SourceRepository,
  tag: string,
  signal: AbortSignal,
): Promise<Resolved | undefined> {
  const head = repository.refusesHead ? undefined : await askHead(repository, tag, signal);
  if (head?.digest !== undefined) return { digest: head.digest };
  const stored = await readManifest(repository, tag, signal);
  if (stored !== undefined && head?.isRefused === true) repository.refusesHead = true;
  return stored && { digest: stored.digest, stored };
}

/** The digest of a tag by HEAD, if the registry says it there. */
async function askHead(
  { exchange, base }: SourceRepository,
  tag: string,
  signal: AbortSignal,
): Promise<{ digest?: string | undefined; isRefused: boolean }> {
  try {
    const { status, headers } = await exchange.read(
      { method: "HEAD", target: `${base}/manifests/${tag}`, headers: { accept: ACCEPT }, signal },
      0,
    );
    return { digest: status === 200 ? digestHeaderOf(headers) : requireMissing(status), isRefused: false };
  } catch (error) {
    if (!mayHaveGet(error)) throw error;
    return { isRefused: true };
  }
}

/**
 * The manifest, byte for byte. Throws when its digest is not the one that was asked for or that the answer's header
 * states, or when its type is not one that this registry stores.
 */
function checkedManifest(reference: string, { headers, body: content }: SmallAnswer): StoredManifest {
  const expected = isDigest(reference) ? reference : (digestHeaderOf(headers) ?? "");
  const algorithm = algorithmOf(expected);
  const digest = `${algorithm}:${createHash(algorithm).update(content).digest("hex")}`;
  if (expected !== "" && digest !== expected)
    throw new UpstreamError("wrong", "the source's manifest is not what its digest says");
  const type = String(headers["content-type"] ?? "");
  const manifest = parseManifest(content, type);
  // Some registries serve manifests as plain JSON: then the manifest's own mediaType decides.
  const read =
    "problem" in manifest && !type.includes("manifest") && !type.includes("index")
      ? parseManifest(content, "")
      : manifest;
  if ("problem" in read) throw new UpstreamError("wrong", `a manifest of the source cannot be taken: ${read.problem}`);
  return { digest, content, manifest: read };
}

/** The Docker-Content-Digest header. Undefined when it is missing or no digest. */
function digestHeaderOf(headers: SmallAnswer["headers"]): string | undefined {
  const header = headers["docker-content-digest"];
  return typeof header === "string" && isDigest(header) ? header : undefined;
}
