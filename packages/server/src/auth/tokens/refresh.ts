import { hash, randomBytes, randomUUID } from "node:crypto";
import { sql } from "kysely";
import { isObject, parseJson } from "../../lib/json.ts";
import type { AuditEvent } from "../../audit/index.ts";
import type { Caller, CallData } from "../../core/call.ts";
import { permissionDenied } from "../../errors.ts";
import type { Database } from "../../store/index.ts";
import { ASSUMABLE } from "../exchange/assumable.ts";
import type { CommandWriter } from "../../core/transactor.ts";
import { rejection } from "./jwt.ts";
import { rotateRefreshToken, storeRefreshToken } from "./commands.ts";

/** What a refresh token stands for. */
export interface Refreshable extends Caller {
  audiences: string[];
  /** When the refresh token ends, in milliseconds since 1970; what it is traded for may not outlive it. */
  expiresAtMs: number;
  lastSeenMs: number | null;
}

export interface RefreshTokens {
  /**
   * Makes one for an identity and what its token may; it ends at `notAfterMs`, after 30 days at most. Answers it: it is
   * not kept in clear.
   */
  issue(
    caller: Caller & { audiences: string[] },
    relationship: string,
    notAfterMs: number,
    data: CallData,
    event: AuditEvent,
  ): Promise<{ token: string; expiresAtMs: number }>;
  /**
   * Whom it stands for, without using it. Throws UNAUTHENTICATED for one that is unknown, used or expired, and when its
   * identity or its provider has gone, or the identity changed its relationship.
   */
  read(token: string, data: CallData): Promise<Refreshable>;
  /** Uses it: answers the one that takes its place. One used before revokes all that descend from the same exchange. */
  rotate(token: string, data: CallData, event: AuditEvent): Promise<string>;
}

/** A refresh token ends so long after the first of its family was issued, in milliseconds. */
export const REFRESH_TTL_MS = 30 * 24 * 3_600_000;
const FORM = /^moorage_rt_[A-Za-z0-9_-]{43}$/;

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
      const row = await reader
        .selectFrom("refresh_tokens")
        .innerJoin("identities", "identities.uid", "refresh_tokens.identity")
        .select(["refresh_tokens.identity", "caller", "expire_time", "used_time", "relationship", "last_seen_time"])
        .where("hash", "=", sha256(token))
        .where(sql.raw<boolean>(ASSUMABLE))
        .executeTakeFirst();
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

/** The audiences asked for, which must be among those held; without a wish, those held. */
export function narrowAudiences(held: string[], wanted: string[]): string[] {
  if (!wanted.every((audience) => held.includes(audience)))
    throw permissionDenied("the token cannot be traded for another audience", { reason: "AUDIENCE" });
  return wanted.length === 0 ? held : wanted;
}

/**
 * What is kept of a caller, to make tokens later: all but the identity, and the SHA-256 of its relationship, with which
 * it ends.
 */
export type StoredCaller = Omit<Caller, "identity"> & { audiences: string[]; relationship: string };

/** The caller as JSON; `relationship` is the identity's, as its row has it. */
export function callerText(
  { audiences, capabilities, scopes, act, external }: Caller & { audiences: string[] },
  relationship: string,
): string {
  return JSON.stringify({ audiences, capabilities, scopes, act, external, relationship: sha256(relationship) });
}

/**
 * What `callerText` wrote, for an identity whose row has this relationship now. Undefined when that has changed since.
 */
export function storedCaller(text: string, relationship: string): Omit<StoredCaller, "relationship"> | undefined {
  const stored = parseJson(text, 16);
  if (!isObject(stored)) throw new TypeError("a stored caller is damaged");
  const { relationship: known, ...caller } = stored as StoredCaller;
  return known === sha256(relationship) ? caller : undefined;
}

/** A text that nobody guesses; `isRefreshToken` knows it. */
export function newRefreshToken(): string {
  return `moorage_rt_${randomBytes(32).toString("base64url")}`;
}

function sha256(text: string): string {
  return hash("sha256", text, "hex");
}
