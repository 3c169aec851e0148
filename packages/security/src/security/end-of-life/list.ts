import { EolTagStatus, type ProductSource, type UIDPFilter } from "@moorage/api/messages";
import { sql } from "kysely";
import { scopeOf, within } from "@moorage/kernel/aip/scope";
import type { Call } from "@moorage/kernel/core/call";
import type { ServiceContext } from "@moorage/kernel/core/service";
import { factsOf, type FactsPlace, type ImageFacts } from "./image-facts.ts";
import { type MainProduct, mainProductOf, type RepoFacts, versionOf } from "./main-product.ts";
import { isEol, type Release, releaseOf } from "./products.ts";

/** A tag whose product is past its end of life. */
export interface EolTagFound {
  uid: string;
  name: string;
  digest: string;
  main: MainProduct;
  version: string;
  versionSource: string;
  productSource: ProductSource;
  release: Release;
  status: EolTagStatus;
  /** When grace ends, in milliseconds since 1970; undefined when the feed has no date. */
  graceEndMs: number | undefined;
}

export interface EolTagsWanted {
  uidp: UIDPFilter | undefined;
  /** Empty for all. */
  name: string;
  /** Milliseconds since 1970. */
  asOfMs: number;
  pageSize: number;
  /** The uid of the last tag that the page before looked at; empty for the first page. */
  after: string;
  /** The groups whose tags may be answered. */
  visible: string[];
}

/** How many months grace lasts. */
export const GRACE_MONTHS = 6;
/** How many tags and configurations are looked at for one page. */
const MAX_SCANNED = 500;
const MAX_CONFIGS = 200;

interface TagRow {
  uid: string;
  parent: string;
  name: string;
  digest: string;
}
interface KnownRepo extends RepoFacts {
  /** The names of the active tags; empty when all are. */
  active: ReadonlySet<string>;
}
interface KnownImage {
  facts: ImageFacts;
  main: MainProduct;
}

/**
 * The next tags whose product is past its end of life, in the order of uids. Of a repo with active tags only those are
 * looked at. `last`: the uid to go on after; undefined when all tags were looked at.
 */
export async function eolTags(
  call: Call,
  { readBlob }: Pick<ServiceContext, "readBlob">,
  wanted: EolTagsWanted,
): Promise<{ tags: EolTagFound[]; last: string | undefined }> {
  const repos = new Map<string, KnownRepo>();
  const images = new Map<string, KnownImage | undefined>();
  const budget = { configs: MAX_CONFIGS };
  const rows = await scanned(call, wanted);
  const tags: EolTagFound[] = [];
  let last: string | undefined;
  for (const row of rows.slice(0, MAX_SCANNED)) {
    call.requireCaller();
    const repo = repos.get(row.parent) ?? (await repoOf(call, row.parent));
    repos.set(row.parent, repo);
    if (!row.name.startsWith("sha256-") && (repo.active.size === 0 || repo.active.has(row.name))) {
      const key = `${row.parent} ${row.digest}`;
      if (!images.has(key))
        images.set(key, await imageOf({ call, readBlob, repo: row.parent, budget }, repo, row.digest));
      const image = images.get(key);
      const found = image === undefined ? undefined : await eolTag(call, image, row, wanted.asOfMs);
      if (found !== undefined) tags.push(found);
    }
    last = row.uid;
    if (tags.length === wanted.pageSize || budget.configs <= 0) break;
  }
  return { tags, last: last === rows.at(-1)?.uid ? undefined : last };
}

/** One more tag than are looked at, so that it is known whether there are more. */
async function scanned(call: Call, { uidp, name, after, visible }: EolTagsWanted): Promise<TagRow[]> {
  const { roots, conditions } = scopeOf(uidp, visible);
  const where = [
    within(roots),
    ...conditions,
    sql`t.uid > ${after}`,
    ...(name === "" || name.includes("\0") ? (name === "" ? [] : [sql`1 = 0`]) : [sql`t.name = ${name}`]),
  ];
  const { rows } = await sql<TagRow>`select t.uid, t.parent, t.name, t.digest from tags as t
    where ${sql.join(where, sql` and `)} order by t.uid limit ${MAX_SCANNED + 1}`.execute(call.tx);
  return rows;
}

async function repoOf(call: Call, uid: string): Promise<KnownRepo> {
  const row = await call.tx
    .selectFrom("repos")
    .select(["name", "product", "active_tags", "sync_config"])
    .where("uid", "=", uid)
    .executeTakeFirstOrThrow();
  const { source = "" } = JSON.parse(row.sync_config ?? "{}") as { source?: string };
  return {
    name: row.name,
    product: (JSON.parse(row.product ?? "{}") as { id?: string }).id ?? "",
    source,
    active: new Set(JSON.parse(row.active_tags) as string[]),
  };
}

async function imageOf(place: FactsPlace, repo: RepoFacts, digest: string): Promise<KnownImage | undefined> {
  const facts = await factsOf(place, digest);
  const main = facts === undefined ? undefined : await mainProductOf(place.call.tx, repo, facts);
  return facts === undefined || main === undefined ? undefined : { facts, main };
}

async function eolTag(
  call: Call,
  { facts, main }: KnownImage,
  { uid, name, digest }: TagRow,
  asOfMs: number,
): Promise<EolTagFound | undefined> {
  const found = await versionOf(call.tx, main.product, facts, name);
  const release = found === undefined ? undefined : releaseOf(main.product, found.version);
  if (found === undefined || release === undefined || !isEol(release, asOfMs)) return undefined;
  const graceEndMs = typeof release.eol === "number" ? monthsLater(release.eol, GRACE_MONTHS) : undefined;
  return {
    uid,
    name,
    digest,
    main,
    version: found.version,
    versionSource: found.source,
    productSource: main.source,
    release,
    status: graceEndMs !== undefined && asOfMs < graceEndMs ? EolTagStatus.IN_GRACE : EolTagStatus.INACTIVE,
    graceEndMs,
  };
}

/** The same day so many months later, in UTC; the month's last when it has no such day. */
function monthsLater(ms: number, months: number): number {
  const day = new Date(ms);
  const last = new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + months + 1, 0)).getUTCDate();
  return Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + months, Math.min(day.getUTCDate(), last));
}
