import { hash, randomBytes, randomUUID } from "node:crypto";
import type { AuditEvent } from "@moorage/kernel/audit";
import type { Caller, CallData } from "@moorage/kernel/core/call";
import type { CommandWriter } from "@moorage/kernel/core/transactor";
import { permissionDenied } from "@moorage/kernel/errors";
import { isObject, parseJson } from "@moorage/kernel/lib/json";
import { type Database, type Row, statement } from "@moorage/kernel/store";
import { ASSUMABLE } from "../../iam/index.ts";
import { rejection } from "./jwt.ts";
import { rotateRefreshToken, storeRefreshToken } from "./commands.ts";

/** The caller that a refresh token stands for. */
interface Refreshable extends Caller {
  audiences: string[];
  /** When the refresh token ends, in milliseconds since 1970; access tokens issued for it end no later. */
  expiresAtMs: number;
  lastSeenMs: number | null;
}

export interface RefreshTokens {
  /**
   * Creates and stores a refresh token for the caller. It ends at `notAfterMs`, after 30 days at most. Answers the
   * token, of which only the hash is stored.
   */
  issue(
    caller: Caller & { audiences: string[] },
    relationship: string,
    notAfterMs: number,
    data: CallData,
    event: AuditEvent,
  ): Promise<{ token: string; expiresAtMs: number }>;
  /**
   * The caller it stands for, without using it up. Throws UNAUTHENTICATED when it is unknown, used or expired, when its
   * identity or identity provider was deleted, and when the identity's relationship was changed.
   */
  read(token: string, data: CallData): Promise<Refreshable>;
  /**
   * Uses it up and answers the token that replaces it. Reuse revokes all that descend from the same exchange. Throws
   * UNAUTHENTICATED when it is unknown, used or expired.
   */
  rotate(token: string, data: CallData, event: AuditEvent): Promise<string>;
}

type Stored = Pick<Row<"refresh_tokens">, "identity" | "caller" | "expire_time" | "used_time"> &
  Pick<Row<"identities">, "relationship" | "last_seen_time">;

/** The life of a refresh token, counted from when the first of its family was issued, in milliseconds. */
export const REFRESH_TTL_MS = 30 * 24 * 3_600_000;
const FORM = /^moorage_rt_[A-Za-z0-9_-]{43}$/;

const selectStored = statement<Stored>(
  `select r.identity, r.caller, r.expire_time, r.used_time, identities.relationship, identities.last_seen_time
  from refresh_tokens as r join identities on identities.uid = r.identity where r.hash = ? and ${ASSUMABLE}`,
  ["text"],
);

/** Whether the text has the form of a refresh token of ours. */
export function isRefreshToken(text: string): boolean {
  return FORM.test(text);
}

export function createRefreshTokens({ reader, writer }: { reader: Database; writer: CommandWriter }): RefreshTokens {
  return {
    async issue(caller, relationship, notAfterMs, data, event) {
      const token = newRefreshToken();
      const expireTimeMs = Math.min(data.nowMs + REFRESH_TTL_MS, notAfterMs);
      const { identity } = caller;
      await writer.write(storeRefreshToken, data, {
        hash: sha256(token),
        family: randomUUID(),
        identity,
        caller: callerText(caller, relationship),
        expireTimeMs,
        event,
      });
      return { token, expiresAtMs: expireTimeMs };
    },
    async read(token, data) {
      if (!isRefreshToken(token)) throw rejection();
      const [row] = await selectStored(reader, sha256(token));
      if (!row || row.expire_time <= data.nowMs) throw rejection();
      if (row.used_time !== null) {
        await writer.write(rotateRefreshToken, data, {
          hash: sha256(token),
          newHash: sha256(newRefreshToken()),
        });
        throw rejection();
      }
      const caller = storedCaller(row.caller, row.relationship);
      if (caller === undefined) throw rejection();
      return { ...caller, identity: row.identity, expiresAtMs: row.expire_time, lastSeenMs: row.last_seen_time };
    },
    async rotate(token, data, event) {
      const next = newRefreshToken();
      const { outcome } = await writer.write(rotateRefreshToken, data, {
        hash: sha256(token),
        newHash: sha256(next),
        event,
      });
      if (outcome !== "rotated") throw rejection();
      return next;
    },
  };
}

/**
 * The requested audiences, or those held when none are requested. Throws PERMISSION_DENIED for one that is not held.
 */
export function narrowAudiences(held: string[], wanted: string[]): string[] {
  if (!wanted.every((audience) => held.includes(audience)))
    throw permissionDenied("the token cannot be traded for another audience", { reason: "AUDIENCE" });
  return wanted.length === 0 ? held : wanted;
}

/**
 * What is stored of a caller to issue tokens later: all but its identity, and the SHA-256 of the identity's
 * relationship. A changed relationship ends it.
 */
export type StoredCaller = Omit<Caller, "identity"> & { audiences: string[]; relationship: string };

/** A StoredCaller as JSON. `relationship` is the text in the identity's row. */
export function callerText(
  { audiences, capabilities, scopes, act, external, client, personalToken }: Caller & { audiences: string[] },
  relationship: string,
): string {
  if (personalToken !== undefined) throw new TypeError("nothing that lasts is made of a personal token");
  return JSON.stringify({ audiences, capabilities, scopes, act, external, client, relationship: sha256(relationship) });
}

/**
 * Parses what `callerText` wrote, for an identity whose row has this relationship now. Undefined when the relationship
 * has changed since.
 */
export function storedCaller(text: string, relationship: string): Omit<StoredCaller, "relationship"> | undefined {
  const stored = parseJson(text, 16);
  if (!isObject(stored)) throw new TypeError("a stored caller is damaged");
  const { relationship: known, ...caller } = stored as StoredCaller;
  return known === sha256(relationship) ? caller : undefined;
}

/** A new random refresh token, of the form that `isRefreshToken` checks. */
export function newRefreshToken(): string {
  return `moorage_rt_${randomBytes(32).toString("base64url")}`;
}

function sha256(text: string): string {
  return hash("sha256", text, "hex");
}
