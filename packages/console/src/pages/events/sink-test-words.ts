import type { TestSinkResponse } from "../../api/gen/events.ts";

/** `Delivered: the answer was 204, after 0.1 s`: what became of a test. */
export function sinkTestWords({ delivered, status, error, latency }: TestSinkResponse): string {
  const seconds = Number.parseFloat(latency ?? "");
  const after = Number.isFinite(seconds) ? `, after ${seconds.toFixed(1)} s` : "";
  if (delivered) return `Delivered: the answer was ${status}${after}`;
  return `Not delivered: ${status > 0 ? `the answer was ${status}` : error}${after}`;
}
