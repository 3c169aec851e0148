import { isIndexType } from "@moorage/kernel/core/media-types";
import { isObject } from "@moorage/kernel/lib/json";
import { type Database, select } from "@moorage/kernel/store";
import { isDocument, type ManifestContent } from "./documents.ts";

/** How indexes in indexes are followed, upwards and downwards. */
const MAX_DEPTH = 4;
/** The most manifests that one step of this leads to. */
const MAX_FOUND = 1_000;
/** Of larger manifests the layers are not looked at: they count as those of an image. */
const MAX_OWN_BYTES = 1 << 20;
const MAX_NAMED_BYTES = 64 << 10;

/** What stands around a manifest of a repo. */
export interface Surroundings {
  kind: "image" | "index" | "document";
  heldMs?: number;
  /** The indexes that name it, directly or through others. */
  indexes: ReadonlySet<string>;
  hasAllIndexes: boolean;
  /** The images that it names as an index, directly or through others; documents are left out. */
  images: ReadonlySet<string>;
  hasAllImages: boolean;
}

interface Held extends ManifestContent {
  createMs: number;
}

/**
 * What stands around each of these manifests. `given`: manifests that the repo need not hold, since they come through
 * it from its source; indexes among them are looked at for what they name.
 */
export async function surroundingsOf(
  tx: Database,
  repo: string,
  digests: readonly string[],
  given: ReadonlyMap<string, ManifestContent> = new Map(),
): Promise<Map<string, Surroundings>> {
  const above = withGiven(await edges(tx, repo, digests, "up"), digests, given);
  const below = await edges(tx, repo, digests, "down");
  const held = new Map([
    ...(await heldOf(tx, repo, [...below.all], MAX_NAMED_BYTES)),
    ...(await heldOf(tx, repo, digests, MAX_OWN_BYTES)),
  ]);
  const contentOf = (digest: string): ManifestContent | undefined => held.get(digest) ?? given.get(digest);
  const found = new Map<string, Surroundings>();
  for (const digest of digests) {
    const own = contentOf(digest);
    const named = leavesOf(digest, below.next, contentOf);
    const isIndex = own !== undefined && isIndexType(own.mediaType);
    // An index that names nothing but documents holds nothing that could be run. What it names is not known of one that
    // is not held.
    const isOfDocuments = isIndex && held.has(digest) && below.isWhole && named.images.size === 0 && named.isWhole;
    const createMs = held.get(digest)?.createMs;
    found.set(digest, {
      kind: isOfDocuments || (own !== undefined && isDocument(own)) ? "document" : isIndex ? "index" : "image",
      ...(createMs !== undefined && { heldMs: createMs }),
      indexes: reached(digest, above.next),
      hasAllIndexes: above.isWhole,
      images: named.images,
      hasAllImages: below.isWhole && named.isWhole,
    });
  }
  return found;
}

/** With the indexes that are given, of what they name. */
function withGiven(above: Edges, digests: readonly string[], given: ReadonlyMap<string, ManifestContent>): Edges {
  const next = new Map(above.next);
  for (const [index, { mediaType, content }] of given) {
    if (!isIndexType(mediaType)) continue;
    const named = namedBy(content);
    for (const digest of digests)
      if (digest !== index && named.has(digest)) next.set(digest, [...new Set([...(next.get(digest) ?? []), index])]);
  }
  return { ...above, next };
}

function namedBy(content: Uint8Array): ReadonlySet<unknown> {
  const { manifests } = JSON.parse(Buffer.from(content).toString()) as { manifests?: unknown };
  return new Set(Array.isArray(manifests) ? manifests.filter(isObject).map((each) => each["digest"]) : []);
}

interface Edges {
  next: ReadonlyMap<string, readonly string[]>;
  all: ReadonlySet<string>;
  isWhole: boolean;
}

/** Where references of indexes lead from these manifests: to what they name, or to those that name them. */
async function edges(tx: Database, repo: string, from: readonly string[], way: "up" | "down"): Promise<Edges> {
  const next = new Map<string, string[]>();
  const all = new Set<string>();
  const [start, end] = way === "up" ? ["target", "digest"] : ["digest", "target"];
  // What somebody trusted has signed comes first, so that what others push does not crowd it out.
  const order =
    way === "up"
      ? `case when exists (select 1 from signature_verdicts as v where v.subject = r.${end} and v.state = 1) then 0 else 1 end, `
      : "";
  let level: readonly string[] = [...new Set(from)];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth >= MAX_DEPTH) return { next, all, isWhole: false };
    const rows = await select<{ start: string; end: string }>(
      tx,
      `select r.${start} as "start", r.${end} as "end" from manifest_references as r
       where r.repo = ? and r.kind = 'manifest' and r.${start} in (${level.map(() => "?").join(", ")}) order by ${order}r.${end}, r.${start} limit ${MAX_FOUND + 1}`,
      [repo, ...level],
    );
    const fresh = new Set<string>();
    for (const { start: one, end: other } of rows) {
      next.set(one, [...(next.get(one) ?? []), other]);
      if (!all.has(other)) fresh.add(other);
      all.add(other);
    }
    if (rows.length > MAX_FOUND || all.size > MAX_FOUND) return { next, all, isWhole: false };
    level = [...fresh];
  }
  return { next, all, isWhole: true };
}

function reached(from: string, next: Edges["next"]): Set<string> {
  const found = new Set<string>();
  let level = [from];
  while (level.length > 0) {
    level = level.flatMap((each) => next.get(each) ?? []).filter((each) => !found.has(each));
    for (const each of level) found.add(each);
  }
  return found;
}

/** The images that an index names, through whatever other indexes. */
function leavesOf(
  index: string,
  next: Edges["next"],
  contentOf: (digest: string) => ManifestContent | undefined,
): { images: Set<string>; isWhole: boolean } {
  const images = new Set<string>();
  let isWhole = true;
  for (const digest of reached(index, next)) {
    const own = contentOf(digest);
    if (own === undefined) images.add(digest);
    else if (isIndexType(own.mediaType)) {
      // One in itself, or one whose entries were not looked up.
      if (digest === index) isWhole = false;
    } else if (!isDocument(own)) images.add(digest);
  }
  return { images, isWhole };
}

async function heldOf(
  tx: Database,
  repo: string,
  digests: readonly string[],
  maxBytes: number,
): Promise<[string, Held][]> {
  if (digests.length === 0) return [];
  const rows = await select<{ digest: string; media_type: string; content: Uint8Array | null; create_time: number }>(
    tx,
    `select digest, media_type, case when length(content) <= ${maxBytes} then content end as content, create_time from manifests where repo = ? and digest in (${digests.map(() => "?").join(", ")})`,
    [repo, ...digests],
  );
  return rows.map(({ digest, media_type: mediaType, content, create_time }) => [
    digest,
    { mediaType, content: content ?? NOTHING, createMs: Number(create_time) },
  ]);
}

const NOTHING = Buffer.from("{}");
