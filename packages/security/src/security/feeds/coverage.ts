import { MATCHED_FORMATS } from "../matching/record-affects.ts";
import { reachOf } from "../matching/reach.ts";
import type { FeedProblem } from "../records/record.ts";
import type { StoredRecord } from "./stored-record.ts";

/** How many records of a feed are about packages of an ecosystem and release. */
export interface Covered {
  /** As keys begin: `npm`, `debian:12`. Of an ecosystem of which no packages are matched, its name in the records. */
  space: string;
  records: number;
  isMatched: boolean;
}

/** What an import found out about what a feed covers. */
export interface Coverage {
  covered: Covered[];
  /** How many records match nothing, in part or as a whole. */
  unmatched: number;
  /** The first of them. */
  kept: FeedProblem[];
}

// The most ecosystems and releases that are counted one by one: their names come from the records.
const MAX_SPACES = 500;
const OTHERS = "others";

/** Counts what the records of an import cover. Withdrawn records affect nothing, and are not counted. */
export class CoverageCount {
  readonly #spaces = new Map<string, Covered>();
  readonly #kept: FeedProblem[] = [];
  readonly #format: string;
  readonly #maxKept: number;
  #unmatched = 0;

  constructor(format: string, maxKept: number) {
    this.#format = format;
    this.#maxKept = maxKept;
  }

  take({ id, withdrawn, body }: StoredRecord): void {
    if (withdrawn !== null || !(MATCHED_FORMATS as readonly string[]).includes(this.#format)) return;
    const { spaces, unserved, problem } = reachOf(this.#format, body);
    for (const space of spaces) this.#add(space, true);
    for (const ecosystem of unserved) this.#add(ecosystem, false);
    if (problem === "") return;
    this.#unmatched += 1;
    if (this.#kept.length < this.#maxKept) this.#kept.push({ id, position: id, message: problem });
  }

  end(): Coverage {
    return { covered: sorted(this.#spaces.values()), unmatched: this.#unmatched, kept: this.#kept };
  }

  #add(name: string, isMatched: boolean): void {
    const known = this.#spaces.get(keyOf({ space: name, isMatched }));
    const space = known === undefined && this.#spaces.size >= MAX_SPACES ? OTHERS : name;
    const one = this.#spaces.get(keyOf({ space, isMatched })) ?? { space, records: 0, isMatched };
    one.records += 1;
    this.#spaces.set(keyOf(one), one);
  }
}

const keyOf = ({ space, isMatched }: Pick<Covered, "space" | "isMatched">): string => `${isMatched} ${space}`;

/**
 * What a feed covers after an import of a part: what it covered, and what is new. The numbers of records are those of
 * the last import of all. Undefined when it was not known before.
 */
export function withPart(before: string | null, part: readonly Covered[]): Covered[] | undefined {
  const stored = coveredIn(before);
  if (stored === undefined) return undefined;
  const known = new Set(stored.map(keyOf));
  return sorted([...stored, ...part.filter((each) => !known.has(keyOf(each)))].slice(0, 2 * MAX_SPACES));
}

/** The stored `coverage` of a feed; undefined while it is not known. */
export function coveredIn(text: string | null): Covered[] | undefined {
  return text === null ? undefined : (JSON.parse(text) as Covered[]);
}

function sorted(all: Iterable<Covered>): Covered[] {
  return [...all].sort((a, b) => a.space.localeCompare(b.space, "en", { numeric: true }));
}
