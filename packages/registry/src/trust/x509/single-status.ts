import type { ASN1Obj } from "@sigstore/core";
import { INVALIDITY_DATE } from "./revocation-list.ts";
import { timeIn } from "./times.ts";

/** What an authority says of a certificate. Times are since 1970, in milliseconds. */
export interface CertificateStatus {
  state: "good" | "revoked" | "unknown";
  fromMs: number;
  /** Until when that counts. */
  untilMs: number;
  /** When it was revoked. */
  revokedMs?: number;
  /** Since when somebody else may have its key; undefined where that is not said. */
  sinceMs?: number;
}

/** How far the clocks of authorities may be ahead. */
const MAX_AHEAD_MS = 5 * 60_000;

/** The status in a SingleResponse. Throws unless it holds now. Source: RFC 6960, section 4.2.1. */
export function singleStatus({ subs: [, said, from, ...more] }: ASN1Obj, nowMs: number): CertificateStatus {
  const until = more.find(({ tag }) => tag.isContextSpecific(0))?.subs[0];
  const extensions = more.find(({ tag }) => tag.isContextSpecific(1))?.subs[0];
  if (!said || !from) throw new Error("the answer lacks what it says, or since when");
  if (until === undefined) throw new Error("the answer does not say until when it counts (nextUpdate)");
  const bounds = boundsOf(timeIn(from), timeIn(until), nowMs);
  const invalid = invalidityIn(extensions);
  if (said.tag.isContextSpecific(0)) return { state: "good", ...bounds };
  if (said.tag.isContextSpecific(2)) return { state: "unknown", ...bounds };
  const [time] = said.subs;
  if (!said.tag.isContextSpecific(1) || time === undefined) throw new Error("what the answer says cannot be read");
  return { state: "revoked", ...bounds, revokedMs: timeIn(time), ...(invalid !== undefined && { sinceMs: invalid }) };
}

/** From when until when an answer or a list counts. Throws when that is not now. */
export function boundsOf(fromMs: number, untilMs: number, nowMs: number): { fromMs: number; untilMs: number } {
  const day = (ms: number): string => new Date(ms).toISOString();
  if (fromMs > nowMs + MAX_AHEAD_MS) throw new Error(`the answer counts from ${day(fromMs)} on, which is later`);
  if (untilMs <= nowMs) throw new Error(`the answer counted until ${day(untilMs)}`);
  return { fromMs, untilMs };
}

function invalidityIn(extensions: ASN1Obj | undefined): number | undefined {
  let found: number | undefined;
  for (const { subs } of extensions?.subs ?? []) {
    const oid = subs[0]?.toOID() ?? "";
    const date = subs.at(-1)?.subs[0];
    if (oid === INVALIDITY_DATE && date !== undefined) found = timeIn(date);
    else if (subs.length === 3 && subs[1]?.toBoolean() === true)
      throw new Error(`the critical extension ${oid} of the answer is not understood`);
  }
  return found;
}
