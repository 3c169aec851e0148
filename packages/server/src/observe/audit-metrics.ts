import { Counter, type Registry } from "prom-client";

/** The audit log of this server. */
export interface AuditMetrics {
  /** Rejections that were not written. */
  dropped(count: number): void;
}

/** Counts what the audit log does not have. */
export function auditMetrics(registry: Registry): AuditMetrics {
  const dropped = new Counter({
    name: "moorage_audit_dropped_total",
    help: "Rejections that the audit log does not have: too many in a short time, or the database did not take them.",
    registers: [registry],
  });
  return { dropped: (count) => dropped.inc(count) };
}
