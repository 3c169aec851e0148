import type { Scope } from "@moorage/kernel/aip/scope";
import { createTurns } from "@moorage/kernel/lib/turns";
import { type Database, select } from "@moorage/kernel/store";
import { IS_SIGNED_AS_ASKED } from "../attached/layers.ts";
import { CATALOG_STATE } from "../catalog/rows.ts";
import { type ImageName, nameOf, tagsOfImages } from "../images/images.ts";
import { marks } from "../marks.ts";
import { imagesOf } from "../images/walk.ts";
import { NO_ECOSYSTEM } from "./image-knowledge.ts";
import { nameOfEcosystem } from "./packages.ts";
import { presetFor } from "./presets.ts";
import { comparedFeeds, stateByFeeds } from "./compared-feeds.ts";
import type { SpaceState } from "./spaces.ts";

// Of how many images of a scope the findings are not known. They are found by indexes of what is not known, so that it
// costs little where all is, and what is looked at is bounded where nothing is.

/** Images that tags point to and of which it is not known what vulnerabilities they have. */
export interface UnknownInScope {
  /** Images that were not read or compared, or not all of them. */
  notRead: number;
  /** Images that were, with packages that no feed covers. */
  noData: number;
  /** The counts are the least that there are: not all that may be unknown was looked at. */
  isAtLeast: boolean;
  /**
   * The ecosystems that no feed covers, with the number of images that have packages of them; the most images first.
   */
  uncovered: { ecosystem: string; images: number; preset: string }[];
}

/** So many digests are looked at whose layers were not read as a whole, and so many rows of packages of each kind. */
const LOOKED_AT = 5_000;
const ROWS = 300;
const MAX_ECOSYSTEMS = 500;

/** The package that says in which key spaces those of an ecosystem are is one of the first. */
const SAMPLED = 100;

/** Counts the images of the scope that tags point to and of which not all is known. */
export async function unknownInScope(db: Database, scope: Scope): Promise<UnknownInScope> {
  const { notRead, noData, isAtLeast, uncovered } = await lookInScope(db, scope);
  return { notRead: notRead.size, noData: noData.size, isAtLeast, uncovered };
}

/**
 * The images of the scope that tags point to and of which not all is known, by `repo digest`. `isAtLeast`: not all that
 * may be unknown was looked at.
 */
export async function unknownImagesIn(
  db: Database,
  scope: Scope,
): Promise<{ names: ReadonlySet<string>; isAtLeast: boolean }> {
  const { notRead, noData, isAtLeast } = await lookInScope(db, scope);
  return { names: new Set([...notRead, ...noData]), isAtLeast };
}

/** The images by their names: each is in one of the two sets. */
interface LookedAt extends Omit<UnknownInScope, "notRead" | "noData"> {
  notRead: Set<string>;
  noData: Set<string>;
}

async function lookInScope(db: Database, scope: Scope): Promise<LookedAt> {
  const found: LookedAt = { notRead: new Set(), noData: new Set(), isAtLeast: false, uncovered: [] };
  if (scope.roots.length === 0) return found;
  const turn = createTurns();
  const look = async (digests: readonly string[], isOfLayers = false): Promise<Set<string>> => {
    if (digests.length >= LOOKED_AT) found.isAtLeast = true;
    const names = new Set<string>();
    const all = [...new Set(digests)].sort();
    for (let at = 0; at < all.length; at += ROWS) {
      const images = await imagesOf(db, scope, all.slice(at, at + ROWS));
      const unknown = isOfLayers ? await withoutTrustedSbom(db, images) : images;
      for (const name of (await tagsOfImages(db, unknown)).keys()) names.add(name);
      await turn();
    }
    return names;
  };
  const { notRead, noData } = found;
  for (const name of await look(await digestsNotRead(db), true)) notRead.add(name);
  for (const name of await look(await digestsNotMatched(db))) notRead.add(name);
  for (const { ecosystem, state, preset } of await ecosystemsNotKnown(db)) {
    const names = await look(await digestsOf(db, ecosystem));
    for (const name of names) (state === "waiting" ? notRead : noData).add(name);
    if (state === "none" && names.size > 0)
      found.uncovered.push({ ecosystem: nameOfEcosystem(ecosystem), images: names.size, preset });
  }
  for (const name of notRead) noData.delete(name);
  found.uncovered.sort((a, b) => b.images - a.images || (a.ecosystem < b.ecosystem ? -1 : 1));
  return found;
}

/** Images that wait to be read, could not be, or not as a whole, or in which no package was found. */
async function digestsNotRead(db: Database): Promise<string[]> {
  const rows = await select<{ digest: string }>(
    db,
    `select digest from image_catalogs where (state <> ${CATALOG_STATE.done} or incomplete = 1) order by digest limit ${LOOKED_AT}`,
    [],
  );
  return rows.map(({ digest }) => digest);
}

/** Images with packages that were not compared with the records yet. */
async function digestsNotMatched(db: Database): Promise<string[]> {
  const rows = await select<{ digest: string }>(
    db,
    `select i.digest from (select id from packages where matched is null order by id limit ${LOOKED_AT}) as p
     join image_packages as i on i.package = p.id limit ${LOOKED_AT}`,
    [],
  );
  return rows.map(({ digest }) => digest);
}

async function digestsOf(db: Database, ecosystem: string): Promise<string[]> {
  const rows = await select<{ digest: string }>(
    db,
    `select i.digest from (select id from packages where ecosystem = ? order by source_name, id limit ${LOOKED_AT}) as p
     join image_packages as i on i.package = p.id limit ${LOOKED_AT}`,
    [ecosystem],
  );
  return rows.map(({ digest }) => digest);
}

/** The ecosystems of packages that feeds do not cover, or whose records were not compared with them yet. */
async function ecosystemsNotKnown(
  db: Database,
): Promise<{ ecosystem: string; state: SpaceState; preset: string }[]> {
  // One step of the index for each.
  const rows = await select<{ ecosystem: string | null }>(
    db,
    `with recursive each_one(ecosystem) as (
       select min(ecosystem) from packages
       union all select (select min(p.ecosystem) from packages as p where p.ecosystem > e.ecosystem) from each_one as e where e.ecosystem is not null)
     select ecosystem from each_one limit ${MAX_ECOSYSTEMS}`,
    [],
  );
  const feeds = await comparedFeeds(db);
  const found: { ecosystem: string; state: SpaceState; preset: string }[] = [];
  for (const { ecosystem } of rows) {
    if (ecosystem === null || ecosystem === NO_ECOSYSTEM) continue;
    const spaces = await spacesOf(db, ecosystem);
    const states: SpaceState[] = [];
    for (const space of spaces) states.push(await stateByFeeds(db, space, feeds));
    if (states.includes("compared")) continue;
    const state = states.includes("waiting") ? "waiting" : "none";
    found.push({ ecosystem, state, preset: presetFor(spaces[0] ?? "") });
  }
  return found;
}

/** The key spaces of the packages of an ecosystem; none when the server compares none of them. */
async function spacesOf(db: Database, ecosystem: string): Promise<string[]> {
  const rows = await select<{ key: string }>(
    db,
    `select k.key from package_keys as k where k.package = (
       select p.id from (select id, source_name from packages where ecosystem = ? order by source_name, id limit ${SAMPLED}) as p
       where exists (select 1 from package_keys as o where o.package = p.id) order by p.source_name, p.id limit 1) order by k.key`,
    [ecosystem],
  );
  return [...new Set(rows.map(({ key }) => key.slice(0, key.indexOf("/"))))];
}

/** Those of the images to which nobody who may write advisories attached an SBOM. */
async function withoutTrustedSbom(db: Database, images: readonly ImageName[]): Promise<ImageName[]> {
  if (images.length === 0) return [];
  const digests = [...new Set(images.map(({ digest }) => digest))];
  const rows = await select<ImageName>(
    db,
    `select distinct a.repo, a.subject as digest from attachments as a
     join attached_readings as r on r.subject = a.subject and r.manifest = a.manifest and r.state = ${CATALOG_STATE.done}
     join attached_documents as d on d.subject = a.subject and d.manifest = a.manifest and d.packages > 0 and ${IS_SIGNED_AS_ASKED}
     where a.subject in (${marks(digests)}) and a.until_time is null and a.trusted = 1`,
    digests,
  );
  const vouched = new Set(rows.map(nameOf));
  return images.filter((image) => !vouched.has(nameOf(image)));
}
