/** The caller's trace and span, from its `traceparent` header. */
export interface TraceParent {
  traceId: string;
  spanId: string;
  flags: number;
}

const HEADER = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const SAMPLED = 1;

/** Parses the header. Undefined when it is invalid, and so must be ignored. Source: W3C Trace Context §3.2. */
export function parseTraceparent(header: string): TraceParent | undefined {
  const [, version = "ff", traceId = "", spanId = "", flags = "", rest] = HEADER.exec(header) ?? [];
  // Later versions may have more fields after a dash; version 00 may not.
  if (version === "ff" || (version === "00" && rest !== undefined) || /^0+$/.test(traceId) || /^0+$/.test(spanId))
    return undefined;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) & SAMPLED };
}
