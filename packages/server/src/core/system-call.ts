import { ANONYMOUS, type CallData } from "./call.ts";

/**
 * A call of the server itself: by nobody and from nowhere. `requestId`: what its log lines and audit entries are found
 * by; empty for none.
 */
export function systemCall(nowMs: number, requestId = ""): CallData {
  return { caller: ANONYMOUS, requestId, nowMs, remoteAddress: "", userAgent: "" };
}
