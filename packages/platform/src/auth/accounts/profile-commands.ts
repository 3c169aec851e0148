import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { failedPrecondition } from "@moorage/kernel/errors";
import { noteChange } from "./make-commands.ts";
import { secondFactorNeeded } from "./refusals.ts";
import { findAccount, passkeysOf } from "./rows.ts";
import { signOutElsewhere } from "./write.ts";

/** Whose account, and the session in which it is changed. @public in the packed package's declarations. */
export interface Own {
  identity: string;
  session: string;
}

/** What is changed of an account beside a new password and new passkeys. */
export type AccountChange =
  | { kind: "renamePasskey"; keyId: string; label: string }
  | { kind: "removePasskey"; keyId: string }
  | { kind: "removePassword" }
  | { kind: "setApp"; totp: { secret: string; step: number }; codeHashes: string[] }
  | { kind: "removeApp" }
  | { kind: "setCodes"; codeHashes: string[] };

/**
 * Changes an account. False when there is none, or not what is changed. Throws FAILED_PRECONDITION for what would leave
 * the person without a way to sign in, or without a second factor where the organization asks for one.
 */
export const changeAccount = command(
  "auth.changeAccount",
  async (call: Call, { identity, session, change }: Own & { change: AccountChange }): Promise<boolean> => {
    const { tx } = call;
    const account = await findAccount(tx, { identity });
    if (account === undefined) return false;
    const keys = await passkeysOf(tx, identity);
    const set = (columns: { password?: string; totp?: string; totp_step?: number }) =>
      tx
        .updateTable("accounts")
        .set({ ...columns, update_time: call.nowMs })
        .where("identity", "=", identity)
        .execute();
    const setCodes = async (hashes: readonly string[]): Promise<void> => {
      await tx.deleteFrom("recovery_codes").where("identity", "=", identity).execute();
      for (const hash of hashes) await tx.insertInto("recovery_codes").values({ identity, hash }).execute();
    };
    switch (change.kind) {
      case "renamePasskey":
      case "removePasskey": {
        const key = keys.find((one) => one.key_id === change.keyId);
        if (key === undefined) return false;
        if (change.kind === "renamePasskey")
          await tx.updateTable("passkeys").set({ name: change.label }).where("id", "=", key.id).execute();
        else {
          if (keys.length === 1 && account.password === "") throw lastProof();
          await tx.deleteFrom("passkeys").where("id", "=", key.id).execute();
          // Whoever had the passkey may be signed in by it.
          await signOutElsewhere(call, identity, session);
        }
        break;
      }
      case "removePassword":
        if (account.password === "") return false;
        if (keys.length === 0) throw lastProof();
        await set({ password: "", totp: "", totp_step: 0 });
        await setCodes([]);
        await signOutElsewhere(call, identity, session);
        break;
      case "setApp":
        if (account.password === "") throw noPassword();
        await set({ totp: change.totp.secret, totp_step: change.totp.step });
        await setCodes(change.codeHashes);
        break;
      case "removeApp":
        if (account.totp === "") return false;
        if (account.secondFactor && account.password !== "") throw secondFactorNeeded();
        await set({ totp: "", totp_step: 0 });
        await setCodes([]);
        break;
      case "setCodes":
        if (account.totp === "") return false;
        await setCodes(change.codeHashes);
        break;
    }
    await noteChange(call, account, { changed: change.kind, session });
    return true;
  },
);

function lastProof(): Error {
  return failedPrecondition({
    type: "LAST_WAY_IN",
    subject: "account",
    description: "nothing else signs you in: make another passkey or a password first",
  });
}

function noPassword(): Error {
  return failedPrecondition({
    type: "NO_PASSWORD",
    subject: "account",
    description: "an authenticator app goes with a password, and the account has none",
  });
}
