import { randomUUID } from "node:crypto";
import type { Clock } from "../lib/clock.ts";
import { ANONYMOUS, type CallData } from "./call.ts";

/**
 * A call of the server itself, anonymous and without an address. `requestId` identifies its log lines and audit
 * entries; empty for none.
 */
export function systemCall(nowMs: number, requestId = ""): CallData {
  return { caller: ANONYMOUS, requestId, nowMs, remoteAddress: "", userAgent: "" };
}

/** A call of the server itself, now, with an id of its own. */
export function systemCallNow(clock: Pick<Clock, "nowMs" | "agreedMs">): CallData {
  return { ...systemCall(clock.nowMs(), randomUUID()), agreedMs: clock.agreedMs() };
}
