import { documentRecords } from "./documents.ts";
import { objectAt, textAt, timeAt } from "../records/fields.ts";
import type { Part } from "./parts.ts";
import { problemOf, type Read, recordOf, UnreadableRecord } from "../records/record.ts";

/**
 * Reads a catalog of vulnerabilities that are exploited, in the form of CISA's. A record has the id of the
 * vulnerability; its body is the entry.
 */
export async function* kevRecords(part: Part): AsyncGenerator<Read> {
  if (part.isWhole || part.name.endsWith(".json")) yield* documentRecords(part, read);
}

function* read(document: unknown): Generator<Read> {
  const list = objectAt(document, "the document")["vulnerabilities"];
  if (!Array.isArray(list)) throw new UnreadableRecord("vulnerabilities: must be a list");
  for (const [at, each] of (list as unknown[]).entries()) {
    const field = `vulnerabilities[${at}]`;
    let id = "";
    try {
      const entry = objectAt(each, field);
      id = textAt(entry["cveID"], `${field}.cveID`);
      yield recordOf(
        { id, modified: timeAt(entry["dateAdded"], `${field}.dateAdded`), body: JSON.stringify(entry) },
        `${field}.cveID`,
      );
    } catch (error) {
      yield problemOf(error, field, id);
    }
  }
}
