import { type Database, embeddedOf, select } from "@moorage/kernel/store";
import { identify, type KnownGroups } from "./java-groups.ts";
import { purlOf } from "./purls.ts";
import type { ArchiveClues } from "./readers/java-clues.ts";
import type { Coordinates } from "./readers/java-pom.ts";
import { LAYERS, LAYERS_AGAIN } from "./rows.ts";
import type { Component, Unread } from "./types.ts";
import { MAX_UNREAD, moreArchives, unidentified } from "./unread-files.ts";

// Java archives that are not identified: what they say of themselves is kept, so that they are when a feed knows them.

const ARTIFACTS_AT_ONCE = 100;
/** More groups of the artifacts of one statement make all of them unknown. */
const MAX_KEYS = 5_000;
const ROWS = 200;

/** The components, those with the coordinates of Maven that are identified by what the feeds know now. */
export async function identified(tx: Database, components: readonly Component[]): Promise<Component[]> {
  const clues = components.map((each) => (each.clues === undefined ? undefined : cluesIn(each.clues)));
  const groupsOf = await knownGroups(
    tx,
    clues.flatMap((each) => each?.candidates.map(([artifact]) => artifact) ?? []),
  );
  return components.map((component, at) => {
    const own = clues[at];
    const found = own === undefined ? undefined : identify(own, groupsOf);
    return found === undefined ? component : (withCoordinates(component, found) ?? component);
  });
}

/** The component as the artifact with these coordinates; undefined if they cannot be those of one. */
export function withCoordinates(component: Component, found: Coordinates): Component | undefined {
  const purl = purlOf({ type: "maven", ...found }, undefined);
  if (purl === undefined) return undefined;
  const { clues: _clues, ...rest } = component;
  return { ...rest, purl, name: `${found.namespace}:${found.name}`, version: found.version };
}

/** What is kept of an archive, as it was written. */
export function cluesIn(text: string): ArchiveClues {
  return JSON.parse(text) as ArchiveClues;
}

/** The groups in which feeds know these artifacts. Reads by the index of feed_keys. */
export async function knownGroups(tx: Database, artifacts: readonly string[]): Promise<KnownGroups> {
  const groups = new Map<string, string[]>();
  const all = [...new Set(artifacts)];
  // SQLite would rather go through all keys of Maven.
  const [from, artifact] =
    embeddedOf(tx) === undefined
      ? ["feed_keys as k", "substr(k.key, strpos(k.key, ':') + 1)"]
      : ["feed_keys as k indexed by feed_keys_artifact", "substr(k.key, instr(k.key, ':') + 1)"];
  for (let at = 0; at < all.length; at += ARTIFACTS_AT_ONCE) {
    const some = all.slice(at, at + ARTIFACTS_AT_ONCE);
    const rows = await select<{ key: string }>(
      tx,
      `select distinct k.key from ${from} where k.kind = 'package' and k.key >= 'maven/' and k.key < 'maven0'
       and ${artifact} in (${some.map(() => "?").join(", ")}) limit ${MAX_KEYS}`,
      some,
    );
    if (rows.length === MAX_KEYS) continue;
    for (const { key } of rows) {
      const { group, name } = partsOfKey(key);
      groups.set(name, [...(groups.get(name) ?? []), group]);
    }
  }
  return (name) => groups.get(name) ?? [];
}

/** The group and the artifact of a key such as `maven/org.dom4j:dom4j`. */
export function partsOfKey(key: string): { group: string; name: string } {
  const cut = key.indexOf(":");
  return { group: key.slice("maven/".length, cut), name: key.slice(cut + 1) };
}

/** Notes those of the components that are not identified. For a command that has locked the catalogs. */
export async function insertArchives(
  tx: Database,
  {
    digest,
    source,
    from,
    components,
  }: { digest: string; source: string; from: number; components: readonly Component[] },
): Promise<void> {
  const archives = components.flatMap(({ clues }, at) =>
    clues === undefined ? [] : [{ digest, source, n: from + at, clues }],
  );
  for (let at = 0; at < archives.length; at += ROWS) {
    const some = archives.slice(at, at + ROWS);
    await tx.insertInto("image_archives").values(some).execute();
    const names = some.flatMap(({ n, clues }) =>
      [...new Set(cluesIn(clues).candidates.map(([artifact]) => artifact))].map((artifact) => ({
        artifact,
        digest,
        source,
        n,
      })),
    );
    for (let start = 0; start < names.length; start += ROWS)
      await tx
        .insertInto("image_archive_names")
        .values(names.slice(start, start + ROWS))
        .execute();
  }
}

/** Removes what a reading of an image noted of its archives, or of one of them. `source`: LAYERS or LAYERS_AGAIN. */
export async function deleteArchives(tx: Database, digest: string, source: string, n?: number): Promise<void> {
  for (const table of ["image_archive_names", "image_archives"] as const) {
    const query = tx.deleteFrom(table).where("digest", "=", digest).where("source", "=", source);
    await (n === undefined ? query : query.where("n", "=", n)).execute();
  }
}

/** What reading the image again noted counts from now on; of the reading before there must be nothing. */
export async function countArchivesAgain(tx: Database, digest: string): Promise<void> {
  for (const table of ["image_archive_names", "image_archives"] as const)
    await tx
      .updateTable(table)
      .set({ source: LAYERS })
      .where("digest", "=", digest)
      .where("source", "=", LAYERS_AGAIN)
      .execute();
}

/** The notes of an image that has been read, with those of its archives that are not identified now. */
export async function withArchives(tx: Database, digest: string, unread: readonly Unread[]): Promise<Unread[]> {
  const rows = await select<{ path: string; layer: string; clues: string }>(
    tx,
    `select i.path, i.layer, a.clues from image_archives as a
     join image_packages as i on i.digest = a.digest and i.source = a.source and i.n = a.n
     where a.digest = ? and a.source = '${LAYERS}' order by a.n limit ${MAX_UNREAD}`,
    [digest],
  );
  const [row] = await select<{ n: number | string }>(
    tx,
    `select count(*) as n from image_archives as a where a.digest = ? and a.source = '${LAYERS}'`,
    [digest],
  );
  const more = Number(row?.n ?? 0) - rows.length;
  return [
    ...unread.filter(({ waits }) => waits !== true),
    ...rows.map(({ path, layer, clues }): Unread => {
      return { ...unidentified({ path, layer, sha1: cluesIn(clues).sha1 }), waits: true };
    }),
    ...(more > 0 ? [moreArchives(more)] : []),
  ];
}
