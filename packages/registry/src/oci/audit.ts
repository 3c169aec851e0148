import { rejectedCaller } from "@moorage/platform/auth";
import { rejectionOf } from "@moorage/kernel/audit";
import { Code } from "@moorage/kernel/errors";
import { RegistryError } from "./errors.ts";
import type { Exchange } from "./request.ts";

const VERBS: Record<string, string> = { GET: "read", HEAD: "read" };

/**
 * Records a rejected request in the audit log: reads that are not allowed, and writes that were not made. A request
 * whose registry token covers too little is not recorded: the client is challenged to get a wider token, which is part
 * of the normal protocol.
 */
export function noteRejection({ req, deps, name, caller, callData }: Exchange, error: unknown): void {
  const verb = VERBS[req.method ?? ""] ?? "write";
  const rejection = rejectionOf(error, {
    writes: verb === "write",
    rejects: error instanceof RegistryError && error.isRejection,
  });
  if (
    rejection === undefined ||
    (rejection.code === Code.Unauthenticated && (caller.identity !== "" || req.headers.authorization === undefined))
  )
    return;
  const rejected = rejectedCaller(error) ?? caller;
  deps.auditor.note(
    { ...callData, caller: rejected },
    { method: `registry.${verb}`, resource: rejected.identity, ...(name !== "" && { repository: name }), ...rejection },
  );
}
