import { rejectedCaller } from "../auth/index.ts";
import { rejectionOf } from "../audit/index.ts";
import { Code } from "../errors.ts";
import type { Exchange } from "./request.ts";

const VERBS: Record<string, string> = { GET: "read", HEAD: "read" };

/**
 * Has the auditor note a refused request: reads that are not allowed, changes that were not made. A token that covers
 * less than is asked for is none: clients are challenged to trade it, and do so all the time.
 */
export function noteRejection({ req, deps, name, caller, callData }: Exchange, error: unknown): void {
  const verb = VERBS[req.method ?? ""] ?? "write";
  const rejection = rejectionOf(error, { writes: verb === "write" });
  if (
    rejection === undefined ||
    (rejection.code === Code.Unauthenticated && (caller.identity !== "" || req.headers.authorization === undefined))
  )
    return;
  const held = rejectedCaller(error) ?? caller;
  deps.auditor.note(
    { ...callData, caller: held },
    { method: `registry.${verb}`, resource: held.identity, ...(name !== "" && { repository: name }), ...rejection },
  );
}
