// `moorage sign-in-link`: an address that signs one browser in, once.
import type { Command } from "commander";
import { send } from "./http/http.ts";
import { originOf, platformToken } from "./caller.ts";
import { endOf } from "./claims.ts";
import { EXIT, exitOfStatus } from "./command/exit-codes.ts";
import { Failure } from "./command/failure.ts";
import { addServerOptions, type ServerFlags } from "./command/global-options.ts";
import { plain } from "./printable.ts";

const TIMEOUT_MS = 15_000;

/** Adds `moorage sign-in-link`. It prints only the address, so that a script can open it. */
export function addSignInLink(program: Command): void {
  addServerOptions(
    program
      .command("sign-in-link")
      .description("print an address that signs one browser in as you, once, within ten minutes"),
  ).action(async (flags: ServerFlags) => {
    const { url, token } = await platformToken(await originOf(flags));
    console.log(await signInLink(url, token));
  });
}

/** Asks the server for a link, as whoever the token is of. Throws an Error that says why there is none. */
export async function signInLink(url: string, token: string): Promise<string> {
  let response: Response;
  try {
    response = await send(`${url}/session/links`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      timeoutMs: TIMEOUT_MS,
    });
  } catch (cause) {
    throw new Failure(`cannot reach ${url}`, { exit: EXIT.unavailable, cause });
  }
  const answer = (await response.json().catch(() => ({}))) as { url?: unknown; message?: unknown };
  if (response.ok && typeof answer.url === "string") return plain(answer.url);
  const end = response.status === 401 ? endOf(token) : undefined;
  if (end !== undefined)
    throw new Failure(`the access token expired at ${end}`, {
      exit: EXIT.notSignedIn,
      hint: `sign in with: moorage login --url ${url}`,
    });
  const said = typeof answer.message === "string" ? answer.message : `${url} answers ${response.status}`;
  throw new Failure(plain(said), { exit: exitOfStatus(response.status) || EXIT.error });
}
