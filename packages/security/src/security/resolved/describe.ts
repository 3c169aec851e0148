import { type Severity, SeveritySchema } from "@moorage/api/messages";
import { create } from "@bufbuild/protobuf";
import type { Call } from "@moorage/kernel/core/call";
import { createTurns } from "@moorage/kernel/lib/turns";
import { vulnerabilityKey } from "../records/record.ts";
import { feedsOf, type Joined, joinVulnerabilities } from "../vulnerabilities/join.ts";
import {
  knownVulnerabilities,
  type KnownVulnerability,
  type Unread,
  unreadOf,
} from "../vulnerabilities/known-vulnerabilities.ts";
import { VECTOR_TYPES } from "../vulnerabilities/metadata.ts";
import type { Resolved } from "./by-day.ts";

/** A vulnerability, by whatever id it was resolved. */
export interface DescribedVulnerability {
  /** The CVE if there is one. */
  id: string;
  /** Its other ids, in their order. */
  aliases: string[];
  /** Vectors of CVSS. */
  severities: Severity[];
}

// The most that is read of records in one step, in bytes, and the most of each list that is answered.
const MAX_BYTES = 8 << 20;
const MAX_LISTED = 200;

/**
 * What is known of what was resolved, each vulnerability once a day, in the order of their ids. `days`: what was
 * resolved on each; the answer has one list for each of them.
 */
export async function describeResolved(
  call: Pick<Call, "tx" | "requireCaller">,
  days: readonly (readonly Resolved[])[],
): Promise<DescribedVulnerability[][]> {
  const feeds = await feedsOf(call.tx);
  const joined = await joinVulnerabilities(
    call.tx,
    days.flatMap((resolved) => resolved.flatMap(({ ids }) => ids)),
    feeds,
  );
  const merged = days.map((resolved) => merge(resolved, joined));
  const keys = [...new Set(merged.flatMap((each) => [...each.keys()]))];
  const known = new Map<string, KnownVulnerability>();
  const unread = await unreadOf(
    call.tx,
    keys.flatMap((key) => joined.get(key) ?? []),
    feeds,
  );
  const turn = createTurns();
  for (const part of partsOf(unread)) {
    const read = await knownVulnerabilities(call.tx, part, feeds);
    for (const [at, { joined: of }] of part.entries()) {
      const one = read[at];
      if (one !== undefined) known.set(of.key, one);
    }
    await turn();
    call.requireCaller();
  }
  return merged.map((each) =>
    [...each]
      .map(([key, one]) => describedOf(key, one, known.get(key)))
      .sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)),
  );
}

interface Merged {
  /** All ids, in lower case. */
  names: Set<string>;
  /** As advisories write them, by the ids in lower case. */
  spellings: Map<string, string>;
  severities: Severity[];
}

/** The vulnerabilities, each once, by the id that names it best. */
function merge(resolved: readonly Resolved[], joined: ReadonlyMap<string, Joined>): Map<string, Merged> {
  const found = new Map<string, Merged>();
  for (const { ids, severities } of resolved) {
    const own = ids.map(vulnerabilityKey);
    const names = new Set(own.flatMap((key) => [key, ...(joined.get(key)?.names ?? [])]));
    const key = [...names].sort(byWeight)[0] ?? "";
    const same = found.get(key) ?? { names: new Set<string>(), spellings: new Map<string, string>(), severities: [] };
    found.set(key, same);
    for (const name of names) same.names.add(name);
    for (const id of ids) same.spellings.set(vulnerabilityKey(id), id);
    same.severities.push(...severities);
  }
  return found;
}

function describedOf(key: string, one: Merged, known: KnownVulnerability | undefined): DescribedVulnerability {
  const spellings = new Map([
    ...one.spellings,
    ...[...(known?.aliases ?? []), ...(known === undefined ? [] : [known.id])].map(
      (id) => [vulnerabilityKey(id), id] as const,
    ),
  ]);
  const spelled = (name: string): string =>
    name.startsWith("cve-") ? name.toUpperCase() : (spellings.get(name) ?? name);
  const vectors = (known?.vectors ?? []).flatMap(({ type, score }) =>
    VECTOR_TYPES[type] === undefined ? [] : [create(SeveritySchema, { type: VECTOR_TYPES[type], score })],
  );
  const severities = [...vectors, ...one.severities].map((each) => [`${each.type} ${each.score}`, each] as const);
  return {
    id: spelled(key),
    aliases: [...one.names]
      .filter((name) => name !== key)
      .map(spelled)
      .sort()
      .slice(0, MAX_LISTED),
    severities: [...new Map(severities).values()].slice(0, MAX_LISTED),
  };
}

function byWeight(a: string, b: string): number {
  const weight = (id: string): number => (id.startsWith("cve-") ? 0 : id.startsWith("ghsa-") ? 1 : 2);
  return weight(a) - weight(b) || (a < b ? -1 : a > b ? 1 : 0);
}

/** The vulnerabilities in parts, each of records that are read in one step. */
export function* partsOf(all: readonly Unread[]): Generator<Unread[]> {
  let part: Unread[] = [];
  let size = 0;
  for (const unread of all) {
    if (part.length > 0 && size + unread.size > MAX_BYTES) {
      yield part;
      [part, size] = [[], 0];
    }
    part.push(unread);
    size += unread.size;
  }
  if (part.length > 0) yield part;
}
