import { request, type CallOptions } from "./call.ts";
import { ApiError, errorOf, noAnswer } from "./errors.ts";

interface RegistryToken {
  token: string;
  expiresAtMs: number;
}

const TIMEOUT_MS = 60_000;
const SPARE_MS = 30_000;
const MAX_TOKENS = 20;
const MAX_BYTES = 8 * 1024 * 1024;

// The registry takes tokens of its own audience, each for one repository.
const tokens = new Map<string, Promise<RegistryToken>>();

/** What a request to the registry has beside its path. */
export interface RegistryOptions extends CallOptions {
  accept?: string;
}

/** An answer of the registry. */
export interface RegistryText {
  text: string;
  mediaType: string;
  /** The digest that the registry states; empty when it states none. */
  digest: string;
}

/**
 * Reads `/v2/<name>/<path>` as text, with the rights of whoever is signed in. Throws an ApiError, also for an answer of
 * more than 8 MiB.
 */
export async function readRegistry(
  name: string,
  path: string,
  { accept, signal }: RegistryOptions = {},
): Promise<RegistryText> {
  const url = `/v2/${name.split("/").map(encodeURIComponent).join("/")}/${path}`;
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const send = async (): Promise<Response> =>
    await fetch(url, {
      headers: { authorization: `Bearer ${await pullToken(name)}`, ...(accept !== undefined && { accept }) },
      credentials: "omit",
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    }).catch((error: unknown) => {
      throw signal?.aborted ? error : noAnswer();
    });
  let response = await send();
  if (response.status === 401) {
    tokens.delete(name);
    response = await send();
  }
  if (!response.ok) throw await errorOf(response);
  if (Number(response.headers.get("content-length") ?? 0) > MAX_BYTES) {
    await response.body?.cancel();
    throw new ApiError(413, { code: "OUT_OF_RANGE", message: "It is too large to show here." });
  }
  return {
    text: await response.text(),
    mediaType: response.headers.get("content-type") ?? "",
    digest: response.headers.get("docker-content-digest") ?? "",
  };
}

/** A registry token for pulling from the repository, by the distribution token protocol. */
async function pullToken(name: string): Promise<string> {
  let current = tokens.get(name);
  if (current === undefined) {
    current = mint(name);
    tokens.set(name, current);
    const [oldest] = tokens.keys();
    if (tokens.size > MAX_TOKENS && oldest !== undefined) tokens.delete(oldest);
    current.catch(() => tokens.delete(name));
  }
  const { token, expiresAtMs } = await current;
  if (expiresAtMs - Date.now() > SPARE_MS) return token;
  tokens.delete(name);
  return (await mint(name)).token;
}

async function mint(name: string): Promise<RegistryToken> {
  const response = await request(`/token?scope=${encodeURIComponent(`repository:${name}:pull`)}`);
  const { token, expires_in: seconds } = (await response.json()) as { token: string; expires_in: number };
  return { token, expiresAtMs: Date.now() + seconds * 1_000 };
}
