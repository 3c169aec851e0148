import type { LibraryExchange } from "./exchange.ts";
import { blockedError, wholeBlockedError } from "../policies/errors.ts";
import type { Gate } from "../policies/gate.ts";
import type { BlockedVersion, VersionFacts, WholeBlock } from "../policies/judge.ts";

/**
 * For a file or a version that a client asks for by its URL: notes what is against the version, and in `enforce` throws
 * 403 with the reason. Answers whether something was noted of a version that is given all the same.
 */
export function requireOpen(exchange: LibraryExchange, gate: Gate, facts: VersionFacts): boolean {
  if (gate.mode === "none") return false;
  const verdict = gate.verdictOn(facts);
  if (verdict === undefined) return false;
  noteBlocked(exchange, gate, { version: facts.version, verdict });
  if (gate.mode === "enforce") throw blockedError(gate.artifact.name, facts.version, verdict);
  return true;
}

/** For a document: throws 409 when an artifact has versions and none of them may be shown, which is noted. */
export function requireSome(exchange: LibraryExchange, gate: Gate, whole: WholeBlock | undefined): void {
  if (whole === undefined) return;
  noteBlocked(exchange, gate, whole.last);
  throw wholeBlockedError(gate.artifact.name, whole);
}

/**
 * Notes a version that a client did not get, or in `preview` would not have got, for the list of blocks: of a document
 * the one that would be its latest, on every request, those that are answered from memory too.
 */
export function noteBlocked(
  exchange: LibraryExchange,
  { mode, artifact }: Gate,
  blocked: BlockedVersion | undefined,
): void {
  if (blocked === undefined || mode === "none") return;
  const { deps, callData } = exchange;
  exchange.isRecorded = true;
  const { group, ecosystem, name } = artifact;
  deps.blocks.note(callData, { group, ecosystem: ecosystem.number, name, ...blocked, mode });
}
