import { newUid } from "../lib/uid.ts";
import type { Call, CallData } from "../core/call.ts";
import { Code, type MoorageError } from "../errors.ts";
import { type Database, statement } from "../store/index.ts";

/** What was done or refused. Texts are cut to what the log keeps. */
export interface AuditEvent {
  /** The full name of a method of the API, or a verb such as `registry.manifest.put`. */
  method: string;
  /** The uid of what it was done to. Empty: there is none, or it is not known. */
  resource: string;
  /** Set where the resource is an organization: other resources at the root belong to none. */
  isOrganization?: boolean;
  /** Default: it was done. */
  decision?: "allowed" | "denied";
  /** The code it was answered with; 0 where it was done. */
  code?: number;
  /** Why it was refused, in words of ours. */
  reason?: string;
  /** Never a secret, and what a caller made up only where it was taken in. */
  details?: Readonly<Record<string, string>>;
  /** Instead of the caller's, where the call is what makes somebody a caller. */
  identity?: string;
  tokenId?: string;
  act?: Readonly<Record<string, unknown>>;
  /** The server did it by itself. */
  isSystem?: boolean;
}

/** The numbers of AuditDecision. */
const DECISIONS = { allowed: 1, denied: 2 } as const;
const MAX_USER_AGENT_CHARS = 256;
const MAX_REASON_CHARS = 256;
const MAX_DETAIL_CHARS = 1024;
// A uid of 40 digits and seventeen more for each level: as deep as anything is, and no caller's way to fill the log.
const MAX_RESOURCE_CHARS = 40 + 17 * 16;

const COLUMNS =
  "uid, parent, organization, create_time, identity, token_id, act, method, decision, code, reason, details, request_id, remote_address, user_agent";
const insert = statement(`insert into audit_entries (${COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);

/** Writes an entry in the call's transaction: it is there if, and only if, what the transaction does is. */
export async function audit(call: Call, event: AuditEvent): Promise<void> {
  const { resource, isOrganization = false } = event;
  const cut = resource.indexOf("/");
  await writeEntry(call.tx, call, event, cut > 0 ? resource.slice(0, cut) : isOrganization ? resource : "");
}

/** Writes an entry of that organization; empty for none. */
export async function writeEntry(tx: Database, data: CallData, event: AuditEvent, organization: string): Promise<void> {
  const { method, decision = "allowed", code = 0, reason = "", details = {}, isSystem = false } = event;
  const { caller } = data;
  const parent = event.resource.length > MAX_RESOURCE_CHARS ? organization : event.resource;
  const act = isSystem ? { actor: "system" } : actOf(event.act ?? caller.act ?? {});
  await insert(
    tx,
    newUid(parent),
    parent,
    organization,
    data.nowMs,
    event.identity ?? caller.identity,
    event.tokenId ?? caller.tokenId ?? "",
    JSON.stringify(act),
    method,
    DECISIONS[decision],
    code,
    cutTo(reason, MAX_REASON_CHARS),
    JSON.stringify(detailsOf(details)),
    data.requestId,
    data.remoteAddress,
    cutTo(data.userAgent, MAX_USER_AGENT_CHARS),
  );
}

/** Issuer and subject alone: other claims may say more of a person than who it is. */
function actOf({ iss, sub }: Readonly<Record<string, unknown>>): Record<string, string> {
  return {
    ...(typeof iss === "string" && { iss: cutTo(iss, MAX_DETAIL_CHARS) }),
    ...(typeof sub === "string" && { sub: cutTo(sub, MAX_DETAIL_CHARS) }),
  };
}

function detailsOf(details: Readonly<Record<string, string>>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(details)) kept[name] = cutTo(value, MAX_DETAIL_CHARS);
  return kept;
}

// A zero is text to SQLite and none to PostgreSQL, and so is half of a surrogate pair.
function cutTo(text: string, chars: number): string {
  return text.slice(0, chars).replaceAll("\0", "").toWellFormed();
}

/** Why something was refused, as far as it can be said in words of ours: the message may hold what a caller sent. */
export function reasonOf({
  code,
  reason,
  details: { metadata = {}, preconditionViolations = [] },
}: MoorageError): string {
  const { reason: given, missing, capability, ociCode } = metadata;
  if (given !== undefined) return given;
  if (preconditionViolations.length > 0) return [...new Set(preconditionViolations.map(({ type }) => type))].join(", ");
  const lacking = missing ?? (code === Code.PermissionDenied ? capability : undefined);
  return lacking === undefined ? (ociCode ?? reason) : `lacks ${lacking}`;
}
