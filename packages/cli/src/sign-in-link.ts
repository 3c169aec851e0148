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
      .description("print an address that signs one browser in as you, once, within ten minutes")
      .option(
        "--recover <person>",
        "in place of that: the address on which this person, by uid, makes a new passkey or password, once, within a day; it ends the old ones",
      )
      .option(
        "--mail-to <address>",
        "with --recover: have the server mail it to this address, the name of the person's account, and print nothing",
      ),
  ).action(async ({ recover, mailTo, ...flags }: ServerFlags & { recover?: string; mailTo?: string }) => {
    if (mailTo !== undefined && recover === undefined)
      throw new Failure("--mail-to goes with --recover", { exit: EXIT.usage });
    const { url, token } = await platformToken(await originOf(flags));
    if (recover === undefined) console.log(await signInLink(url, token));
    else if (mailTo === undefined) console.log(await recoveryLink(url, token, recover));
    else {
      await mailRecoveryLink(url, token, recover, mailTo);
      console.error(
        `The address is on its way to ${plain(mailTo)}; moorage audit list --method mail.send says when it was sent.`,
      );
    }
  });
}

/** Asks the server for a link, as whoever the token is of. Throws an Error that says why there is none. */
export function signInLink(url: string, token: string): Promise<string> {
  return linkOf(url, token, "/session/links");
}

/** Asks for a link by which the person recovers an account of the server. Throws an Error that says why not. */
function recoveryLink(url: string, token: string, identity: string): Promise<string> {
  return linkOf(url, token, "/session/recovery-links", JSON.stringify({ identity }));
}

/** Has the server mail such a link to the person. Throws an Error that says why not. */
async function mailRecoveryLink(url: string, token: string, identity: string, mailTo: string): Promise<void> {
  await answerOf(url, token, "/session/recovery-links", JSON.stringify({ identity, mailTo }));
}

async function linkOf(url: string, token: string, path: string, body?: string): Promise<string> {
  const answer = await answerOf(url, token, path, body);
  if (typeof answer.url === "string") return plain(answer.url);
  throw new Failure(`${url}${path}: the answer has no address`, { exit: EXIT.error });
}

async function answerOf(url: string, token: string, path: string, body?: string): Promise<{ url?: unknown }> {
  let response: Response;
  try {
    response = await send(`${url}${path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body }),
      timeoutMs: TIMEOUT_MS,
    });
  } catch (cause) {
    throw new Failure(`cannot reach ${url}`, { exit: EXIT.unavailable, cause });
  }
  const answer = (await response.json().catch(() => ({}))) as { url?: unknown; message?: unknown };
  if (response.ok) return answer;
  const end = response.status === 401 ? endOf(token) : undefined;
  if (end !== undefined)
    throw new Failure(`the access token expired at ${end}`, {
      exit: EXIT.notSignedIn,
      hint: `sign in with: moorage login --url ${url}`,
    });
  const said = typeof answer.message === "string" ? answer.message : `${url} answers ${response.status}`;
  throw new Failure(plain(said), { exit: exitOfStatus(response.status) || EXIT.error });
}
