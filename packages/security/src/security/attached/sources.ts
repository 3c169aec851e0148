import { type Database, select, statement } from "@moorage/kernel/store";
import { CATALOG_STATE, LAYERS } from "../catalog/rows.ts";
import { IS_SIGNED_AS_ASKED } from "./layers.ts";

/** Who says what an image holds. */
export interface PackageSource {
  /** As `image_packages` has it: `layers`, `<manifest>/<n>` for an attached document, or `scan/<uid>`. */
  source: string;
  /** `layers`, `cyclonedx` or `spdx`; `scan` for the report of a scanner. */
  kind: string;
  /** Of an attached document: the layer that is the document, as it was pushed. */
  layer?: string;
  mediaType?: string;
  /** When it was read, in milliseconds since 1970. */
  readMs: number;
  /** A document that is attached on the word of somebody who may not write advisories: it only adds packages. */
  isClaim: boolean;
}

// An index may name images that the repo does not hold, and another organization does.
const selectRead = statement<{ finish_time: number }>(
  `select c.finish_time from image_catalogs as c join manifests as m on m.digest = c.digest
   where c.digest = ? and m.repo = ? and c.state = ${CATALOG_STATE.done} limit 1`,
);

const selectReported = statement<{ uid: string; report_time: number | null }>(
  "select uid, report_time from scans where parent = ? and digest = ? and packages > 0 order by report_time desc, uid",
);

/** The number of a document of several in one layer, one a line, is so much larger for each line. */
export const LINE = 1_000_000;

/** The source of the packages of an attached document: the layer `n` of the manifest. */
export function sourceOf(manifest: string, n: number): string {
  return `${manifest}/${n}`;
}

/**
 * The sources of an image in a repo, the most trusted first: what somebody who may write advisories attached to it
 * there, the last attached first, then our reading of its layers, then what scanners report, the last first; behind
 * these what others attached. `atMs`: as of a time, in milliseconds since 1970; now without. What was read after that
 * time counts as it was attached or pushed before, since neither changes.
 */
export async function packageSources(
  tx: Database,
  { repo, digest, atMs }: { repo: string; digest: string; atMs?: number | undefined },
): Promise<PackageSource[]> {
  const time =
    atMs === undefined ? "a.until_time is null" : "a.from_time <= ? and (a.until_time is null or a.until_time > ?)";
  const attached = await select<{
    manifest: string;
    n: number;
    kind: string;
    layer: string;
    media_type: string;
    finish_time: number;
    trusted: number;
  }>(
    tx,
    `select d.manifest, d.n, d.kind, d.layer, d.media_type, r.finish_time, a.trusted from attachments as a
     join attached_readings as r on r.subject = a.subject and r.manifest = a.manifest and r.state = ${CATALOG_STATE.done}
     join attached_documents as d on d.subject = a.subject and d.manifest = a.manifest and d.packages > 0 and ${IS_SIGNED_AS_ASKED}
     where a.repo = ? and a.subject = ? and ${time} order by a.from_time desc, d.time desc, d.manifest, d.n`,
    atMs === undefined ? [repo, digest] : [repo, digest, atMs, atMs],
  );
  const [read] = await selectRead(tx, digest, repo);
  const reported = await selectReported(tx, repo, digest);
  const readMs = read?.finish_time ?? 0;
  const documents = attached.map((row) => ({
    source: sourceOf(row.manifest, row.n),
    kind: row.kind,
    layer: row.layer,
    mediaType: row.media_type,
    readMs: row.finish_time,
    isClaim: row.trusted !== 1,
  }));
  return [
    ...documents.filter(({ isClaim }) => !isClaim),
    ...(read === undefined ? [] : [{ source: LAYERS, kind: LAYERS, readMs, isClaim: false }]),
    ...reported.map(({ uid, report_time: time }) => ({
      source: scanSource(uid),
      kind: "scan",
      readMs: time ?? 0,
      isClaim: false,
    })),
    ...documents.filter(({ isClaim }) => isClaim),
  ];
}

/**
 * The sources whose packages count for the image in the repo, the one that counts most first: the last trusted
 * document, our own reading of the layers, and what others attached. Each adds to those before it and takes nothing
 * away: a document that does not name a package says nothing about it. The report of a scanner counts where there is
 * neither a trusted document nor a reading. None when nothing is known of it.
 */
export async function countingSources(
  tx: Database,
  image: { repo: string; digest: string; atMs?: number | undefined },
): Promise<PackageSource[]> {
  return countingOf(await packageSources(tx, image));
}

/** Of the documents that others attached so many are added, the last attached ones: each may hold many packages. */
const MAX_CLAIMS = 20;

/** Those of the sources of an image that count. */
export function countingOf(sources: readonly PackageSource[]): PackageSource[] {
  const [first, ...more] = sources.filter(({ isClaim }) => !isClaim);
  const own = more.find(({ source }) => source === LAYERS);
  const claims = sources.filter(({ isClaim }) => isClaim).slice(0, MAX_CLAIMS);
  return [...(first === undefined ? [] : [first]), ...(own === undefined ? [] : [own]), ...claims];
}

/** Whether more is attached by others than is added. */
export function isCutOff(sources: readonly PackageSource[]): boolean {
  return sources.filter(({ isClaim }) => isClaim).length > MAX_CLAIMS;
}

/** The source of the packages of a bill of materials, by the uid of its scan. */
export function scanSource(uid: string): string {
  return `scan/${uid}`;
}
