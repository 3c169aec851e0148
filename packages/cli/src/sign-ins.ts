// The server that a command uses, from the sign-ins on this machine.
import { readLogins } from "./credentials.ts";

/**
 * The URL in the form in which servers name themselves: without a path or a slash at the end. Throws an Error for other
 * text.
 */
export function serverUrl(text: string): string {
  const url = URL.parse(text);
  if (
    !url ||
    !/^https?:$/.test(url.protocol) ||
    url.pathname !== "/" ||
    url.search !== "" ||
    url.hash !== "" ||
    url.username !== ""
  ) {
    throw new Error(`--url: must be an http or https URL without a path, not ${text}`);
  }
  return url.origin;
}

/** The server of the flag or of MOORAGE_URL. Undefined without both. */
export function namedServer(flag: string | undefined): string | undefined {
  const named = flag || process.env["MOORAGE_URL"];
  return named ? serverUrl(named) : undefined;
}

/** The server of the flag, of MOORAGE_URL, or the only one. Throws an Error when there are several or none. */
export function signedInTo(flag: string | undefined): string {
  const named = namedServer(flag);
  if (named !== undefined) return named;
  const servers = Object.keys(readLogins());
  const [server] = servers;
  if (server === undefined) throw new Error("not signed in to any server: moorage login --url <url>");
  if (servers.length > 1) throw new Error(`--url: is required, since there are sign-ins to ${servers.join(", ")}`);
  return server;
}
