import { ANONYMOUS, type CallData } from "./call.ts";

/**
 * A call of the server itself, anonymous and without an address. `requestId` identifies its log lines and audit
 * entries; empty for none.
 */
export function systemCall(nowMs: number, requestId = ""): CallData {
  return { caller: ANONYMOUS, requestId, nowMs, remoteAddress: "", userAgent: "" };
}
