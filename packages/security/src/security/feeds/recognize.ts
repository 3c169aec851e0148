import path from "node:path";
import { isObject } from "@moorage/kernel/lib/json";
import { jsonOf, stemOf } from "./documents.ts";
import { type FeedFormat, isSnapshot } from "../records/formats.ts";
import { jsonMembers } from "./json-members.ts";
import { kindOf, type Part, partsOf } from "./parts.ts";
import { SourceError, UnreadableRecord } from "../records/record.ts";

/** What a source is. */
export interface Recognized {
  /** `export`: what `moorage feeds export` wrote. */
  format: FeedFormat | "export";
  /** It has all records of a feed, so that its name can be that of the feed. */
  isSnapshot: boolean;
}

// Of an archive or a folder so many files are looked at, and of a file so many bytes.
const MAX_PARTS = 100;
const MAX_BYTES = 16 << 20;
const MAX_ENTRY_LENGTH = 1 << 20;
const EXPORT = '{"moorage":"feeds"';

/**
 * What a source has, by its content: that of the first file in it that is of a known format. Throws a SourceError when
 * it cannot be opened, or is of none.
 */
export async function recognized(source: string): Promise<Recognized> {
  const kind = await kindOf(source);
  const isOneFile = kind === "plain" || kind === "gzip";
  let looked = 0;
  for await (const part of partsOf(source)) {
    const format = await formatOf(part);
    if (format === "export") return { format, isSnapshot: true };
    if (format !== undefined) return { format, isSnapshot: isSnapshot(format, { isOneFile }) };
    looked += 1;
    if (looked === MAX_PARTS) break;
  }
  throw new SourceError(
    `${path.basename(source)} is neither an export of feeds nor of a format that feeds have: add a feed, then name it with --feed`,
  );
}

/**
 * The name for a feed of a source: that of the file, without its endings and a date that each edition has anew. Empty
 * when nothing is left that can be a name.
 */
export function feedNameOf(source: string): string {
  return stemOf(path.basename(source).replace(/\.gz$/i, ""))
    .replace(/[-_.]?\d{4}-?\d{2}-?\d{2}$/, "")
    .replaceAll(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/^[^A-Za-z0-9]+/, "")
    .slice(0, 64);
}

async function formatOf(part: Part): Promise<FeedFormat | "export" | undefined> {
  let head: { text: string; isAll: boolean };
  try {
    head = await headOf(part);
  } catch (error) {
    if (error instanceof UnreadableRecord) return undefined;
    throw error;
  }
  const { text, isAll } = head;
  const [first = ""] = text.split("\n", 1);
  if (first.startsWith(EXPORT)) return "export";
  if (/^(?:#[^\n]*\n)?cve,epss,percentile\r?\n/.test(text)) return "epss";
  if (part.name.endsWith(".md")) return /^---\r?\n[\s\S]*?\nreleases:/.test(text) ? "endoflife" : undefined;
  if (!/^\s*\{/.test(text)) return undefined;
  if (isAll) {
    try {
      return formatOfDocument(jsonOf(text));
    } catch (error) {
      if (error instanceof UnreadableRecord) return undefined;
      throw error;
    }
  }
  return (await isTracker(part)) ? "debian-tracker" : undefined;
}

async function headOf(part: Part): Promise<{ text: string; isAll: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  let isAll = true;
  for await (const chunk of part.bytes()) {
    chunks.push(chunk);
    size += chunk.length;
    isAll = size <= MAX_BYTES;
    // An export may be large, and says in its first line what it is.
    if (!isAll || chunks[0]?.subarray(0, EXPORT.length).toString() === EXPORT) break;
  }
  return { text: Buffer.concat(chunks).toString("utf8"), isAll };
}

/** The format of one document. Sources: those that the readers of the formats name. */
function formatOfDocument(document: unknown): FeedFormat | undefined {
  if (!isObject(document)) return undefined;
  const { "@context": context, document: about, vulnerabilities, result, id, modified } = document;
  if (typeof context === "string" && context.startsWith("https://openvex.dev/ns")) return "openvex";
  if (isObject(about) && about["csaf_version"] !== undefined) return "csaf-vex";
  if (document["bomFormat"] === "CycloneDX") return Array.isArray(vulnerabilities) ? "cyclonedx-vex" : undefined;
  if (Array.isArray(vulnerabilities))
    return vulnerabilities.some((each) => isObject(each) && each["cveID"] !== undefined) ? "kev" : undefined;
  if (document["distroversion"] !== undefined && Array.isArray(document["packages"])) return "alpine-secdb";
  if (typeof id === "string" && typeof modified === "string") return "osv";
  const products: unknown[] = Array.isArray(result) ? result : [result];
  if (products.some((each) => isObject(each) && Array.isArray(each["releases"]))) return "endoflife";
  return Object.values(document).some((entries) => isObject(entries) && Object.values(entries).some(isTracked))
    ? "debian-tracker"
    : undefined;
}

/** Whether a document that is too large for memory is Debian's tracker, by the first entry in it. */
async function isTracker(part: Part): Promise<boolean> {
  try {
    for await (const { text } of jsonMembers(part.bytes(), { atDepth: 2, maxLength: MAX_ENTRY_LENGTH }))
      return text !== undefined && isTracked(jsonOf(text));
  } catch (error) {
    if (!(error instanceof UnreadableRecord || error instanceof SourceError)) throw error;
  }
  return false;
}

const isTracked = (entry: unknown): boolean => isObject(entry) && isObject(entry["releases"]);
