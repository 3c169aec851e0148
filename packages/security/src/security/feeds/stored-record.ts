import { createHash } from "node:crypto";
import { packageKey } from "../matching/package-keys.ts";
import { type FeedProblem, type FeedRecord, vulnerabilityKey } from "../records/record.ts";
import type { Severity } from "../records/severity.ts";

/** A record in the form in which it is written. */
export interface StoredRecord {
  id: string;
  modified: number;
  withdrawn: number | null;
  severity: Severity;
  scoreTenths: number | null;
  body: string;
  /** By what it is found: kind and key, each pair once. */
  keys: [kind: FeedKeyKind, key: string][];
  /** Of all but `modified`, which some formats have for the whole document. */
  hash: string;
}

export const FEED_KEY_KINDS = ["id", "alias", "upstream", "about", "package", "product"] as const;

export type FeedKeyKind = (typeof FEED_KEY_KINDS)[number];

/** What an import reads. */
export type StoredRead = { stored: StoredRecord; problem?: never } | { problem: FeedProblem; stored?: never };

export function storedRecord(record: FeedRecord): StoredRecord {
  const { id, modified, withdrawn, severity, score, body } = record;
  const pairs: [FeedKeyKind, string][] = [
    ["id", vulnerabilityKey(id)],
    ...record.aliases.map((alias): [FeedKeyKind, string] => ["alias", vulnerabilityKey(alias)]),
    ...record.upstream.map((each): [FeedKeyKind, string] => ["upstream", vulnerabilityKey(each)]),
    ...record.about.map((each): [FeedKeyKind, string] => ["about", vulnerabilityKey(each)]),
    ...record.packages.flatMap((each): [FeedKeyKind, string][] => {
      const key = packageKey(each);
      return key === undefined ? [] : [["package", key]];
    }),
    ...record.products.map((product): [FeedKeyKind, string] => ["product", product]),
  ];
  const keys = [...new Map(pairs.map((pair) => [pair.join(" "), pair])).values()];
  const scoreTenths = score === null ? null : Math.round(score * 10);
  return withHash({ id, modified, withdrawn, severity, scoreTenths, body, keys });
}

export function withHash(record: Omit<StoredRecord, "hash">): StoredRecord {
  const { body, withdrawn, severity, scoreTenths, keys } = record;
  const sorted = keys.toSorted(([a, b], [c, d]) => (a === c ? compare(b, d) : compare(a, c)));
  const content = JSON.stringify([body, withdrawn, severity, scoreTenths, sorted]);
  return { ...record, hash: createHash("sha256").update(content).digest("hex") };
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
