import type { Severity } from "./severity.ts";

/** A package that a record is about, as its source names it. */
export interface FeedPackage {
  ecosystem: string;
  name: string;
  purl?: string | undefined;
}

/** What one record of a feed says, whatever its format. */
export interface FeedRecord {
  /** Unique in its feed. */
  id: string;
  /** When the source changed it last, in milliseconds since 1970. */
  modified: number;
  /** Since when it does not hold any more, in milliseconds since 1970. */
  withdrawn: number | null;
  /** Other ids of the same vulnerability. The source asserts this; another one may differ. */
  aliases: string[];
  /**
   * Ids of the vulnerabilities that it is a record of in packages of its own, as distributions publish them. It says
   * nothing about them elsewhere, and two of them are not the same. See `upstream` of OSV's schema.
   */
  upstream: string[];
  /** Ids of the vulnerabilities that it says something about without being a record of one, as VEX documents do. */
  about: string[];
  packages: FeedPackage[];
  /** Products that it names: purls without a version, or what the source calls them. */
  products: string[];
  severity: Severity;
  /** CVSS, 0 to 10. Null when the source gives no vector. */
  score: number | null;
  /** The content as JSON. Formats whose records are parts of a document say in their readers what it has. */
  body: string;
}

/** Why something could not be read. */
export interface FeedProblem {
  /** The id of the record, as far as it is known; empty otherwise. What was stored under it stays. */
  id: string;
  /** Where it is: the name of the file in an archive, the path in a document, or the line. */
  position: string;
  /** One line that names the field. */
  message: string;
}

/** UNREADABLE: it could not be read, and is not stored. UNMATCHED: it is stored, and all or a part matches nothing. */
export type ProblemKind = "UNREADABLE" | "UNMATCHED";

/** A problem as it is stored. */
export interface KeptProblem extends FeedProblem {
  kind: ProblemKind;
}

/** What a reader yields. */
export type Read = { record: FeedRecord; problem?: never } | { problem: FeedProblem; record?: never };

/** A record cannot be read. The message names the field. */
export class UnreadableRecord extends Error {}

/** A source cannot be read as a whole. The message is one line for the operator. */
export class SourceError extends Error {}

/** A source is larger than allowed. */
export class SourceTooLarge extends SourceError {}

// The longest id and the longest key that are stored, in bytes: PostgreSQL's indexes have rows of 2,704 bytes at most.
const MAX_ID_BYTES = 500;
const MAX_KEY_BYTES = 1_000;
// The most that one record is found by.
const MAX_KEYS = 20_000;
// The most that is stored of a problem, in characters.
const MAX_MESSAGE_LENGTH = 500;
const MAX_POSITION_LENGTH = 300;

/** A record with what most records lack. Throws an UnreadableRecord when the id cannot be one. */
export function recordOf(
  given: Pick<FeedRecord, "id" | "modified" | "body"> & Partial<FeedRecord>,
  idField = "id",
): Read {
  const record: FeedRecord = {
    withdrawn: null,
    aliases: [],
    upstream: [],
    about: [],
    packages: [],
    products: [],
    severity: "UNKNOWN",
    score: null,
    ...given,
  };
  checkRecord(record, idField);
  return { record };
}

/** Throws an UnreadableRecord unless the record can be stored and found. */
function checkRecord({ id, aliases, upstream, about, packages, products }: FeedRecord, idField: string): void {
  if (!isId(id) || id === "")
    throw new UnreadableRecord(`${idField}: must be an id of at most ${MAX_ID_BYTES} bytes without spaces`);
  const names = packages.flatMap(({ ecosystem, name }) => [ecosystem, name]);
  const keys = { aliases, upstream, about, packages: names, products };
  for (const [field, texts] of Object.entries(keys))
    if (texts.some((text) => /\p{C}/u.test(text) || Buffer.byteLength(text) > MAX_KEY_BYTES))
      throw new UnreadableRecord(
        `${field}: has a text with control characters, or of more than ${MAX_KEY_BYTES} bytes`,
      );
  const count = aliases.length + upstream.length + about.length + packages.length + products.length;
  if (count > MAX_KEYS)
    throw new UnreadableRecord(`has ${count} packages, aliases and products, more than ${MAX_KEYS}`);
}

const isId = (text: string): boolean => /^[^\p{C}\s]*$/u.test(text) && Buffer.byteLength(text) <= MAX_ID_BYTES;

/** The problem that an error is. Other errors than an UnreadableRecord are thrown again. */
export function problemOf(error: unknown, position: string, id = ""): Read {
  if (!(error instanceof UnreadableRecord)) throw error;
  const known = isId(id) ? id : "";
  return {
    problem: {
      id: known,
      position: oneLine(position, MAX_POSITION_LENGTH),
      message: oneLine(error.message, MAX_MESSAGE_LENGTH),
    },
  };
}

/** One line without control characters and lone surrogates, which PostgreSQL and terminals do not take. */
function oneLine(text: string, maxLength: number): string {
  return text
    .toWellFormed()
    .replaceAll(/\p{C}+/gu, " ")
    .slice(0, maxLength)
    .toWellFormed();
}

/** Ids of vulnerabilities are compared without regard to case. */
export const vulnerabilityKey = (id: string): string => id.toLowerCase();
