import { newUid } from "../lib/uid.ts";
import type { Call, CallData } from "../core/call.ts";
import { Code, type MoorageError } from "../errors.ts";
import { type Database, statement } from "../store/index.ts";

/** Something that was done or rejected. Long texts are truncated. */
export interface AuditEvent {
  /** The full name of a method of the API, or a verb such as `registry.manifest.put`. */
  method: string;
  /** The uid of the resource. Empty if there is none, or if it is not known. */
  resource: string;
  /** Set when the resource is an organization: other resources at the root belong to no organization. */
  isOrganization?: boolean;
  /** Defaults to allowed. */
  decision?: "allowed" | "denied";
  /** The error code of the response; 0 on success. */
  code?: number;
  /** Why it was rejected, in the server's words: it never contains text of the request. */
  reason?: string;
  /** Never contains a secret, and text of the request only if the request was accepted. */
  details?: Readonly<Record<string, string>>;
  /** Replaces the caller's identity, for calls that authenticate the caller, such as a sign-in. */
  identity?: string;
  tokenId?: string;
  act?: Readonly<Record<string, unknown>>;
  /** Set when the server did it by itself. */
  isSystem?: boolean;
}

/** The numbers of AuditDecision. */
const DECISIONS = { allowed: 1, denied: 2 } as const;
const MAX_USER_AGENT_CHARS = 256;
const MAX_REASON_CHARS = 256;
const MAX_DETAIL_CHARS = 1024;
// A uid has 40 characters and 17 more per level, at most 16 levels: this limits how much of the log a request can fill.
const MAX_RESOURCE_CHARS = 40 + 17 * 16;

const COLUMNS =
  "uid, parent, organization, create_time, identity, token_id, act, method, decision, code, reason, details, request_id, remote_address, user_agent";
const insert = statement(
  `insert into audit_entries (${COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  [
    "text", // uid
    "text",
    "text",
    "bigint", // create_time
    "text",
    "text",
    "text",
    "text",
    "bigint", // decision
    "bigint",
    "text",
    "text",
    "text",
    "text",
    "text",
  ],
);

/** Writes an entry in the call's transaction, so that it is committed or rolled back together with the change. */
export async function audit(call: Call, event: AuditEvent): Promise<void> {
  const { resource, isOrganization = false } = event;
  const cut = resource.indexOf("/");
  await writeEntry(call.tx, call, event, cut > 0 ? resource.slice(0, cut) : isOrganization ? resource : "");
}

/** Writes an entry for the organization; empty for none. */
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
    JSON.stringify(detailsOf({ ...details, ...(caller.client !== undefined && { client: caller.client }) })),
    data.requestId,
    data.remoteAddress,
    cutTo(data.userAgent, MAX_USER_AGENT_CHARS),
  );
}

/** Keeps only issuer and subject: other claims may be personal data. */
function actOf({ iss, sub }: Readonly<Record<string, unknown>>): Record<string, string> {
  return {
    ...(typeof iss === "string" && { iss: cutTo(iss, MAX_DETAIL_CHARS) }),
    ...(typeof sub === "string" && { sub: cutTo(sub, MAX_DETAIL_CHARS) }),
  };
}

function detailsOf(details: Readonly<Record<string, string>>): Record<string, string> {
  const stored: Record<string, string> = {};
  for (const [name, value] of Object.entries(details)) stored[name] = cutTo(value, MAX_DETAIL_CHARS);
  return stored;
}

// PostgreSQL rejects null characters and unpaired surrogates, which SQLite accepts.
function cutTo(text: string, chars: number): string {
  return text.slice(0, chars).replaceAll("\0", "").toWellFormed();
}

/** Why a request was rejected, without the error's message, which may contain text of the request. */
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
