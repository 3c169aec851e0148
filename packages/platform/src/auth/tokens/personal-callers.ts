import type { Capability } from "@moorage/api/messages";
import type { Caller } from "@moorage/kernel/core/call";
import { systemCall } from "@moorage/kernel/core/system-call";
import type { CommandWriter } from "@moorage/kernel/core/transactor";
import { after, type Awaitable } from "@moorage/kernel/lib/awaitable";
import { createLru } from "@moorage/kernel/lib/lru";
import { createKeyCache, type Database, type Row, statement } from "@moorage/kernel/store";
import { ASSUMABLE } from "../../iam/index.ts";
import { rejection } from "./jwt.ts";
import { expiredRejection } from "../token-rejection.ts";
import { notePersonalTokensUsed } from "./personal-commands.ts";
import { hashOfPersonalToken } from "./personal-secret.ts";

/** Whom personal tokens stand for, and whether they still do. */
export interface PersonalTokens {
  /**
   * The caller of the token, expired or not; undefined for a token that does not exist, was revoked, or whose person is
   * gone. Notes that it was used.
   */
  find(token: string, nowMs: number): Awaitable<Caller | undefined>;
  /** The caller of the token. Throws UNAUTHENTICATED; of a token that has expired the error says so. */
  require(token: string, nowMs: number): Promise<Caller>;
  /** Whether the token with this uid is there and has not expired: what was exchanged for it is good for as long. */
  isThere(uid: string, nowMs: number): Awaitable<boolean>;
  /** Writes the last uses that wait. Call it when no request is under way any more. */
  close(): Promise<void>;
}

/** The error for a caller whose personal token has expired; undefined while it has not. */
export function expiryFault({ expiresAtMs = 0 }: Caller, nowMs: number): Error | undefined {
  return nowMs < expiresAtMs ? undefined : expiredRejection("personal token", expiresAtMs);
}

/** Whether the caller sent a personal token itself, and not a token that was exchanged for one. */
export function sentPersonalToken({ personalToken, tokenId }: Caller): boolean {
  return personalToken !== undefined && personalToken === tokenId;
}

type Found = Pick<
  Row<"personal_tokens">,
  "uid" | "identity" | "capabilities" | "scopes" | "expiration_time" | "last_used_time"
>;

const MAX_KNOWN = 10_000;
const USED_EVERY_MS = 60_000;
const WRITE_WITHIN_MS = 500;

const selectByHash = statement<Found>(
  `select t.uid, t.identity, t.capabilities, t.scopes, t.expiration_time, t.last_used_time
  from personal_tokens as t join identities on identities.uid = t.identity where t.hash = ? and ${ASSUMABLE}`,
  ["text"],
);
const selectByUid = statement<Pick<Found, "expiration_time">>(
  "select expiration_time from personal_tokens where uid = ?",
  ["text"],
);

export interface PersonalTokensDeps {
  reader: Database;
  writer: CommandWriter;
  /** All audiences that a personal token is accepted for. */
  audiences: string[];
  log: { info(fields: object, message: string): void };
}

/**
 * Personal tokens are looked up with every request, in a cache that ends with the next commit but for pushes: one that
 * is revoked is not accepted by the next request. Their last use is written at most once a minute each, those of half a
 * second together.
 */
export function createPersonalTokens({ reader, writer, audiences, log }: PersonalTokensDeps): PersonalTokens {
  const known = createKeyCache<Found>(reader, MAX_KNOWN);
  const ends = createKeyCache<number>(reader, MAX_KNOWN);
  const noted = createLru<string, number>(MAX_KNOWN);
  let waiting = new Map<string, number>();
  const write = async (): Promise<void> => {
    if (waiting.size === 0) return;
    const times = [...waiting];
    waiting = new Map();
    try {
      await writer.write(notePersonalTokensUsed, systemCall(Math.max(...times.map(([, timeMs]) => timeMs))), { times });
    } catch (error) {
      // What is used again is noted again.
      log.info({ err: error }, "when personal tokens were last used could not be written");
    }
  };
  const note = ({ uid, last_used_time: lastMs }: Found, nowMs: number): void => {
    if (nowMs - Math.max(lastMs, noted.get(uid) ?? 0) < USED_EVERY_MS) return;
    noted.set(uid, nowMs);
    if (waiting.size === 0) setTimeout(() => void write(), WRITE_WITHIN_MS).unref();
    waiting.set(uid, nowMs);
  };
  const find = (token: string, nowMs: number): Awaitable<Caller | undefined> => {
    const digest = hashOfPersonalToken(token);
    return after(
      known.remember(digest, () => after(selectByHash(reader, digest), ([row]) => row)),
      (row) => {
        if (row === undefined) return undefined;
        if (nowMs < row.expiration_time) note(row, nowMs);
        return callerOf(row, audiences);
      },
    );
  };
  return {
    find,
    async require(token, nowMs) {
      const caller = await find(token, nowMs);
      if (caller === undefined) throw rejection();
      const fault = expiryFault(caller, nowMs);
      if (fault !== undefined) throw fault;
      return caller;
    },
    isThere: (uid, nowMs) =>
      after(
        ends.remember(uid, () => after(selectByUid(reader, uid), ([row]) => row?.expiration_time)),
        (endMs) => endMs !== undefined && nowMs < endMs,
      ),
    close: write,
  };
}

function callerOf({ uid, identity, capabilities, scopes, expiration_time: endMs }: Found, audiences: string[]): Caller {
  const caps = JSON.parse(capabilities) as Capability[];
  const groups = JSON.parse(scopes) as string[];
  return {
    identity,
    tokenId: uid,
    personalToken: uid,
    audiences,
    expiresAtMs: endMs,
    ...(caps.length > 0 && { capabilities: caps }),
    ...(groups.length > 0 && { scopes: groups }),
  };
}
