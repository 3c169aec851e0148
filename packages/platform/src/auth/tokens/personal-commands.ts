import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { parentOf } from "@moorage/kernel/lib/uid";
import { statement } from "@moorage/kernel/store";
import { noteIdentitySeen } from "../../iam/index.ts";

const updateUsed = statement("update personal_tokens set last_used_time = ? where uid = ? and last_used_time < ?");

/**
 * Records when personal tokens, and thereby their people, were last used, as pairs of the token's uid and milliseconds
 * since 1970.
 */
export const notePersonalTokensUsed = command(
  "auth.notePersonalTokensUsed",
  async ({ tx }: Call, { times }: { times: [uid: string, timeMs: number][] }): Promise<void> => {
    for (const [uid, timeMs] of times) {
      await updateUsed(tx, timeMs, uid, timeMs);
      await noteIdentitySeen(tx, parentOf(uid), timeMs);
    }
  },
);
