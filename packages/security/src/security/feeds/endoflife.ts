import { parseDocument } from "yaml";
import { documentRecords, jsonOf, stemOf } from "./documents.ts";
import { listAt, objectAt, productKey, textAt, textIfAny } from "../records/fields.ts";
import type { Part } from "./parts.ts";
import { problemOf, type Read, recordOf, UnreadableRecord } from "../records/record.ts";

// The largest page of a product, in bytes; real ones have some ten thousand.
const MAX_PAGE_BYTES = 1 << 20;

/**
 * Reads products of endoflife.date: pages with YAML front matter, whose records have the name of the file as id, or
 * the JSON of its API (`/api/v1/products/full`, or one product). The body is the product, with what its source names;
 * `releases` is a list in both. Source: https://endoflife.date.
 */
export async function* endOfLifeRecords(part: Part): AsyncGenerator<Read> {
  if (part.name.endsWith(".md"))
    yield* documentRecords(part, (page, name) => [productRecord(page, stemOf(name), "front matter")], {
      maxBytes: MAX_PAGE_BYTES,
      parse: frontMatterOf,
    });
  else if (part.isWhole || part.name.endsWith(".json")) yield* documentRecords(part, fromApi);
}

function* fromApi(document: unknown): Generator<Read> {
  const { result } = objectAt(document, "the document");
  for (const [at, product] of (Array.isArray(result) ? result : [result]).entries()) {
    const field = Array.isArray(result) ? `result[${at}]` : "result";
    let id = "";
    try {
      id = textAt(objectAt(product, field)["name"], `${field}.name`);
      yield productRecord(product, id, field);
    } catch (error) {
      yield problemOf(error, field, id);
    }
  }
}

function productRecord(product: unknown, id: string, field: string): Read {
  const fields = objectAt(product, field);
  const releases = listAt(fields["releases"], `${field}.releases`);
  if (releases.length === 0) throw new UnreadableRecord(`${field}.releases: has no release`);
  for (const [at, release] of releases.entries()) {
    const each = objectAt(release, `${field}.releases[${at}]`);
    textAt(String(each["releaseCycle"] ?? each["name"] ?? ""), `${field}.releases[${at}].releaseCycle`);
  }
  return recordOf(
    {
      id,
      // Products have no time of their own.
      modified: 0,
      products: identifiersOf(fields["identifiers"], `${field}.identifiers`),
      body: JSON.stringify(fields),
    },
    "name",
  );
}

/** The purls of a product: `{purl: …}` in pages, `{type: "purl", id: …}` in the API. */
function identifiersOf(list: unknown, field: string): string[] {
  const found = new Set<string>();
  for (const [at, each] of listAt(list, field).entries()) {
    const one = objectAt(each, `${field}[${at}]`);
    const purl = textIfAny(one["purl"] ?? (one["type"] === "purl" ? one["id"] : undefined), `${field}[${at}].purl`);
    if (purl !== undefined) found.add(productKey(purl));
  }
  return [...found];
}

function frontMatterOf(page: string): unknown {
  const [, yaml] = /^---\r?\n([\s\S]*?)\r?\n---(?:\r?\n|$)/.exec(page) ?? [];
  if (yaml === undefined) throw new UnreadableRecord("has no front matter");
  try {
    const document = parseDocument(yaml, { schema: "core", logLevel: "error" });
    const [error] = document.errors;
    if (error !== undefined) throw error;
    // Without aliases nothing can grow: a page of a few lines may otherwise expand to gigabytes.
    return jsonOf(JSON.stringify(document.toJS({ maxAliasCount: 0 }) ?? null));
  } catch (error) {
    const [reason] = (error instanceof Error ? error.message : String(error)).split("\n", 1);
    throw new UnreadableRecord(`front matter: ${reason}`, { cause: error });
  }
}
