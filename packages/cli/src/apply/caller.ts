import { platformToken, originOf } from "../caller.ts";
import { claimsOf } from "../claims.ts";
import type { ApplyFlags } from "./flags.ts";

/** The uid of the identity whose token this command uses. */
export async function callerOf(flags: ApplyFlags): Promise<string> {
  const { token } = await platformToken(await originOf(flags));
  return String(claimsOf(token)["sub"]);
}
