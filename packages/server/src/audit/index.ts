// Who did what: written with what is done, and noted where it was refused.
export { type Auditor, createAuditor } from "./auditor.ts";
export { auditCommands, ENTRIES_AT_ONCE, nextOrganization, noteRejections, type Rejection } from "./commands.ts";
export { audit, type AuditEvent, reasonOf } from "./entry.ts";
export { eventsOf, rejectionOf } from "./method.ts";
export { auditRetention, type RetentionDeps } from "./retention.ts";
