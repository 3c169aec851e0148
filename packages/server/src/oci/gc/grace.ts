import { Capability } from "@moorage/api";
import type { Call } from "../../core/call.ts";
import { Code, MoorageError } from "../../errors.ts";
import { type Exchange, tokenCovers } from "../request.ts";
import { extendGrace, type GraceContent } from "./grace-commands.ts";

/**
 * Whether to renew the grace of content before it is answered: at most once in a quarter of the grace, and only for a
 * caller with the right to push. The answer may be cached for another quarter, so that the client has at least half of
 * the grace left.
 */
export async function needsGrace(
  { deps: { config }, caller, name }: Exchange,
  call: Call,
  repo: string,
  touchedMs: number,
): Promise<boolean> {
  if (config.gcGraceMs === undefined || call.nowMs - touchedMs <= config.gcGraceMs / 4) return false;
  return tokenCovers(caller, name, ["push"]) && (await call.may(Capability.CAP_MANIFEST_CREATE, repo));
}

/**
 * Renews the grace of content before a client is answered that it exists. False when the content was removed meanwhile.
 * When the database accepts no writes, a GET is answered nevertheless, but a HEAD, which precedes a push, fails.
 */
export async function renewGrace(
  { req, deps, callData, name }: Exchange,
  kind: GraceContent["kind"],
  digest: string,
): Promise<boolean> {
  try {
    return (await deps.transactor.write(extendGrace, callData, { name, digest, kind })).held;
  } catch (error) {
    if (
      req.method === "GET" &&
      error instanceof MoorageError &&
      (error.code === Code.Unavailable || error.code === Code.ResourceExhausted)
    )
      return true;
    throw error;
  }
}
