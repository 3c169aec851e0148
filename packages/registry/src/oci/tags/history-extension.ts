import { Capability } from "@moorage/api/messages";
import { OCI_INDEX } from "@moorage/kernel/core/media-types";
import { parseIso8601 } from "@moorage/kernel/lib/iso8601";
import { type Database, statement } from "@moorage/kernel/store";
import { authorize, DENY_OTHER_AUDIENCES } from "../request.ts";
import type { Exchange } from "../request.ts";
import { isDigest } from "../digests.ts";
import { rejected, undefinedIfUnknown, RegistryError } from "../errors.ts";
import { pullableRepository } from "../names.ts";
import { sendJson } from "../send.ts";
import { nextOfRepository, pageSize } from "./list.ts";

/** A move or deletion of a tag. The media type and size of a manifest that is no longer stored are null. */
interface Entry {
  timeMs: number;
  event: "created" | "deleted";
  digest: string;
  media_type: string | null;
  size: number | null;
}
/** Selects entries between these times (milliseconds since 1970, both excluded), newest first, at most `limit`. */
interface Window {
  sinceMs: number;
  beforeMs: number;
  limit: number;
}

const ANNOTATION = "org.opencontainers.distribution.tag";
const UNKNOWN_TYPE = "application/octet-stream";
const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;

/**
 * GET /v2/<name>/_oci/tag-history/<tag>: each manifest that the tag came to point to and each of its deletions, newest
 * first, as an image index: `n` of them (at most 1000), between `since` and `before`, of one `digest`; a Link leads to
 * the next page. A tag or a repository that never existed has an empty history. Source:
 * opencontainers/distribution-spec pull request 606, extensions/_oci.md, which is not merged yet.
 */
export async function handleTagHistory(exchange: Exchange, { tag }: { tag: string }): Promise<void> {
  await authorize(exchange, ["pull"], DENY_OTHER_AUDIENCES);
  const { deps, name, query } = exchange;
  const count = pageSize(query);
  const [since, before] = [readTime(query, "since"), readTime(query, "before")];
  const window: Window = {
    sinceMs: since?.lastMs ?? Number.MIN_SAFE_INTEGER,
    beforeMs: before?.firstMs ?? Number.MAX_SAFE_INTEGER,
    limit: count + 1,
  };
  const digest = query.get("digest");
  if (digest !== null && !isDigest(digest))
    throw new RegistryError("DIGEST_INVALID", "Invalid argument: digest: must be a sha256 or sha512 digest");
  const found = await deps.transactor.read(exchange.callData, async (call) => {
    const repo = await pullableRepository(call, deps.config, name, { tag }, [Capability.CAP_TAG_LIST]).catch(
      undefinedIfUnknown,
    );
    if (repo === undefined || count === 0) return [];
    return digest === null
      ? entriesOf(call.tx, repo, tag, window)
      : entriesOfDigest(call.tx, repo, tag, digest, window);
  });
  const entries = found.slice(0, count);
  const passed = Object.fromEntries(
    ["since", "digest"].flatMap((field) => (query.has(field) ? [[field, query.get(field) ?? ""]] : [])),
  );
  const next = { n: String(count), before: textOf(entries.at(-1)?.timeMs ?? 0), ...passed };
  const more = found.length > count ? nextOfRepository(exchange, `_oci/tag-history/${tag}`, next) : {};
  sendJson(
    exchange,
    200,
    { "content-type": OCI_INDEX, ...more },
    { schemaVersion: 2, mediaType: OCI_INDEX, manifests: entries.map(descriptorOf) },
  );
}

function descriptorOf({ timeMs, event, digest, media_type, size }: Entry): object {
  const annotations = { [`${ANNOTATION}.timestamp`]: textOf(timeMs), [`${ANNOTATION}.event`]: event };
  return { mediaType: media_type ?? UNKNOWN_TYPE, size: size ?? 0, digest, annotations };
}

const selectRecords = statement<Pick<Entry, "digest" | "media_type" | "size"> & { time: number }>(
  `select h.time, h.digest, m.media_type, m.size from tag_history as h left join manifests as m on m.repo = h.repo and m.digest = h.digest
    where h.repo = ? and h.tag = ? and h.time < ? order by h.time desc limit ?`,
);

/**
 * The entry of a deletion names the digest that the tag pointed to before, which is in the next older record; that
 * record is read even when it is outside of the window.
 */
async function entriesOf(
  db: Database,
  repo: string,
  tag: string,
  { sinceMs, beforeMs, limit }: Window,
): Promise<Entry[]> {
  const records = await selectRecords(db, repo, tag, beforeMs, limit + 1);
  const entries = records.flatMap(({ time, ...manifest }, at): Entry[] => {
    if (manifest.digest !== "") return [{ ...manifest, timeMs: time, event: "created" }];
    const before = records[at + 1];
    return before === undefined
      ? []
      : [{ timeMs: time, event: "deleted", digest: before.digest, media_type: before.media_type, size: before.size }];
  });
  return entries.filter(({ timeMs }) => timeMs > sinceMs).slice(0, limit);
}

const selectOfDigest = statement<Pick<Entry, "media_type" | "size"> & { time: number; deleted: number | null }>(
  `select h.time, m.media_type, m.size,
      (select case when n.digest = '' then n.time end from tag_history as n
        where n.repo = h.repo and n.tag = h.tag and n.time > h.time order by n.time limit 1) as deleted
    from tag_history as h left join manifests as m on m.repo = h.repo and m.digest = h.digest
    where h.repo = ? and h.digest = ? and h.tag = ? and h.time < ? order by h.time desc limit ?`,
);

/** The entries of one digest: its own records, and the deletions that follow them. */
async function entriesOfDigest(
  db: Database,
  repo: string,
  tag: string,
  digest: string,
  { sinceMs, beforeMs, limit }: Window,
): Promise<Entry[]> {
  const records = await selectOfDigest(db, repo, digest, tag, beforeMs, limit);
  const entries = records.flatMap(({ time, deleted, ...manifest }): Entry[] => [
    ...(deleted === null ? [] : [{ ...manifest, digest, timeMs: deleted, event: "deleted" as const }]),
    { ...manifest, digest, timeMs: time, event: "created" },
  ]);
  return entries.filter(({ timeMs }) => timeMs > sinceMs && timeMs < beforeMs).slice(0, limit);
}

// A time between two milliseconds is rounded so that comparisons with `since` and `before` stay correct.
function readTime(query: URLSearchParams, field: string): ReturnType<typeof parseIso8601> {
  const text = query.get(field);
  if (text === null) return undefined;
  const moment = RFC_3339.test(text) ? parseIso8601(text) : undefined;
  if (moment === undefined)
    throw rejected("RANGE_INVALID", {
      field,
      description: "must be an RFC 3339 date-time, as 2026-01-02T03:04:05.678Z",
    });
  return moment;
}

function textOf(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
