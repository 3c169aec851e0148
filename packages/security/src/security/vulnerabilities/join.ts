import { type Database, select } from "@moorage/kernel/store";
import type { FeedFormat } from "../records/formats.ts";
import type { FeedKeyKind } from "../feeds/stored-record.ts";
import { vulnerabilityKey } from "../records/record.ts";

/** A feed, as far as its records are joined. */
export interface JoinedFeed {
  name: string;
  format: FeedFormat;
  licence: string;
}

/** A record of a feed that says something about a vulnerability. */
export interface RecordRef {
  feed: string;
  record: string;
}

/** What the feeds have about one vulnerability. */
export interface Joined {
  /** The id that was asked for, in lower case. */
  key: string;
  /** All ids of the vulnerability, the one that was asked for among them, in lower case, sorted. */
  names: string[];
  /** In the order of feeds and records. */
  records: RecordRef[];
}

/** By which keys the records of a format name the vulnerability that they are records of. */
const NAMED_BY: Readonly<Record<FeedFormat, readonly FeedKeyKind[]>> = {
  osv: ["id", "alias", "upstream"],
  kev: ["id"],
  epss: ["id"],
  // Their records are about a vulnerability in a package: the ids of the records are no ids of vulnerabilities.
  "alpine-secdb": ["alias"],
  "debian-tracker": ["alias"],
  openvex: [],
  "csaf-vex": [],
  "cyclonedx-vex": [],
  endoflife: [],
};

// Aliases of aliases of aliases are followed, and no further, so that a wrong one does not join everything.
const ROUNDS = 3;
const MAX_NAMES = 100;
const IDS_AT_ONCE = 500;

/** The feeds of the installation, by name. */
export async function feedsOf(tx: Database): Promise<ReadonlyMap<string, JoinedFeed>> {
  const rows = await tx.selectFrom("feeds").select(["name", "format", "licence"]).execute();
  return new Map(rows.map((row) => [row.name, { ...row, format: row.format as FeedFormat }]));
}

/** The names of the feeds whose keys of this kind are ids of vulnerabilities. */
export function feedsNamingBy(feeds: ReadonlyMap<string, JoinedFeed>, kind: FeedKeyKind): string[] {
  return [...feeds.values()].filter(({ format }) => NAMED_BY[format].includes(kind)).map(({ name }) => name);
}

/**
 * What the feeds have about vulnerabilities, by their ids in lower case. Ids are the same vulnerability when a record
 * says so: KEV, EPSS and distributions, which know one id alone, are found through what OSV's records say. What a
 * withdrawn record says joins nothing; it is found by its own ids. A record of a vulnerability in packages of its own
 * (see FeedRecord.upstream) is found by that one, and has what is known of it; it joins it with nothing. Without an
 * entry: of that id no feed has anything.
 */
export async function joinVulnerabilities(
  tx: Database,
  ids: Iterable<string>,
  feeds?: ReadonlyMap<string, JoinedFeed>,
): Promise<ReadonlyMap<string, Joined>> {
  const keys = [...new Set([...ids].map(vulnerabilityKey))];
  const graph = await graphOf(tx, keys, feeds ?? (await feedsOf(tx)));
  const found = new Map<string, Joined>();
  for (const key of keys) {
    const joined = joinedOf(key, graph);
    if (joined !== undefined) found.set(key, joined);
  }
  return found;
}

interface Node extends RecordRef {
  names: Set<string>;
  /** The vulnerabilities that it is about in its own packages. */
  upstream: Set<string>;
  /** It joins the ids that it has. `withdrawn`: it is found by each of them, and joins nothing. */
  role: "joins" | "attached" | "withdrawn";
}

/** The records under each id. */
type Graph = ReadonlyMap<string, ReadonlySet<Node>>;

async function graphOf(tx: Database, keys: readonly string[], feeds: ReadonlyMap<string, JoinedFeed>): Promise<Graph> {
  const nodes = new Map<string, Node>();
  const graph = new Map<string, Set<Node>>();
  const link = (kind: FeedKeyKind, name: string, node: Node): void => {
    (kind === "upstream" ? node.upstream : node.names).add(name);
    const under = graph.get(name);
    if (under === undefined) graph.set(name, new Set([node]));
    else under.add(node);
  };
  const asked = new Set<string>();
  let next: readonly string[] = keys;
  for (let round = 0; round < ROUNDS && next.length > 0; round += 1) {
    for (const key of next) asked.add(key);
    const fresh: Node[] = [];
    for (const { kind, key, feed, record } of await rowsUnder(tx, next)) {
      const format = feeds.get(feed)?.format;
      if (format === undefined || !NAMED_BY[format].includes(kind)) continue;
      const id = JSON.stringify([feed, record]);
      let node = nodes.get(id);
      if (node === undefined) {
        const hasAliases = format === "osv" || format === "alpine-secdb";
        node = { feed, record, names: new Set(), upstream: new Set(), role: hasAliases ? "withdrawn" : "attached" };
        nodes.set(id, node);
        if (hasAliases) fresh.push(node);
      }
      link(kind, key, node);
    }
    const found = new Set<string>();
    for (const [node, names] of await namesIn(tx, fresh, feeds)) {
      node.role = "joins";
      for (const { kind, key } of names) {
        link(kind, key, node);
        if (!asked.has(key)) found.add(key);
      }
    }
    next = [...found];
  }
  return graph;
}

interface KeyRow {
  kind: FeedKeyKind;
  key: string;
  feed: string;
  record: string;
}

async function rowsUnder(tx: Database, keys: readonly string[]): Promise<KeyRow[]> {
  const rows: KeyRow[] = [];
  for (let at = 0; at < keys.length; at += IDS_AT_ONCE) {
    const part = keys.slice(at, at + IDS_AT_ONCE);
    rows.push(
      ...(await select<KeyRow>(
        tx,
        `select kind, key, feed, record from feed_keys where kind in ('id', 'alias', 'upstream') and key in (${part.map(() => "?").join(", ")})`,
        part,
      )),
    );
  }
  return rows;
}

/** The ids in those records that are not withdrawn. */
async function namesIn(
  tx: Database,
  nodes: readonly Node[],
  feeds: ReadonlyMap<string, JoinedFeed>,
): Promise<[Node, KeyRow[]][]> {
  const found: [Node, KeyRow[]][] = [];
  for (const [feed, ofFeed] of Map.groupBy(nodes, (node) => node.feed)) {
    const kinds: readonly FeedKeyKind[] = NAMED_BY[feeds.get(feed)?.format ?? "endoflife"];
    for (let at = 0; at < ofFeed.length; at += IDS_AT_ONCE) {
      const part = ofFeed.slice(at, at + IDS_AT_ONCE);
      const rows = await select<KeyRow>(
        tx,
        `select k.kind, k.key, k.feed, k.record from feed_records as r join feed_keys as k on k.feed = r.feed and k.record = r.id
         where r.feed = ? and r.withdrawn is null and k.kind in ('id', 'alias', 'upstream') and r.id in (${part.map(() => "?").join(", ")})`,
        [feed, ...part.map(({ record }) => record)],
      );
      const named = Map.groupBy(
        rows.filter(({ kind }) => kinds.includes(kind)),
        ({ record }) => record,
      );
      for (const node of part) {
        const names = named.get(node.record);
        if (names !== undefined) found.push([node, names]);
      }
    }
  }
  return found;
}

function joinedOf(key: string, graph: Graph): Joined | undefined {
  const direct = graph.get(key);
  if (direct === undefined) return undefined;
  const names = new Set([key]);
  const records = new Set(direct);
  let edge: ReadonlySet<string> = names;
  for (let round = 0; round < ROUNDS && edge.size > 0; round += 1) {
    const found = new Set<string>();
    for (const name of edge)
      for (const node of graph.get(name) ?? []) {
        if (node.role === "withdrawn" && name !== key) continue;
        records.add(node);
        if (node.role !== "joins" || !node.names.has(name)) continue;
        for (const other of node.names) if (!names.has(other)) found.add(other);
        // Of several, none is the vulnerability of the record.
        if (name === key && node.upstream.size === 1) for (const other of node.upstream) found.add(other);
      }
    for (const name of found) if (names.size < MAX_NAMES) names.add(name);
    edge = found;
  }
  const refs = [...records].map(({ feed, record }) => ({ feed, record }));
  return { key, names: [...names].sort(), records: refs.sort(inOrder) };
}

function inOrder(a: RecordRef, b: RecordRef): number {
  const [left, right] = a.feed === b.feed ? [a.record, b.record] : [a.feed, b.feed];
  return left < right ? -1 : left > right ? 1 : 0;
}
