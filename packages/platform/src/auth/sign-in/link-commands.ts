import { audit } from "@moorage/kernel/audit";
import type { Call, Caller } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { parentOf } from "@moorage/kernel/lib/uid";
import { deleteExcess } from "../expiry.ts";
import { callerText, storedCaller } from "../tokens/refresh.ts";
import { assumable, insertSession } from "./session-commands.ts";

/** Who is signed in by a link or a token, and until when. */
export interface Begun {
  identity: string;
  name: string;
  email: string;
  expireTimeMs: number;
}

type Holder = Caller & { audiences: string[] };

const MAX_PER_IDENTITY = 10;
/** The audit log's method for the begin of a session, as of every sign-in. */
export const SIGN_IN = "iam.signIn";

/**
 * Stores a link by which the caller's browser is signed in once. At the limit per identity, the oldest one ends. False
 * when the identity may no longer be assumed.
 */
export const makeLink = command(
  "auth.makeLink",
  async (call: Call, input: { hash: string; caller: Holder; expireTimeMs: number }): Promise<boolean> => {
    const { tx, nowMs } = call;
    const { hash, caller, expireTimeMs } = input;
    const known = await assumable(call, caller.identity);
    if (known === undefined) return false;
    await deleteExcess(tx, "sign_in_links", { identity: known.uid, most: MAX_PER_IDENTITY, nowMs });
    await tx
      .insertInto("sign_in_links")
      .values({
        hash,
        identity: known.uid,
        caller: callerText(caller, known.relationship),
        create_time: nowMs,
        expire_time: expireTimeMs,
      })
      .execute();
    await audit(call, { method: "session.link", resource: known.provider || known.uid, ...actorOf(caller) });
    return true;
  },
);

/**
 * Uses the link up and begins a session of its identity. Undefined when there is no such link, when it has expired, and
 * when its identity may no longer be assumed as it was when the link was made.
 */
export const takeLink = command(
  "auth.takeLink",
  async (
    call: Call,
    input: { hash: string; sessionHash: string; expireTimeMs: number },
  ): Promise<Begun | undefined> => {
    // One statement, so that of two that race one gets the row.
    const link = await call.tx
      .deleteFrom("sign_in_links")
      .where("hash", "=", input.hash)
      .returning(["identity", "caller", "expire_time"])
      .executeTakeFirst();
    if (link === undefined || link.expire_time <= call.nowMs) return undefined;
    const known = await assumable(call, link.identity);
    const caller = known && storedCaller(link.caller, known.relationship);
    if (known === undefined || caller === undefined) return undefined;
    const { sessionHash: hash, expireTimeMs } = input;
    const provesAccount = await mayMakeOwnAccount(call, known);
    await insertSession(call, { hash, identity: known.uid, caller: link.caller, expireTimeMs, provesAccount });
    await audit(call, {
      method: SIGN_IN,
      resource: known.provider || known.uid,
      identity: known.uid,
      act: caller.act ?? {},
      details: { by: "link" },
    });
    return { identity: known.uid, name: known.name, email: known.email, expireTimeMs };
  },
);

/**
 * Whether a link proves enough to make the identity's account: of the owner of the first start, who has no other way
 * in, as long as there is none. Whoever else gets hold of a token cannot make more of it than a session.
 */
async function mayMakeOwnAccount(
  { tx }: Call,
  { uid, provider, relationship }: { uid: string; provider: string; relationship: string },
): Promise<boolean> {
  if (parentOf(uid) !== "" || provider !== "" || relationship !== "") return false;
  return (
    (await tx.selectFrom("accounts").select("identity").where("identity", "=", uid).executeTakeFirst()) === undefined
  );
}

/** Begins a session with the rights of the caller's token. Undefined when the identity may no longer be assumed. */
export const beginByToken = command(
  "auth.beginByToken",
  async (call: Call, input: { hash: string; caller: Holder; expireTimeMs: number }): Promise<Begun | undefined> => {
    const { hash, caller, expireTimeMs } = input;
    const known = await assumable(call, caller.identity);
    if (known === undefined) return undefined;
    const text = callerText(caller, known.relationship);
    await insertSession(call, { hash, identity: known.uid, caller: text, expireTimeMs });
    const resource = known.provider || known.uid;
    await audit(call, { method: SIGN_IN, resource, ...actorOf(caller), details: { by: "token" } });
    return { identity: known.uid, name: known.name, email: known.email, expireTimeMs };
  },
);

function actorOf({ identity, tokenId, act }: Holder) {
  return { identity, tokenId: tokenId ?? "", act: act ?? {} };
}
