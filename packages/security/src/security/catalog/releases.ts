import { isOfDistribution, normalPurl, parsedPurl, readRelease, type Release } from "@moorage/kernel/lib/purls";
import { type Database, type Row, select } from "@moorage/kernel/store";
import { removeUnused } from "./remove.ts";
import { CATALOG_STATE, insertRows, LAYERS, packageRow } from "./rows.ts";
import type { Component } from "./types.ts";

// A document may name packages of a distribution without its release. They are of the release of the image that they
// are in, as soon as its layers were read: packages are compared with the records of one release.

const ROWS = 200;
/** The most packages of one document, and the most indexes of one image, that get their release later. */
const MAX_LATER = 20_000;
const MAX_INDEXES = 20;

/** The components as they are to be stored: those of a distribution that name no release in that of the image. */
export async function withReleases(
  tx: Database,
  digest: string,
  components: readonly Component[],
): Promise<readonly Component[]> {
  if (!components.some(({ purl }) => lacksRelease(purl))) return components;
  const release = await releaseOfImage(tx, digest);
  return release === undefined
    ? components
    : components.map((each) => ({ ...each, purl: inRelease(each.purl, release) }));
}

/** Gives the release to what was attached to the image, or to an index of it, before its layers were read. */
export async function giveRelease(tx: Database, digest: string): Promise<void> {
  const indexes = await select<{ digest: string }>(
    tx,
    `select distinct digest from manifest_references where target = ? and kind = 'manifest' order by digest limit ${MAX_INDEXES}`,
    [digest],
  );
  for (const each of [digest, ...indexes.map((row) => row.digest)]) {
    const rows = await packagesWithout(tx, each);
    const release = rows.length === 0 ? undefined : await releaseOfImage(tx, each);
    if (release === undefined) continue;
    for (let at = 0; at < rows.length; at += ROWS) await renew(tx, each, release, rows.slice(at, at + ROWS));
  }
}

/** The release that the layers of the image have, or those of all images of the index. */
async function releaseOfImage(tx: Database, digest: string): Promise<Release | undefined> {
  const [release, ...others] = await select<Release>(
    tx,
    `select distinct os_id as id, os_version as version from image_catalogs where state = ${CATALOG_STATE.done} and os_id <> ''
     and (digest = ? or digest in (select target from manifest_references where digest = ? and kind = 'manifest')) limit 2`,
    [digest, digest],
  );
  return others.length > 0 ? undefined : release;
}

type HeldRow = Omit<Row<"packages">, "matched"> & { source: string; n: number };

async function packagesWithout(tx: Database, digest: string): Promise<HeldRow[]> {
  return await select<HeldRow>(
    tx,
    `select i.source, i.n, p.id, p.ecosystem, p.source_name, p.source_version, p.purl, p.name, p.version, p.licence
     from image_packages as i join packages as p on p.id = i.package
     where i.digest = ? and i.source <> '${LAYERS}' and p.ecosystem in ('deb', 'apk', 'rpm') limit ${MAX_LATER}`,
    [digest],
  );
}

async function renew(tx: Database, digest: string, release: Release, rows: readonly HeldRow[]): Promise<void> {
  const renewed = rows.map(({ source, n, ...row }) => {
    const { purl, name, version, licence, source_name: sourceName, source_version: sourceVersion } = row;
    return {
      source,
      n,
      row: packageRow({ purl: inRelease(purl, release), name, version, licence, sourceName, sourceVersion }),
    };
  });
  await insertRows(
    tx,
    renewed.map(({ row }) => row),
  );
  for (const { source, n, row } of renewed)
    await tx
      .updateTable("image_packages")
      .set({ package: row.id })
      .where("digest", "=", digest)
      .where("source", "=", source)
      .where("n", "=", n)
      .execute();
  await removeUnused(tx, [...new Set(rows.map(({ id }) => id))]);
}

function lacksRelease(text: string): boolean {
  const purl = parsedPurl(text);
  if (purl === undefined || !isOfDistribution(purl.type)) return false;
  const distro = purl.qualifiers.get("distro");
  return distro === undefined || readRelease(distro, purl.namespace) === undefined;
}

function inRelease(text: string, release: Release): string {
  const purl = lacksRelease(text) ? parsedPurl(text) : undefined;
  return purl === undefined ? text : normalPurl(purl, release).purl;
}
