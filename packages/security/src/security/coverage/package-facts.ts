import { createLru, type Lru } from "@moorage/kernel/lib/lru";
import { createTurns } from "@moorage/kernel/lib/turns";
import { isVersion } from "@moorage/kernel/lib/versions";
import { type Database, embeddedOf, select } from "@moorage/kernel/store";
import { marks } from "../marks.ts";
import { versionOrder } from "../matching/package-keys.ts";

/** What does not depend on the image that holds a package. */
export interface PackageFacts {
  /** As `packages` has it: `npm`, `deb/debian-12`. */
  ecosystem: string;
  /** The key spaces that it is compared in, in the order of its keys. Empty when it is compared with nothing. */
  spaces: readonly string[];
  /** Its package URL and the version that the order of its ecosystem cannot read; undefined when it can. */
  unreadable?: { purl: string; version: string };
}

interface FactsRow {
  id: string;
  ecosystem: string;
  purl: string;
  matched: number | null;
  key: string | null;
  version: string | null;
}

const ROWS = 2_000;
/** Each takes about 250 bytes. */
const MAX_KNOWN = 20_000;

/**
 * The id of a package is made of all that its row says, and its keys are made of that: once it was compared they never
 * change. On PostgreSQL each transaction is a database of its own, so that nothing is kept for the next one.
 */
const knownFacts = new WeakMap<Database, Lru<string, PackageFacts>>();

/** The packages that these sources say an image holds, each once, some thousand at a time, by their ids. */
export async function* factsOfImage(
  db: Database,
  digest: string,
  sources: readonly string[],
): AsyncGenerator<Map<string, PackageFacts>> {
  if (sources.length === 0) return;
  const held = `select distinct i.package from image_packages as i
    where i.digest = ? and i.source in (${marks(sources)}) and i.package > ? order by i.package limit ${ROWS}`;
  const turn = createTurns();
  for (let after: string | undefined = ""; after !== undefined;) {
    const parameters: string[] = [digest, ...sources, after];
    const facts: Map<string, PackageFacts> = (await rememberedFacts(db, held, parameters)) ?? (await readFacts(db, held, parameters));
    yield facts;
    after = facts.size < ROWS ? undefined : [...facts.keys()].at(-1);
    await turn();
  }
}

/** Undefined unless the facts of all of them are known. */
async function rememberedFacts(
  db: Database,
  held: string,
  parameters: readonly string[],
): Promise<Map<string, PackageFacts> | undefined> {
  const known = knownFacts.get(db);
  if (known === undefined) return undefined;
  const facts = new Map<string, PackageFacts>();
  for (const { package: id } of await select<{ package: string }>(db, held, parameters)) {
    const own = known.get(id);
    if (own === undefined) return undefined;
    facts.set(id, own);
  }
  return facts;
}

async function readFacts(
  db: Database,
  held: string,
  parameters: readonly string[],
): Promise<Map<string, PackageFacts>> {
  const rows = await select<FactsRow>(
    db,
    `select p.id, p.ecosystem, p.purl, p.matched, k.key, k.version from (${held}) as d
     join packages as p on p.id = d.package left join package_keys as k on k.package = p.id order by p.id, k.key`,
    parameters,
  );
  const facts = new Map<string, PackageFacts>();
  for (const [id, own] of Map.groupBy(rows, (row) => row.id)) {
    const found = factsOf(own);
    if (found === undefined) continue;
    facts.set(id, found);
    if (own[0]?.matched !== null) remember(db, id, found);
  }
  return facts;
}

function factsOf(rows: readonly FactsRow[]): PackageFacts | undefined {
  const [first] = rows;
  if (first === undefined) return undefined;
  const spaces = new Set<string>();
  let unreadable: string | undefined;
  for (const { key, version } of rows) {
    if (key === null) continue;
    spaces.add(key.slice(0, key.indexOf("/")));
    const order = versionOrder(key);
    if (order !== undefined && !isVersion(order, version ?? "")) unreadable = version ?? "";
  }
  return {
    ecosystem: first.ecosystem,
    spaces: [...spaces],
    ...(unreadable !== undefined && { unreadable: { purl: first.purl, version: unreadable } }),
  };
}

function remember(db: Database, id: string, facts: PackageFacts): void {
  if (embeddedOf(db) === undefined) return;
  const known = knownFacts.get(db) ?? createLru<string, PackageFacts>(MAX_KNOWN);
  knownFacts.set(db, known);
  known.set(id, facts);
}
