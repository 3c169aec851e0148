// The server that a command uses, from the flags, the environment, the context and the sign-ins on this machine.
import { EXIT } from "./command/exit-codes.ts";
import { Failure } from "./command/failure.ts";
import type { ServerFlags } from "./command/global-options.ts";
import { chosenContext, type Context, urlOfContext } from "./config/contexts.ts";
import { readLogins } from "./credentials.ts";
import { serverUrl } from "./server-url.ts";

/** What was named of a server, and the context whose own settings hold for it. */
export interface Named {
  url: string | undefined;
  token: string | undefined;
  dataDir: string | undefined;
  context: ({ name: string } & Context) | undefined;
}

/**
 * Flags before the environment before the context. A context that is named by a flag stands for all of the environment:
 * the token of one server is not sent to another. Likewise nothing of a context is used for a URL that is not its own.
 * Throws a Failure for a context that is not there or is wrong.
 */
export function namedBy(flags: ServerFlags): Named {
  const env = (name: string): string | undefined => (flags.context ? undefined : process.env[name]) || undefined;
  const chosen = chosenContext(flags.context);
  const given = flags.url || env("MOORAGE_URL");
  const url = given === undefined ? undefined : serverUrl(given);
  const own = chosen && urlOfContext(chosen);
  const dataDir = flags.dataDir || env("MOORAGE_DATA_DIR");
  // A folder names its server as well as a URL does.
  const isMeant = chosen !== undefined && (url === undefined ? dataDir === undefined : url === own);
  return {
    url: url ?? (isMeant ? own : undefined),
    token: flags.token || env("MOORAGE_TOKEN"),
    dataDir: dataDir ?? (isMeant ? chosen.dataDir : undefined),
    context: isMeant ? chosen : undefined,
  };
}

/** The server of the flag, of MOORAGE_URL, or of the context. Undefined without all. */
export function namedServer(flags: ServerFlags): string | undefined {
  return namedBy(flags).url;
}

/** The server that was named, or the only one. Throws a Failure when there are several or none. */
export function signedInTo(flags: ServerFlags): string {
  const named = namedServer(flags);
  if (named !== undefined) return named;
  const servers = Object.keys(readLogins());
  const [server] = servers;
  if (server === undefined)
    throw new Failure("not signed in to any server", { exit: EXIT.notSignedIn, hint: "moorage login --url <url>" });
  if (servers.length > 1) throw severalSignIns(servers);
  return server;
}

/** The error where one of several sign-ins is meant. */
export function severalSignIns(servers: readonly string[]): Failure {
  return new Failure(`is required, since there are sign-ins to ${servers.join(", ")}`, {
    exit: EXIT.usage,
    field: "--url",
    hint: "or choose a context: moorage config use <name>",
  });
}
