import type { Call, Caller } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { type SignedIn, type SignIn, signInPerson } from "../../iam/index.ts";
import { deleteEnded } from "../expiry.ts";
import { callerText } from "../tokens/refresh.ts";
import { insertSession } from "./session-commands.ts";

/** A sign-in that is under way at the identity provider; a row of `sign_ins`. */
export interface OpenSignIn {
  hash: string;
  browser: string;
  network: string;
  content: string;
  expireTimeMs: number;
}

/** What a completed sign-in gives: a code for a client, an approved device, or a browser session. */
export type Outcome =
  | {
      kind: "code";
      hash: string;
      clientId: string;
      redirectUri: string;
      challenge: string;
      family: string;
      expireTimeMs: number;
    }
  | { kind: "device"; hash: string }
  | { kind: "session"; hash: string; expireTimeMs: number; provesAccount?: boolean };

export interface FinishSignIn {
  person: SignIn;
  /** What the person's tokens allow and carry. */
  grant: Omit<Caller, "identity" | "external"> & { audiences: string[] };
  outcome: Outcome;
}

/** Who signed in. `groupsLeftOut`: as in SignedIn. */
export type Finished = Pick<SignedIn, "identity" | "groupsLeftOut">;

export const openSignIn = command(
  "auth.openSignIn",
  async (call: Call, { hash, browser, network, content, expireTimeMs }: OpenSignIn): Promise<void> => {
    await deleteEnded(call.tx, "sign_ins", call.nowMs);
    await call.tx
      .insertInto("sign_ins")
      .values({ hash, browser, network, content, expire_time: expireTimeMs })
      .execute();
  },
);

/**
 * Deletes the sign-in of that state and answers its content. Undefined when there is none, when it has expired, and for
 * another browser than the one in which it began.
 */
export const takeSignIn = command(
  "auth.takeSignIn",
  async (call: Call, { hash, browser }: Pick<OpenSignIn, "hash" | "browser">): Promise<string | undefined> => {
    const row = await call.tx.selectFrom("sign_ins").selectAll().where("hash", "=", hash).executeTakeFirst();
    if (row === undefined || row.browser !== browser || row.expire_time <= call.nowMs) return undefined;
    await call.tx.deleteFrom("sign_ins").where("hash", "=", hash).execute();
    return row.content;
  },
);

/**
 * Signs the person in and stores the outcome, in one transaction. Undefined when the device
 * no longer waits: then only the identity was changed.
 */
export const finishSignIn = command(
  "auth.finishSignIn",
  async (call: Call, { person, grant, outcome }: FinishSignIn): Promise<Finished | undefined> => {
    const { identity, external, groupsLeftOut } = await signInPerson(call, person);
    const { relationship } = await call.tx
      .selectFrom("identities")
      .select("relationship")
      .where("uid", "=", identity)
      .executeTakeFirstOrThrow();
    const caller = callerText({ ...grant, identity, ...(external && { external }) }, relationship);
    if (!(await storeOutcome(call, outcome, identity, caller))) return undefined;
    return { identity, groupsLeftOut };
  },
);

/** Stores what a sign-in gives. False when the device no longer waits. */
export async function storeOutcome(call: Call, outcome: Outcome, identity: string, caller: string): Promise<boolean> {
  const { tx, nowMs } = call;
  switch (outcome.kind) {
    case "code": {
      const { hash, clientId, redirectUri, challenge, family, expireTimeMs } = outcome;
      await deleteEnded(tx, "authorization_codes", nowMs - REUSE_KNOWN_MS);
      await tx
        .insertInto("authorization_codes")
        .values({
          hash,
          client_id: clientId,
          redirect_uri: redirectUri,
          challenge,
          identity,
          caller,
          family,
          used_time: null,
          expire_time: expireTimeMs,
        })
        .execute();
      return true;
    }
    case "device": {
      const waiting = await tx
        .selectFrom("device_codes")
        .select(["state", "expire_time"])
        .where("hash", "=", outcome.hash)
        .executeTakeFirst();
      if (waiting?.state !== "pending" || waiting.expire_time <= nowMs) return false;
      await tx
        .updateTable("device_codes")
        .set({ state: "approved", identity, caller })
        .where("hash", "=", outcome.hash)
        .execute();
      return true;
    }
    case "session":
      await insertSession(call, { ...outcome, identity, caller });
      return true;
  }
}

/** How long a used code is remembered, so that its reuse revokes what it gave. */
const REUSE_KNOWN_MS = 3_600_000;
