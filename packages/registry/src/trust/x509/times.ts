import type { ASN1Obj } from "@sigstore/core";

/** A UTCTime or GeneralizedTime, in milliseconds since 1970. Throws for others, and for days that there are not. */
export function timeIn(element: ASN1Obj): number {
  const ms = element.toDate().getTime();
  if (Number.isNaN(ms)) throw new Error("a time cannot be read");
  return ms;
}
