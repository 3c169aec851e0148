import { isObject } from "@moorage/kernel/lib/json";
import { type Database, select } from "@moorage/kernel/store";
import { productKey } from "../records/fields.ts";

/** A product of a feed of end-of-life dates. */
export interface Product {
  id: string;
  feed: string;
  licence: string;
  /** When the feed was last read, in milliseconds since 1970; null when it never was without an error. */
  updateMs: number | null;
  /** The purls that the feed has for it, without versions. */
  purls: string[];
  /** As the feed has them: the newest first. */
  releases: Release[];
}

/** A release cycle of a product. */
export interface Release {
  version: string;
  /** Its end of life: the beginning of that day in UTC, in milliseconds since 1970; or whether it is past. */
  eol: number | boolean;
  /** The day as the feed has it, empty without one. */
  eolDate: string;
  releaseDate: string;
  lts: boolean;
  latestVersion: string;
}

interface Row {
  id: string;
  feed: string;
  licence: string;
  update_ms: number | null;
  body: string;
}

const PRODUCT = `select r.id, r.feed, f.licence, f.success_time as update_ms, r.body from feed_records as r
  join feeds as f on f.name = r.feed where f.format = 'endoflife' and r.removed = 0`;
/** The longest id or purl that is looked up. */
const MAX_KEY = 1_000;
const MAX_CYCLE = 100;

/** The product of that id; of several feeds that have it, the first by name. */
export async function productById(tx: Database, id: string): Promise<Product | undefined> {
  if (id === "" || id.length > MAX_KEY || id.includes("\0")) return undefined;
  const [row] = await select<Row>(tx, `${PRODUCT} and r.id = ? order by r.feed limit 1`, [id]);
  return row === undefined ? undefined : await productOf(tx, row);
}

/** The product of the first of the purls for which a feed has one. */
export async function productByPurl(tx: Database, purls: readonly string[]): Promise<Product | undefined> {
  for (const purl of purls) {
    const key = productKey(purl);
    if (key.length > MAX_KEY || key.includes("\0")) continue;
    const [row] = await select<Row>(
      tx,
      `${PRODUCT} and (r.feed, r.id) in (select k.feed, k.record from feed_keys as k where k.kind = 'product' and k.key = ?)
        order by r.feed, r.id limit 1`,
      [key],
    );
    if (row !== undefined) return await productOf(tx, row);
  }
  return undefined;
}

// The number of keys in one statement: below every engine's limit of parameters.
const CHUNK = 500;

/**
 * The products of those of the keys for which a feed has one, by key; of several feeds that have it, the first by name.
 * See productKey.
 */
export async function productsByKey(tx: Database, keys: readonly string[]): Promise<Map<string, Product>> {
  const found = new Map<string, Product>();
  const products = new Map<string, Product>();
  const usable = [...new Set(keys)].filter((key) => key.length <= MAX_KEY && !key.includes("\0"));
  for (let at = 0; at < usable.length; at += CHUNK) {
    const some = usable.slice(at, at + CHUNK);
    const rows = await select<{ key: string; feed: string; record: string }>(
      tx,
      `select k.key, k.feed, k.record from feed_keys as k
        join feeds as f on f.name = k.feed and f.format = 'endoflife'
        join feed_records as r on r.feed = k.feed and r.id = k.record and r.removed = 0
        where k.kind = 'product' and k.key in (${some.map(() => "?").join(", ")}) order by k.feed, k.record`,
      some,
    );
    for (const { key, feed, record } of rows) {
      if (found.has(key)) continue;
      const id = JSON.stringify([feed, record]);
      const product = products.get(id) ?? (await productOfRecord(tx, feed, record));
      if (product === undefined) continue;
      products.set(id, product);
      found.set(key, product);
    }
  }
  return found;
}

async function productOfRecord(tx: Database, feed: string, id: string): Promise<Product | undefined> {
  const [row] = await select<Row>(tx, `${PRODUCT} and r.feed = ? and r.id = ?`, [feed, id]);
  return row === undefined ? undefined : await productOf(tx, row);
}

/** The cycle that the version belongs to: that whose name is the longest beginning of it, up to a dot. */
export function releaseOf({ releases }: Product, version: string): Release | undefined {
  const parts = partsOf(version);
  return releases
    .filter((release) => {
      const cycle = partsOf(release.version);
      return cycle.length > 0 && cycle.every((part, at) => part === parts[at]);
    })
    .sort((a, b) => partsOf(b.version).length - partsOf(a.version).length)[0];
}

/** Whether the cycle is past its end of life at that time. On the day of its end of life it is. */
export function isEol({ eol }: Release, atMs: number): boolean {
  return typeof eol === "boolean" ? eol : eol <= atMs;
}

/** `1:16.3-1.pgdg120+1` is 16 and 3, `v1.22.4` is 1, 22 and 4, `20-alpine` is 20. */
function partsOf(version: string): string[] {
  const [, numbers = ""] = /^(?:\d+:)?v?(\d+(?:\.\d+)*)/i.exec(version.slice(0, MAX_CYCLE)) ?? [];
  return numbers === "" ? [] : numbers.split(".");
}

async function productOf(tx: Database, { id, feed, licence, update_ms: updateMs, body }: Row): Promise<Product> {
  const keys = await select<{ key: string }>(
    tx,
    "select key from feed_keys where feed = ? and record = ? and kind = 'product' order by key",
    [feed, id],
  );
  const fields = JSON.parse(body) as { releases?: unknown };
  const releases = Array.isArray(fields.releases) ? fields.releases.filter(isObject).map(readRelease) : [];
  return { id, feed, licence, updateMs, purls: keys.map(({ key }) => key), releases };
}

/** A cycle in the form of the pages (`releaseCycle`, `eol`) or of the API (`name`, `eolFrom`, `isEol`). */
function readRelease(release: Record<string, unknown>): Release {
  const given = release["eolFrom"] ?? release["eol"] ?? release["isEol"];
  const eolDate = dayOf(given);
  const latest = release["latest"];
  return {
    version: textOf(release["releaseCycle"] ?? release["name"]),
    eol: eolDate === "" ? given === true || release["isEol"] === true : Date.parse(`${eolDate}T00:00:00Z`),
    eolDate,
    releaseDate: dayOf(release["releaseDate"]),
    // A date says since when.
    lts: ![undefined, null, false].includes((release["lts"] ?? release["isLts"]) as null),
    latestVersion: textOf(isObject(latest) ? latest["name"] : latest),
  };
}

function dayOf(value: unknown): string {
  const [day = ""] = (typeof value === "string" && /^\d{4}-\d{2}-\d{2}/.exec(value)) || [];
  return Number.isNaN(Date.parse(`${day}T00:00:00Z`)) ? "" : day;
}

function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value).slice(0, MAX_CYCLE) : "";
}
