// The audit log: entries of changes, written in their transactions, and of rejected requests.
export { auditArea } from "./area.ts";
export { type Auditor, createAuditor } from "./auditor.ts";
export { audit, type AuditEvent } from "./entry.ts";
export { eventsOf, rejectionOf } from "./method.ts";
export { auditRetention } from "./retention.ts";
