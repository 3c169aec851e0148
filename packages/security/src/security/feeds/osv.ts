import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { isObject } from "@moorage/kernel/lib/json";
import { isWebUrl } from "@moorage/kernel/lib/web-url";
import { documentRecords } from "./documents.ts";
import { timeAt } from "../records/fields.ts";
import schema from "./osv-schema.json" with { type: "json" };
import type { Part } from "./parts.ts";
import { type FeedPackage, type Read, recordOf, UnreadableRecord } from "../records/record.ts";
import { type Rating, ratingOf, UNRATED, wordSeverity } from "../records/severity.ts";

/** The largest record, in bytes; the largest that are published have a few megabytes. */
const MAX_RECORD_BYTES = 16 << 20;

/** The fields of an OSV record that are read here, once it is valid. Source: OSV schema 1.7. */
interface OsvRecord {
  id: string;
  modified: string;
  withdrawn?: string;
  aliases?: string[] | null;
  upstream?: string[] | null;
  severity?: OsvSeverity[] | null;
  references?: { url: string }[] | null;
  affected?:
    | {
        package?: FeedPackage;
        severity?: OsvSeverity[] | null;
        ecosystem_specific?: object;
        database_specific?: object;
      }[]
    | null;
  database_specific?: object;
}

interface OsvSeverity {
  type: string;
  score: string;
}

/**
 * Reads a record of OSV from a file of its own. The body is the record as it was published, without references that
 * lead to no page, such as `javascript:`.
 */
export async function* osvRecords(part: Part): AsyncGenerator<Read> {
  if (part.isWhole || part.name.endsWith(".json"))
    yield* documentRecords(part, (document) => [osvRecord(document)], { maxBytes: MAX_RECORD_BYTES });
}

/** The record that a document is. Throws an UnreadableRecord that names the field. */
export function osvRecord(document: unknown): Read {
  validate ??= compiled();
  if (!validate(document)) throw new UnreadableRecord(complaint(validate));
  // Just validated.
  const record = document as OsvRecord;
  const affected = record.affected ?? [];
  return recordOf({
    id: record.id,
    modified: timeAt(record.modified, "modified"),
    withdrawn: record.withdrawn === undefined ? null : timeAt(record.withdrawn, "withdrawn"),
    aliases: [...new Set(record.aliases ?? [])],
    upstream: [...new Set(record.upstream ?? [])],
    packages: packagesOf(affected.flatMap((each) => each.package ?? [])),
    ...ratingOfRecord(record, affected),
    body: JSON.stringify(withWebReferences(record)),
  });
}

function withWebReferences(record: OsvRecord): OsvRecord {
  const { references } = record;
  return references?.every(({ url }) => isWebUrl(url)) === false
    ? { ...record, references: references.filter(({ url }) => isWebUrl(url)) }
    : record;
}

function packagesOf(all: readonly FeedPackage[]): FeedPackage[] {
  const found = new Map<string, FeedPackage>();
  for (const { ecosystem, name, purl } of all) found.set(JSON.stringify([ecosystem, name]), { ecosystem, name, purl });
  return [...found.values()];
}

function ratingOfRecord(record: OsvRecord, affected: NonNullable<OsvRecord["affected"]>): Rating {
  const vectors = [...(record.severity ?? []), ...affected.flatMap(({ severity }) => severity ?? [])];
  const rated = ratingOf(vectors);
  if (rated !== undefined) return rated;
  const words = [
    ...vectors.filter(({ type }) => type === "Ubuntu").map(({ score }) => score),
    ...[
      record.database_specific,
      ...affected.flatMap((each) => [each.ecosystem_specific, each.database_specific]),
    ].flatMap((specific) => (isObject(specific) ? [specific["severity"], specific["urgency"]] : [])),
  ];
  return { ...UNRATED, severity: wordSeverity(...words) };
}

let validate: ValidateFunction | undefined;

function compiled(): ValidateFunction {
  const ajv = new Ajv2020({ strict: false, validateFormats: true });
  formats.default(ajv);
  return ajv.compile(open(schema) as object);
}

/** Real records have short hashes in ranges of commits, of which nothing is read here. */
const COMMITS = "GIT ranges must use full-length commit hashes";

/**
 * The schema without its lists of what is known today: ids, ecosystems, types and fields that came later, or that an
 * operator gives to records of their own, are no errors.
 */
function open(part: unknown, name = ""): unknown {
  if (Array.isArray(part)) return part.map((each) => open(each));
  if (!isObject(part)) return part;
  if (part["title"] === COMMITS) return {};
  if (name === "prefix") return { type: "string", minLength: 1 };
  if (name === "ecosystemWithSuffix") return { type: "string", minLength: 1 };
  return Object.fromEntries(
    Object.entries(part)
      .filter(
        ([key, value]) => !(key === "enum" && Array.isArray(value)) && key !== "additionalProperties" && key !== "$id",
      )
      .map(([key, value]) => [key, open(value, key)]),
  );
}

function complaint({ errors }: ValidateFunction): string {
  // Of several forms of which none fits, the last error says so; those before it are each about one form.
  const first = errors?.findLast(({ keyword }) => keyword === "oneOf") ?? errors?.[0];
  if (first === undefined) return "is not an OSV record";
  const params = first.params as { missingProperty?: string };
  const segments = [
    ...first.instancePath.split("/").slice(1),
    ...(params.missingProperty === undefined ? [] : [params.missingProperty]),
  ];
  const field = segments.reduce(
    (path, each) => (/^\d+$/.test(each) ? `${path}[${each}]` : path === "" ? each : `${path}.${each}`),
    "",
  );
  return `${field || "the record"}: ${params.missingProperty === undefined ? complaintOf(first) : "is missing"}`;
}

function complaintOf({ keyword, message = "is not valid" }: ErrorObject): string {
  return keyword === "oneOf" ? "has none of the forms that the schema allows" : message;
}
