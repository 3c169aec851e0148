import { type RawBuilder, sql } from "kysely";
import { type Scope, within } from "@moorage/kernel/aip/scope";
import { createTurns } from "@moorage/kernel/lib/turns";
import { type Database, select } from "@moorage/kernel/store";
import { IS_COUNTED } from "../images/counting-source.ts";
import { marks } from "../marks.ts";
import type { HeldVersions } from "./held-versions.ts";

/** A tag that points to an image with a version of a library, directly or through an index. */
export interface TaggedImage {
  digest: string;
  /** The uid of the repo. */
  repo: string;
  tag: string;
  version: string;
  /** What the tag points to. */
  tagDigest: string;
  purl: string;
}

/** Where a page of them ended: they are in the order of these columns. */
export type TaggedPosition = readonly [digest: string, repo: string, tag: string, version: string];

/** The page that is asked for, after the position. `skip`: so many rows are passed over. */
export interface TaggedPage {
  after: TaggedPosition | undefined;
  size: number;
  skip: number;
}

const DIGESTS = 100;
const PACKAGES = 100;
// A page ends after so many images were looked at, however few of them a tag points to.
const MAX_LOOKED = 5_000;
// Of images of which there are more, the rows are not counted.
const MAX_COUNTED = 5_000;
const BEHIND = "\u{10FFFF}";

/**
 * A page of the tags in the scope, whose conditions are on repos, that point to images with one of these packages.
 * `next`: where the page after begins, undefined after the last one. It continues by the index of packages, so that it
 * costs the same wherever it begins.
 */
export async function taggedImages(
  db: Database,
  held: HeldVersions,
  scope: Scope,
  { after, size, skip }: TaggedPage,
): Promise<{ rows: TaggedImage[]; next: TaggedPosition | undefined }> {
  const packages = [...held.values()].flat();
  const wanted = skip + size;
  const found: TaggedImage[] = [];
  const turn = createTurns();
  let position = after;
  for (let looked = 0; ;) {
    const digests = await digestsAfter(db, packages, position);
    const last = digests.at(-1);
    if (last === undefined) return { rows: found.slice(skip), next: undefined };
    const rows = await rowsOf(db, { digests, packages, scope, after: position, limit: wanted - found.length + 1 });
    found.push(...rows);
    if (found.length > wanted) {
      const page = found.slice(skip, wanted);
      const end = page.at(-1);
      return { rows: page, next: end === undefined ? position : positionOf(end) };
    }
    position = [last, BEHIND, "", ""];
    looked += digests.length;
    // What is to be passed over is passed over in this page.
    if (looked >= MAX_LOOKED && found.length >= skip) return { rows: found.slice(skip), next: position };
    await turn();
  }
}

/** How many rows there are; undefined when more than 5,000 images, tagged or not, hold the packages. */
export async function countTagged(db: Database, held: HeldVersions, scope: Scope): Promise<number | undefined> {
  const packages = [...held.values()].flat();
  const digests = new Set<string>();
  for (let at = 0; at < packages.length; at += PACKAGES) {
    const some = packages.slice(at, at + PACKAGES);
    const rows = await select<{ digest: string }>(
      db,
      `select distinct digest from image_packages where package in (${marks(some)}) limit ${MAX_COUNTED + 1}`,
      some,
    );
    for (const { digest } of rows) digests.add(digest);
    if (digests.size > MAX_COUNTED) return undefined;
  }
  const all = [...digests];
  const turn = createTurns();
  let total = 0;
  for (let at = 0; at < all.length; at += DIGESTS) {
    const tagged = taggedIn({ digests: all.slice(at, at + DIGESTS), packages, scope });
    const { rows } = await sql<{ n: number }>`select count(*) as n from (${tagged}) as c`.execute(db);
    total += Number(rows[0]?.n ?? 0);
    await turn();
  }
  return total;
}

function positionOf({ digest, repo, tag, version }: TaggedImage): TaggedPosition {
  return [digest, repo, tag, version];
}

/** The next digests with one of the packages, in their order; the one of the position is among them. */
async function digestsAfter(
  db: Database,
  packages: readonly string[],
  after: TaggedPosition | undefined,
): Promise<string[]> {
  const [from, isDone] = after === undefined ? ["", false] : [after[0], after[1] === BEHIND];
  const found = new Set<string>();
  for (let at = 0; at < packages.length; at += PACKAGES) {
    const some = packages.slice(at, at + PACKAGES);
    const each = some.map(
      (_, n) =>
        `select digest from (select distinct digest from image_packages where package = ? and digest ${isDone ? ">" : ">="} ? order by digest limit ${DIGESTS}) as d${n}`,
    );
    const rows = await select<{ digest: string }>(
      db,
      each.join(" union "),
      some.flatMap((id) => [id, from]),
    );
    for (const { digest } of rows) found.add(digest);
  }
  return [...found].sort().slice(0, DIGESTS);
}

interface Wanted {
  digests: readonly string[];
  packages: readonly string[];
  scope: Scope;
}

async function rowsOf(
  db: Database,
  { after, limit, ...wanted }: Wanted & { after: TaggedPosition | undefined; limit: number },
): Promise<TaggedImage[]> {
  const behind =
    after === undefined ? sql`1 = 1` : sql`(x.digest, x.repo, x.tag, x.version) > (${sql.join([...after])})`;
  const { rows } = await sql<TaggedImage>`select x.digest, x.repo, x.tag, x.version, x."tagDigest", x.purl
    from (${taggedIn(wanted)}) as x where ${behind}
    order by x.digest, x.repo, x.tag, x.version limit ${limit}`.execute(db);
  return rows;
}

/** The rows of these images, in no order: each digest, repo, tag and version once. */
function taggedIn({ digests, packages, scope: { roots, conditions } }: Wanted): RawBuilder<unknown> {
  const held = sql`select m.digest, m.repo, p.version, min(p.purl) as purl from image_packages as i
    join packages as p on p.id = i.package
    join manifests as m on m.digest = i.digest
    join repos as t on t.uid = m.repo
    where i.package in (${sql.join([...packages])}) and i.digest in (${sql.join([...digests])})
    and ${sql.join([within(roots), ...conditions], sql` and `)} and ${IS_COUNTED}
    group by m.digest, m.repo, p.version`;
  return sql`select h.digest, h.repo, g.name as tag, h.version, g.digest as "tagDigest", h.purl from (${held}) as h
    join tags as g on g.parent = h.repo and g.digest = h.digest
    union all select h.digest, h.repo, g.name, h.version, g.digest, h.purl from (${held}) as h
    join manifest_references as r on r.repo = h.repo and r.target = h.digest and r.kind = 'manifest'
    join tags as g on g.parent = r.repo and g.digest = r.digest`;
}
