import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import type { Begun } from "../sign-in/link-commands.ts";
import { type Account, findAccount } from "./rows.ts";
import { type Granting, signInAs } from "./write.ts";

/** A sign-in that was proved, by what the account had when it was read. */
export interface ProvedSignIn extends Granting {
  identity: string;
  proof: { kind: "password"; password: string; second?: Second } | { kind: "passkey"; id: string; signCount: number };
}

/** The second factor: a code of the app of this time step, a recovery code, or an app that is set up now. */
export type Second = { totpStep: number } | { recoveryHash: string } | { setUp: { secret: string; step: number } };

/** Who signed in; undefined for `begun` when a device no longer waits. */
export interface SignedInAccount {
  begun: Omit<Begun, "expireTimeMs"> | undefined;
}

/**
 * Signs in with an account. Undefined when what proved it does not any more: it was changed or used meanwhile. Then
 * nothing is changed.
 */
export const signInAccount = command(
  "auth.signInAccount",
  async (call: Call, { identity, proof, ...granting }: ProvedSignIn): Promise<SignedInAccount | undefined> => {
    const account = await findAccount(call.tx, { identity });
    if (account === undefined || !(await useProof(call, account, proof))) return undefined;
    const isDone = await signInAs(call, account, granting);
    const { identityName: name, email } = account;
    return { begun: isDone ? { identity, name, email } : undefined };
  },
);

async function useProof(call: Call, account: Account, proof: ProvedSignIn["proof"]): Promise<boolean> {
  const { tx, nowMs } = call;
  const { identity } = account;
  if (proof.kind === "passkey") {
    const used = await tx
      .updateTable("passkeys")
      .set({ sign_count: proof.signCount, used_time: nowMs })
      .where("id", "=", proof.id)
      .where("identity", "=", identity)
      // Of two answers with one count, one is from a copy. Many passkeys do not count.
      .where((where) => where.or([where("sign_count", "=", 0), where("sign_count", "<", proof.signCount)]))
      .returning("id")
      .executeTakeFirst();
    return used !== undefined;
  }
  if (proof.password === "" || account.password !== proof.password) return false;
  return useSecond(call, account, proof.second);
}

async function useSecond({ tx }: Call, account: Account, second: Second | undefined): Promise<boolean> {
  const { identity } = account;
  const set = (columns: { totp_step: number; totp?: string }) =>
    tx.updateTable("accounts").set(columns).where("identity", "=", identity).execute();
  if (account.totp === "") {
    if (second === undefined) return !account.secondFactor;
    if (!("setUp" in second)) return false;
    await set({ totp: second.setUp.secret, totp_step: second.setUp.step });
    return true;
  }
  if (second === undefined || "setUp" in second) return false;
  if ("recoveryHash" in second) {
    const used = await tx
      .deleteFrom("recovery_codes")
      .where("identity", "=", identity)
      .where("hash", "=", second.recoveryHash)
      .returning("hash")
      .executeTakeFirst();
    return used !== undefined;
  }
  if (second.totpStep <= account.totpStep) return false;
  await set({ totp_step: second.totpStep });
  return true;
}
