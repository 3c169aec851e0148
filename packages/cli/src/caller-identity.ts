// Who commands act as, by the claims of an access token.
import { send } from "./http/http.ts";
import { originOf, platformToken } from "./caller.ts";
import { claimsOf } from "./claims.ts";
import { EXIT, exitOfStatus } from "./command/exit-codes.ts";
import { Failure } from "./command/failure.ts";
import type { ServerFlags } from "./command/global-options.ts";
import { plain } from "./printable.ts";

const PERSONAL = "mrg_pat_";
const TIMEOUT_MS = 15_000;

/** Whether the text is a personal token, which has no claims of its own. */
export function isPersonalToken(token: string): boolean {
  return token.startsWith(PERSONAL);
}

/** An access token for a personal token, by which its claims are known; any other token as it is. */
export async function readableToken(url: string, token: string): Promise<string> {
  if (!isPersonalToken(token)) return token;
  const headers = { authorization: `Bearer ${token}` };
  const response = await send(`${url}/sts/exchange`, { method: "POST", headers, timeoutMs: TIMEOUT_MS });
  const answer = (await response.json().catch(() => ({}))) as { token?: unknown; message?: unknown };
  if (response.ok && typeof answer.token === "string") return answer.token;
  const said = typeof answer.message === "string" ? answer.message : `${url} answers ${response.status}`;
  throw new Failure(plain(said), { exit: exitOfStatus(response.status) || EXIT.error });
}

/** The uid of the identity that commands with these flags act as. */
export async function callerIdentity(flags: ServerFlags): Promise<string> {
  const { url, token } = await platformToken(await originOf(flags));
  return String(claimsOf(await readableToken(url, token))["sub"]);
}
