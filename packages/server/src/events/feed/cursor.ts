import { hash } from "node:crypto";
import { openText, sealText } from "../../aip/page-token.ts";
import { invalidArgument } from "../../errors.ts";

/** Which events a reader follows. */
export interface FeedScope {
  /** The group; all below it belongs to it. */
  group: string;
  /** Prefixes of full types; none: all types. */
  typePrefixes: readonly string[];
  /** Prefixes of subjects; none: all subjects. */
  subjectPrefixes: readonly string[];
}

/** How far a reader is. */
export interface Position {
  /** All of its events up to this number are read. */
  seq: number;
  /**
   * Events up to this number may be gone without being missed: they were too old already when the reader came to where
   * it is.
   */
  goneTo: number;
}

const MAX_LENGTH = 256;
// No page token is a cursor, and no cursor a page token, although one key seals both.
const PURPOSE = Buffer.from("moorage event cursor\0");

/**
 * Seals the position as text that only this installation makes and that is good for the same events alone, as long as
 * they are kept.
 */
export function sealCursor(key: Uint8Array, scope: FeedScope, { seq, goneTo }: Position): string {
  const body = Buffer.from(JSON.stringify([fingerprint(scope), seq, goneTo]));
  return sealText(key, body, PURPOSE);
}

/**
 * The position in a cursor. Throws INVALID_ARGUMENT on `cursor` for one that is not ours, or was given for other
 * events.
 */
export function openCursor(key: Uint8Array, scope: FeedScope, text: string): Position {
  const body = openText(key, text, MAX_LENGTH, PURPOSE);
  if (body === undefined) throw invalidArgument({ field: "cursor", description: "is not a cursor of events" });
  const [known, seq, goneTo] = JSON.parse(body.toString()) as [string, number, number];
  if (known !== fingerprint(scope))
    throw invalidArgument({ field: "cursor", description: "was given for another group or other filters" });
  return { seq, goneTo };
}

const fingerprints = new WeakMap<FeedScope, string>();

// Every event of a stream has a cursor of its own.
function fingerprint(scope: FeedScope): string {
  const known = fingerprints.get(scope);
  if (known !== undefined) return known;
  const { group, typePrefixes, subjectPrefixes } = scope;
  const made = hash(
    "sha256",
    JSON.stringify([group, typePrefixes.toSorted(), subjectPrefixes.toSorted()]),
    "base64url",
  ).slice(0, 22);
  fingerprints.set(scope, made);
  return made;
}
