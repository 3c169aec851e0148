import { Capability } from "@moorage/api";
import type { Call } from "../../core/call.ts";
import { Code, MoorageError } from "../../errors.ts";
import { type Exchange, tokenCovers } from "../request.ts";
import { extendGrace, type Wanted } from "./grace-commands.ts";

/**
 * Whether the grace of what is about to be answered is to be renewed: at most once in a quarter of it, and for those
 * alone who could push. The answer may be kept for another quarter, so that half of the grace is left to whoever gets
 * it.
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
 * Renews the grace of content before its client is told that it is there. False: it has gone meanwhile. Where nothing
 * can be written a GET is answered all the same; a HEAD, which is what comes before a push, is not.
 */
export async function renewGrace(
  { req, deps, callData, name }: Exchange,
  kind: Wanted["kind"],
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
