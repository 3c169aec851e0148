import type { Call } from "@moorage/kernel/core/call";
import { type Database, select } from "@moorage/kernel/store";
import { countingSources } from "../attached/sources.ts";
import type { ImageAsOf } from "../images/image-packages.ts";
import { imagesBehind } from "../images/images.ts";
import { findingsOfImage, type ImageFinding } from "../findings/read.ts";
import type { KnownVulnerabilities } from "../findings/vulnerabilities.ts";
import { weighFindings } from "../images/weights.ts";

/** What is known of the vulnerabilities of an image, or of all images of an index. */
export interface ImageReport {
  digest: string;
  /** When it came to say what it says, in milliseconds since 1970. */
  createdMs: number;
  /** Those that are open, each once for a package, in the order of purls and ids. */
  findings: ImageFinding[];
}

type Caller = Pick<Call, "tx" | "requireCaller" | "weigh">;

/** The most images of an index that are looked at. */
const MAX_IMAGES = 200;

/**
 * The report about an image of a repo, as of a time if `atMs` says one. Undefined when nothing is known of what it
 * holds. `known`: what the call has read of vulnerabilities. Checks no rights: the caller of this function does.
 */
export async function imageReport(
  call: Caller,
  image: ImageAsOf,
  known: KnownVulnerabilities = new Map(),
): Promise<ImageReport | undefined> {
  const open = await openFindings(call, image, known);
  if (open === undefined) return undefined;
  let createdMs = 0;
  const seen = (ms: number | null): void => {
    createdMs = Math.max(createdMs, Math.min(ms ?? 0, image.atMs ?? Infinity));
  };
  for (const digest of open.digests) {
    const one = { ...image, digest };
    for (const { readMs } of await countingSources(call.tx, one)) seen(readMs);
    for (const each of (await findingsOfImage(call.tx, { ...one, state: "closed" }, known, call)) ?? []) {
      seen(each.sinceMs);
      seen(each.closedMs);
    }
  }
  for (const { records } of open.findings) for (const { openedMs } of records) seen(openedMs);
  return { digest: image.digest, createdMs, findings: open.findings };
}

/** The open findings of an image, with the images that they are of. Undefined when nothing is known of any of them. */
export async function openFindings(
  call: Caller,
  image: ImageAsOf,
  known: KnownVulnerabilities,
): Promise<{ digests: string[]; findings: ImageFinding[] } | undefined> {
  const found = new Map<string, ImageFinding>();
  const digests: string[] = [];
  for (const digest of (await imagesBehind(call.tx, image.repo, image.digest)).slice(0, MAX_IMAGES)) {
    call.requireCaller();
    const sources = await weighFindings(call, { ...image, digest });
    const findings = await findingsOfImage(call.tx, { ...image, digest, state: "open", sources }, known, call);
    if (findings === undefined) continue;
    digests.push(digest);
    for (const each of findings) {
      const key = `${each.package.purl}\n${each.package.id}\n${each.vulnerability.id}`;
      if (!found.has(key)) found.set(key, each);
    }
  }
  if (digests.length === 0) return undefined;
  const sorted = [...found].sort(([a], [b]) => (a < b ? -1 : 1));
  return { digests, findings: sorted.map(([, finding]) => finding) };
}

/**
 * The bytes of an image: its configuration and its layers, compressed. Of an index those of its image for amd64, or of
 * its first one. 0 when they are not known.
 */
export async function imageBytes(tx: Database, repo: string, digest: string): Promise<number> {
  const rows = await select<{ architecture: string | null; image_size: number | null }>(
    tx,
    `select m.architecture, m.image_size from manifests as m where m.repo = ? and m.image_size is not null
     and (m.digest = ? or m.digest in (select r.target from manifest_references as r where r.repo = ? and r.digest = ? and r.kind = 'manifest'))
     order by m.digest limit ${MAX_IMAGES}`,
    [repo, digest, repo, digest],
  );
  const image = rows.find(({ architecture }) => architecture === "amd64") ?? rows[0];
  return Number(image?.image_size ?? 0);
}

/**
 * When the feeds were last read without an error, in milliseconds since 1970: what a report rests on. Undefined when
 * none was, or only after that time.
 */
export async function feedsReadMs(tx: Database, atMs = Infinity): Promise<number | undefined> {
  const rows = await tx.selectFrom("feeds").select("success_time").where("success_time", "is not", null).execute();
  const times = rows.map(({ success_time: ms }) => Number(ms)).filter((ms) => ms <= atMs);
  return times.length === 0 ? undefined : Math.max(...times);
}
