import { ApiError, errorOf, noAnswer } from "./errors.ts";

/** Who is signed in in this browser. */
export interface Session {
  /** The identity's uid. */
  identity: string;
  name: string;
  email: string;
  /** RFC 3339. */
  expireTime: string;
}

interface AccessToken {
  token: string;
  expiresAtMs: number;
}

const TIMEOUT_MS = 30_000;
// A token that ends while a request is on its way is of no use.
const SPARE_MS = 30_000;

let current: Promise<AccessToken> | undefined;

/** The session of this browser; undefined when nobody is signed in. */
export async function readSession(): Promise<Session | undefined> {
  const response = await ask("/session", "GET");
  if (response.status === 401) return undefined;
  if (!response.ok) throw await errorOf(response);
  return (await response.json()) as Session;
}

/** Signs in with a one-time link or an access token; throws an ApiError that says why not. */
export async function signIn(proof: { link: string } | { token: string }): Promise<void> {
  forgetToken();
  const response =
    "link" in proof
      ? await ask("/session", "POST", { "content-type": "application/json" }, JSON.stringify(proof))
      : await ask("/session", "POST", { authorization: `Bearer ${proof.token}` });
  if (!response.ok) throw await errorOf(response);
}

/** Ends the session of this browser. */
export async function signOut(): Promise<void> {
  forgetToken();
  const response = await ask("/session", "DELETE");
  if (!response.ok && response.status !== 401) throw await errorOf(response);
}

/**
 * An access token of the session, kept in memory alone and asked for again before it ends. Throws an ApiError of
 * status 401 when nobody is signed in.
 */
export async function accessToken(): Promise<string> {
  current ??= mint().catch((error: unknown) => {
    current = undefined;
    throw error;
  });
  const { token, expiresAtMs } = await current;
  if (expiresAtMs - Date.now() > SPARE_MS) return token;
  current = undefined;
  return await accessToken();
}

/** The next call asks for a new token. */
export function forgetToken(): void {
  current = undefined;
}

async function mint(): Promise<AccessToken> {
  const response = await ask("/session/token", "POST");
  if (!response.ok) throw await errorOf(response);
  const { token, expiry } = (await response.json()) as { token: string; expiry: string };
  const expiresAtMs = Date.parse(expiry);
  // The end of the session ends its tokens sooner: such a token is used as long as it holds.
  if (expiresAtMs - Date.now() <= SPARE_MS)
    throw new ApiError(401, { code: "UNAUTHENTICATED", message: "The session ends now. Sign in again." });
  return { token, expiresAtMs };
}

async function ask(path: string, method: string, headers: HeadersInit = {}, body?: string): Promise<Response> {
  try {
    return await fetch(path, {
      method,
      headers,
      credentials: "same-origin",
      cache: "no-store",
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body !== undefined && { body }),
    });
  } catch {
    throw noAnswer();
  }
}
