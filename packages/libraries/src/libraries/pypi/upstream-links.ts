import { Parser } from "htmlparser2";
import { createTurns } from "@moorage/kernel/lib/turns";

/** A page is read in steps of some milliseconds. */
const PIECE_BYTES = 8 * 1024;
const MAX_BASE_CHARS = 500;
const MAX_FRAGMENT_CHARS = 1_000;

/** What a page says of a file, unchecked, by the names of the JSON form. */
export type Entry = Readonly<Record<string, unknown>>;

/**
 * The links of a page in HTML as entries, and its version of the simple API where it says one. The sums of files are in
 * the fragments of the links; a file's name is the last segment of its link, as pip reads it. Sources: PEP 503, 592,
 * 629, 658, 714, 740.
 */
export async function linksOf(
  bytes: Uint8Array,
  url: string,
): Promise<{ entries: readonly Entry[]; version: string | undefined }> {
  const entries: Entry[] = [];
  let base = url;
  let version: string | undefined;
  const parser = new Parser({
    onopentag(tag, attributes) {
      if (tag === "a") entries.push(...entryOf(attributes, base));
      else if (tag === "base" && attributes["href"] !== undefined) base = baseOf(attributes["href"], url);
      else if (tag === "meta" && attributes["name"] === "pypi:repository-version") version = attributes["content"];
    },
  });
  const turn = createTurns();
  const decoder = new TextDecoder();
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    parser.write(decoder.decode(bytes.subarray(at, at + PIECE_BYTES), { stream: true }));
    await turn();
  }
  parser.end();
  return { entries, version };
}

/** A base that is longer than any is not taken. */
function baseOf(href: string, url: string): string {
  const base = URL.parse(href, url)?.href ?? url;
  return base.length > MAX_BASE_CHARS ? url : base;
}

function entryOf(attributes: Readonly<Record<string, string>>, base: string): Entry[] {
  const url = attributes["href"] === undefined ? null : URL.parse(attributes["href"], base);
  if (url === null) return [];
  const metadata = attributes["data-core-metadata"] ?? attributes["data-dist-info-metadata"];
  const hashes = sumsIn(url.hash.slice(1, MAX_FRAGMENT_CHARS));
  return [
    {
      filename: lastSegment(url.pathname),
      url: url.href,
      hashes,
      "requires-python": attributes["data-requires-python"],
      yanked: attributes["data-yanked"],
      "core-metadata": metadata === undefined ? undefined : metadata.includes("=") ? sumsIn(metadata) : true,
      provenance: attributes["data-provenance"],
    },
  ];
}

/** `sha256=<hex>`, of which there may be more with `&` between them. */
function sumsIn(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text));
}

function lastSegment(path: string): string {
  const segment = path.slice(path.lastIndexOf("/") + 1);
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
