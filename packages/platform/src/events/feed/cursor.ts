import { hash } from "node:crypto";
import { openText, sealText } from "@moorage/kernel/aip/page-token";
import { invalidArgument } from "@moorage/kernel/errors";

/** The events that a reader follows. */
export interface FeedScope {
  /** The group whose events, and those of everything below it, are read. */
  group: string;
  /** Prefixes of full types; empty for all types. */
  typePrefixes: readonly string[];
  /** Prefixes of subjects; empty for all subjects. */
  subjectPrefixes: readonly string[];
  /** Of pushes and pulls only those by a tag. */
  taggedOnly: boolean;
}

/** A reader's position in the feed. */
export interface Position {
  /** All of its events up to this number have been read. */
  seq: number;
  /**
   * Names the event with this number (see markOf), so that another one with the same number is noticed: after the
   * database was replaced by an older copy of itself. Undefined when that event was not kept, or there was none.
   */
  mark?: string | undefined;
  /**
   * Events up to this number may have been removed without being missed: they were already too old when the reader
   * reached its position.
   */
  goneTo: number;
}

const MAX_LENGTH = 256;
// A page token is not accepted as a cursor, nor the reverse, although both are sealed with one key.
const PURPOSE = Buffer.from("moorage event cursor\0");

/**
 * Seals the position as text. Only this installation can make it, and it is valid only for the same scope, as long as
 * the events are retained.
 */
export function sealCursor(key: Uint8Array, scope: FeedScope, { seq, goneTo, mark = "" }: Position): string {
  const body = Buffer.from(JSON.stringify([fingerprint(scope), seq, goneTo, mark]));
  return sealText(key, body, PURPOSE);
}

/**
 * The position in a cursor. Throws INVALID_ARGUMENT on `cursor` for one that this installation did not make, or that
 * was made for another scope.
 */
export function openCursor(key: Uint8Array, scope: FeedScope, text: string): Position {
  const body = openText(key, text, MAX_LENGTH, PURPOSE);
  if (body === undefined) throw invalidArgument({ field: "cursor", description: "is not a cursor of events" });
  // Cursors of before there were marks have none.
  const [known, seq, goneTo, mark] = JSON.parse(body.toString()) as [string, number, number, string?];
  if (known !== fingerprint(scope))
    throw invalidArgument({ field: "cursor", description: "was given for another group or other filters" });
  return { seq, goneTo, mark: mark || undefined };
}

const fingerprints = new WeakMap<FeedScope, string>();

// Cached, because every event of a stream has a cursor of its own.
function fingerprint(scope: FeedScope): string {
  const known = fingerprints.get(scope);
  if (known !== undefined) return known;
  const { group, typePrefixes, subjectPrefixes, taggedOnly } = scope;
  const made = hash(
    "sha256",
    // Cursors from before there was the filter stay valid.
    JSON.stringify([group, typePrefixes.toSorted(), subjectPrefixes.toSorted(), ...(taggedOnly ? ["tagged"] : [])]),
    "base64url",
  ).slice(0, 22);
  fingerprints.set(scope, made);
  return made;
}
