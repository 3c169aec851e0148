import { Counter, type Registry } from "prom-client";

/** Metrics of this server's audit log. */
export interface AuditMetrics {
  /** Counts rejections that were not written to the audit log. */
  dropped(count: number): void;
}

/** Registers the counter of rejections missing from the audit log. */
export function auditMetrics(registry: Registry): AuditMetrics {
  const dropped = new Counter({
    name: "moorage_audit_dropped_total",
    help: "Rejections missing from the audit log: too many in a short time, or the database did not accept them.",
    registers: [registry],
  });
  return { dropped: (count) => dropped.inc(count) };
}
