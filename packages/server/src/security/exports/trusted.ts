import { createLru } from "../../lib/lru.ts";
import { type Database, select } from "../../store/index.ts";
import { productKey } from "../feeds/fields.ts";
import { UnreadableRecord } from "../feeds/record.ts";
import { targetOf } from "../vex/applies.ts";
import { csafDocument } from "../vex/csaf.ts";
import { cycloneDxDocument } from "../vex/cyclonedx.ts";
import { openVexDocument } from "../vex/openvex.ts";
import type { VexDocument, VexStatement } from "../vex/types.ts";
import { parsedPurl } from "./image-packages.ts";
import { displayedId, type Said, type SaidOf, statementOf, targeted } from "./said.ts";

// What feeds of VEX documents say that may decide about products: FeedDefinition.products.

const READERS: Readonly<Record<string, (document: unknown) => VexDocument>> = {
  openvex: openVexDocument,
  "csaf-vex": csafDocument,
  "cyclonedx-vex": cycloneDxDocument,
};

/** The most documents that are read about one image, and the largest one, in characters. */
const MAX_DOCUMENTS = 1_000;
const MAX_CHARS = 4 << 20;
const KEYS_AT_ONCE = 200;

const CACHE_BYTES = 16 << 20;
// What a statement takes in memory, about.
const STATEMENT_BYTES = 500;
const NOTHING: VexDocument = { id: "", author: "", statements: [] };

// One document is about many images; by format and hash.
const read = createLru<string, VexDocument>(CACHE_BYTES, ({ statements }) => (statements.length + 1) * STATEMENT_BYTES);

interface Feed {
  name: string;
  format: string;
  products: string[];
}

/** What the feeds say of the image and its packages that may. */
export async function trustedStatements(tx: Database, image: SaidOf): Promise<Said[]> {
  const feeds = await trustedFeeds(tx);
  if (feeds.size === 0) return [];
  const name = image.path.slice(image.path.lastIndexOf("/") + 1).toLowerCase();
  const keys = [`pkg:oci/${name}`, `pkg:docker/${name}`, ...image.packages.all.map(({ purl }) => productKey(purl))];
  const records = await recordsUnder(tx, [...feeds.keys()], [...new Set(keys)]);
  const said: Said[] = [];
  for (const { feed: from, id, format, hash } of records) {
    const feed = feeds.get(from);
    if (feed === undefined) continue;
    const { author, statements } = await documentOf(tx, { feed: from, id, format, hash });
    for (const statement of statements) {
      const target = targetIn(statement, image, feed);
      const packages = target === undefined ? [] : targeted(target, image.packages);
      if (packages !== "all" && packages.length === 0) continue;
      const { ids, status, justification, impact, timeMs } = statement;
      said.push({
        ids: ids.map(displayedId),
        statement: statementOf({ status, justification, impact }),
        packages,
        timeMs,
        supplier: author || from,
      });
    }
  }
  return said;
}

async function trustedFeeds(tx: Database): Promise<Map<string, Feed>> {
  const rows = await tx
    .selectFrom("feeds")
    .select(["name", "format", "products"])
    .where("products", "<>", "[]")
    .execute();
  const feeds = rows.map((row) => ({ ...row, products: JSON.parse(row.products) as string[] }));
  return new Map(feeds.filter(({ format }) => format in READERS).map((feed) => [feed.name, feed]));
}

interface RecordHead {
  feed: string;
  id: string;
  format: string;
  hash: string;
}

async function recordsUnder(tx: Database, feeds: readonly string[], keys: readonly string[]): Promise<RecordHead[]> {
  const found = new Map<string, RecordHead>();
  const marks = (values: readonly unknown[]): string => values.map(() => "?").join(", ");
  for (let at = 0; at < keys.length && found.size < MAX_DOCUMENTS; at += KEYS_AT_ONCE) {
    const some = keys.slice(at, at + KEYS_AT_ONCE);
    const rows = await select<RecordHead>(
      tx,
      `select distinct r.feed, r.id, f.format, r.hash from feed_keys as k join feed_records as r on r.feed = k.feed and r.id = k.record
       join feeds as f on f.name = r.feed where k.kind = 'product' and k.key in (${marks(some)}) and k.feed in (${marks(feeds)})
       and r.removed = 0 and length(r.body) <= ${MAX_CHARS} order by r.feed, r.id limit ${MAX_DOCUMENTS}`,
      [...some, ...feeds],
    );
    for (const row of rows) found.set(`${row.feed}\n${row.id}`, row);
  }
  return [...found.values()].slice(0, MAX_DOCUMENTS);
}

async function documentOf(tx: Database, { feed, id, format, hash }: RecordHead): Promise<VexDocument> {
  const key = `${format} ${hash}`;
  const known = read.get(key);
  if (known !== undefined) return known;
  const row = await tx
    .selectFrom("feed_records")
    .select("body")
    .where("feed", "=", feed)
    .where("id", "=", id)
    .executeTakeFirst();
  const document = row === undefined ? NOTHING : parsed(format, row.body);
  read.set(key, document);
  return document;
}

function parsed(format: string, body: string): VexDocument {
  try {
    return READERS[format]?.(JSON.parse(body)) ?? NOTHING;
  } catch (error) {
    // The import has checked less of it than a reading of its statements wants.
    if (error instanceof UnreadableRecord) return NOTHING;
    throw error;
  }
}

/** What the statement is about in the image, if the feed may decide about its product: see targetOf. */
function targetIn(statement: VexStatement, { path, digest }: SaidOf, { products }: Feed): string | undefined {
  const { product, component } = statement;
  const named = product || component;
  if (!products.some((prefix) => begins(named, prefix))) return undefined;
  const purl = parsedPurl(product);
  if (purl !== undefined && (purl.type === "oci" || purl.type === "docker") && !isNamed(purl, path)) return undefined;
  // A name that is no purl may be anybody's.
  if (product !== "" && purl === undefined) return undefined;
  return targetOf(statement, digest);
}

/** Whether the purl begins with the text, and with it ends a part of the purl. */
function begins(purl: string, prefix: string): boolean {
  return purl.startsWith(prefix) && (/[/@?#]$/.test(prefix) || /^(?:[/@?#]|$)/.test(purl.slice(prefix.length)));
}

/** Whether the purl of an image has the name that the path ends with, and no other place. */
function isNamed({ name, qualifiers }: NonNullable<ReturnType<typeof parsedPurl>>, path: string): boolean {
  const { repository_url: place } = (qualifiers ?? {}) as Record<string, string | undefined>;
  const last = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  return name.toLowerCase() === last && (place === undefined || place.toLowerCase().endsWith(`/${path.toLowerCase()}`));
}
