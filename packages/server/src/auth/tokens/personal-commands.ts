import type { Call } from "../../core/call.ts";
import { command } from "../../core/command.ts";
import { noteIdentitySeen } from "../../iam/index.ts";
import { parentOf } from "../../lib/uid.ts";
import { statement } from "../../store/index.ts";

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
