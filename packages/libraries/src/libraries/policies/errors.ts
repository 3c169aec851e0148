import { Code, MoorageError } from "@moorage/kernel/errors";
import { isoTime } from "@moorage/kernel/lib/timestamps";
import type { Verdict, WholeBlock } from "./judge.ts";

// npm prints the `error` of the body, pip and Maven the reason phrase: each message is one line.

/** The error of a blocked version: 403 with the reason and, where it opens by itself, when. */
export function blockedError(name: string, version: string, verdict: Verdict): Error {
  return blocked(403, `${name}@${version} ${reasonOf(verdict)}`);
}

/**
 * The error of a package of which every version is blocked: 409 with the reason of the latest, and when the first one
 * opens.
 */
export function wholeBlockedError(name: string, { last, opensMs }: WholeBlock): Error {
  const opens = opensMs === undefined ? "" : `; the first opens at ${isoTime(opensMs)}`;
  return blocked(409, `every version of ${name} is blocked: ${last.version} ${reasonOf(last.verdict)}${opens}`);
}

/** No rejection of the audit log, which has what callers lack: blocks have a list of their own. */
function blocked(httpStatus: number, words: string): Error {
  return new MoorageError(Code.FailedPrecondition, `Blocked: ${words}`, {
    metadata: { httpStatus: String(httpStatus) },
  });
}

function reasonOf({ reason, detail, opensMs }: Verdict): string {
  switch (reason) {
    case "cooldown":
      return `is too young: it opens at ${opensMs === undefined ? "no known time" : isoTime(opensMs)}`;
    case "malware":
      return `is malware by ${detail}`;
    case "purl":
      return `is blocked by the rule ${detail}`;
    case "license":
      return detail === "" ? "has no known license" : `has the license ${detail}, which is not allowed`;
  }
}
