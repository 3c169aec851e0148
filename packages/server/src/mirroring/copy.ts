import { isObject } from "../lib/json.ts";
import type { StoredManifest } from "../oci/index.ts";
import { type Copying, mirrorCall } from "./context.ts";
import { UpstreamError } from "./errors.ts";
import { storeCopiedManifest, touchReferences } from "./commands.ts";

const MAX_DEPTH = 8;
const MAX_MANIFESTS = 10_000;
const BLOBS_AT_ONCE = 3;
// How often what was copied may go again before the manifest that needs it is there.
const MAX_ROUNDS = 3;

/**
 * Copies a manifest with all that it needs and all that refers to it, each before what needs it, byte for byte: so
 * every digest stays.
 */
export async function copyManifest(copying: Copying, manifest: StoredManifest): Promise<void> {
  await copyDeep(copying, manifest, 0, new Set());
}

/** Copies what refers to the digest and is not here yet, such as signatures that were made later. */
export async function copyReferrers(copying: Copying, digest: string): Promise<void> {
  await referrersOf(copying, digest, 0, new Set([digest]));
}

/** Whether the repo holds the manifest. */
export async function holds({ deps, place }: Pick<Copying, "deps" | "place">, digest: string): Promise<boolean> {
  const found = await deps.transactor.read(mirrorCall(deps), (call) =>
    call.tx
      .selectFrom("manifests")
      .select("digest")
      .where("repo", "=", place.repo)
      .where("digest", "=", digest)
      .executeTakeFirst(),
  );
  return found !== undefined;
}

async function copyDeep(copying: Copying, stored: StoredManifest, depth: number, seen: Set<string>): Promise<void> {
  const { deps, place } = copying;
  if (depth > MAX_DEPTH)
    throw new UpstreamError("wrong", `manifests of the source are nested more than ${MAX_DEPTH} levels deep`);
  if (seen.add(stored.digest).size > MAX_MANIFESTS)
    throw new UpstreamError("wrong", `one tag of the source leads to more than ${MAX_MANIFESTS} manifests`);
  const { references } = stored.manifest;
  let { missing } = await deps.transactor.write(touchReferences, mirrorCall(deps), { ...place, references });
  for (let round = 1; ; round += 1) {
    const wanted = new Set(missing);
    for (const { digest, kind } of references)
      if (kind === "manifest" && wanted.has(digest)) await copyNamed(copying, digest, depth + 1, seen);
    await copyBlobs(
      copying,
      stored,
      references.filter(({ digest, kind }) => kind === "blob" && wanted.has(digest)).map(({ digest }) => digest),
    );
    // Whoever pulls the manifest the moment it is here finds its signatures.
    if (round === 1) await referrersOf(copying, stored.digest, depth, seen);
    ({ missing } = await deps.transactor.write(storeCopiedManifest, mirrorCall(deps), { ...place, stored }));
    if (missing.length === 0) break;
    if (round === MAX_ROUNDS) throw new Error("what was copied is removed faster than it is used");
  }
  deps.metrics.manifest();
}

async function copyNamed(copying: Copying, digest: string, depth: number, seen: Set<string>): Promise<void> {
  const stored = await copying.upstream.manifest(digest, copying.signal);
  if (stored === undefined)
    throw new UpstreamError("wrong", `the source lacks a manifest that another one names: ${digest}`);
  await copyDeep(copying, stored, depth, seen);
}

async function copyBlobs(
  { downloads, place, upstream, signal }: Copying,
  { content }: StoredManifest,
  digests: string[],
): Promise<void> {
  const sizes = sizesOf(content);
  const left = [...digests];
  const work = async (): Promise<void> => {
    try {
      for (let digest = left.shift(); digest !== undefined; digest = left.shift()) {
        const there = await downloads.fetch({ place, upstream, digest, size: sizes.get(digest), signal });
        if (!there) throw new UpstreamError("wrong", `the source lacks a blob that a manifest names: ${digest}`);
      }
    } finally {
      // After a failure the others begin nothing more.
      left.length = 0;
    }
  };
  const done = await Promise.allSettled(Array.from({ length: BLOBS_AT_ONCE }, work));
  const failed = done.find((each) => each.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

async function referrersOf(copying: Copying, digest: string, depth: number, seen: Set<string>): Promise<void> {
  for (const referrer of await copying.upstream.referrers(digest, copying.signal)) {
    if (seen.has(referrer) || (await holds(copying, referrer))) continue;
    const stored = await copying.upstream.manifest(referrer, copying.signal);
    // A list kept in a tag may name what is gone.
    if (stored !== undefined) await copyDeep(copying, stored, depth + 1, seen);
  }
}

/** The sizes that the manifest's descriptors tell. */
function sizesOf(content: Uint8Array): Map<string, number> {
  const { config, layers, manifests } = JSON.parse(Buffer.from(content).toString()) as Record<string, unknown>;
  const listed = [
    config,
    ...(Array.isArray(layers) ? (layers as unknown[]) : []),
    ...(Array.isArray(manifests) ? (manifests as unknown[]) : []),
  ];
  return new Map(
    listed.flatMap((each) => (isObject(each) ? [[String(each["digest"]), Number(each["size"])] as const] : [])),
  );
}
