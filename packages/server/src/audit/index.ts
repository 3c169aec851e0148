// The audit log: entries of changes, written in their transactions, and of rejected requests.
export { auditArea } from "./area.ts";
export { type Auditor, createAuditor } from "./auditor.ts";
export {
  auditCommands,
  ENTRIES_PER_TRANSACTION,
  nextOrganization,
  noteRejections,
  type Rejection,
} from "./commands.ts";
export { audit, type AuditEvent, reasonOf } from "./entry.ts";
export { eventsOf, rejectionOf } from "./method.ts";
export { auditRetention, type RetentionDeps } from "./retention.ts";
