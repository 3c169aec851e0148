import { Counter, type Registry } from "prom-client";
import type { ContentFault } from "../blobs/index.ts";
import { beginAtZero } from "../core/zeros.ts";

/** Metrics of stored content that is not as it should be. */
export interface ContentMetrics {
  /** A copy was found missing or damaged that was not known to be. */
  found(fault: ContentFault): void;
  /** Such a copy was replaced by one that was pushed. */
  replaced(): void;
}

const FAULTS: readonly ContentFault[] = ["missing", "wrong_size", "damaged"];

/** Registers the counters of stored content that is not as it should be. */
export function contentMetrics(registry: Registry): ContentMetrics {
  const faults = new Counter({
    name: "moorage_blobs_content_faults_total",
    help: "Blobs whose stored content was found missing, of another size, or not what the digest says.",
    labelNames: ["fault"],
    registers: [registry],
  });
  const replacements = new Counter({
    name: "moorage_blobs_content_replaced_total",
    help: "Blobs whose missing or damaged content was replaced by a copy that was pushed.",
    registers: [registry],
  });
  beginAtZero(faults, { fault: FAULTS });
  return { found: (fault) => faults.inc({ fault }), replaced: () => replacements.inc() };
}
