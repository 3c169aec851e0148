// Which server a command uses, and as whom.
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { EXIT } from "./command/exit-codes.ts";
import { Failure } from "./command/failure.ts";
import type { ServerFlags } from "./command/global-options.ts";
import { trustStored } from "./http/trust.ts";
import { accessTokenFor, notSignedIn, readLogins } from "./credentials.ts";
import { signOwnToken } from "./owner-token.ts";
import { namedBy, severalSignIns } from "./sign-ins.ts";

/**
 * Where a command's token comes from: one that was given, a sign-in on this machine, or the signing key in a data
 * folder; nobody where none is needed. `url`: the server; undefined for a data folder whose server is meant.
 */
export type Origin =
  | { kind: "given"; url: string; token: string }
  | { kind: "sign-in"; url: string }
  | { kind: "nobody"; url: string }
  | { kind: "data folder"; url: string | undefined; dataDir: string };

const OWN_TOKEN_TTL_MS = 300_000;

/** As `originOf`, for methods that anybody may call: nobody where there is no sign-in to the server that was named. */
export async function publicOriginOf(flags: ServerFlags): Promise<Origin> {
  try {
    return await originOf(flags);
  } catch (error) {
    const { url } = namedBy(flags);
    if (url !== undefined && error instanceof Failure && error.exit === EXIT.notSignedIn)
      return { kind: "nobody", url };
    throw error;
  }
}

/**
 * In this order: the token of the flag, of MOORAGE_TOKEN or of the context's file; a data folder that was named; the
 * sign-in to the server that was named; ./data, unless another server was named; the only sign-in. Throws a Failure
 * that says what to do.
 */
export async function originOf(flags: ServerFlags): Promise<Exclude<Origin, { kind: "nobody" }>> {
  const { url, token: given, dataDir: named, context } = namedBy(flags);
  if (context !== undefined) await trustStored(`the context ${context.name}`, context.caFile);
  const dataDir = resolve(named ?? "./data");
  const token = given ?? (context?.tokenFile === undefined ? undefined : tokenIn(context.tokenFile));
  if (token !== undefined) return { kind: "given", url: url ?? (await knownUrl(dataDir)), token };
  if (named !== undefined) return { kind: "data folder", url, dataDir };
  const logins = Object.keys(readLogins());
  if (url !== undefined) {
    if (logins.includes(url)) return { kind: "sign-in", url };
    // The owner's token is not sent to a server that the folder does not belong to.
    if (await belongsTo(dataDir, url)) return { kind: "data folder", url, dataDir };
    throw notSignedIn(url);
  }
  if (existsSync(bootstrapFile(dataDir))) return { kind: "data folder", url, dataDir };
  const [only, second] = logins;
  if (second !== undefined) throw severalSignIns(logins);
  if (only !== undefined) return { kind: "sign-in", url: only };
  throw new Failure(`not signed in to any server, and there is no data folder ${dataDir}`, {
    exit: EXIT.notSignedIn,
    hint: "moorage login --url <url>",
  });
}

function tokenIn(file: string): string {
  try {
    const token = readFileSync(file, "utf8").trim();
    if (token !== "") return token;
  } catch (cause) {
    throw new Failure(`cannot read the context's token file ${file}: ${(cause as Error).message}`, { cause });
  }
  throw new Failure(`the context's token file ${file} is empty`);
}

/**
 * An access token of the platform, empty for nobody, and the URL of its server. The token is good for `spareMs` more,
 * by default some minutes, as far as it can be; an hour at most.
 */
export async function platformToken(origin: Origin, spareMs?: number): Promise<{ url: string; token: string }> {
  switch (origin.kind) {
    case "given":
      return origin;
    case "nobody":
      return { url: origin.url, token: "" };
    case "sign-in":
      return { url: origin.url, token: await accessTokenFor(origin.url, spareMs) };
    case "data folder": {
      const { dataDir } = origin;
      const token = await signOwnToken({
        dataDir,
        audience: "platform",
        ttlMs: Math.max(OWN_TOKEN_TTL_MS, spareMs ?? 0),
      });
      return { url: origin.url ?? (await knownUrl(dataDir)), token };
    }
  }
}

/** The server of the data folder, or of the only sign-in. Throws an Error when there is neither. */
async function knownUrl(dataDir: string): Promise<string> {
  const [only, second] = Object.keys(readLogins());
  const [own] = await urlsOf(dataDir);
  const url = own ?? (second === undefined ? only : undefined);
  if (url === undefined)
    throw new Failure("is required, or MOORAGE_URL: there is no data folder and no sign-in", {
      exit: EXIT.usage,
      field: "--url",
    });
  return url;
}

/** Whether the URL is that of the data folder's server, of the platform or of the registry, at its last start. */
export async function belongsTo(dataDir: string, url: string): Promise<boolean> {
  return (await urlsOf(dataDir)).some((own) => isSamePlace(own, url));
}

/** The URLs of the folder's server, of the platform and of the registry, at its last start. None for other folders. */
async function urlsOf(dataDir: string): Promise<string[]> {
  if (!existsSync(bootstrapFile(dataDir))) return [];
  const { readBootstrap } = await import("@moorage/server/bootstrap");
  try {
    const { baseUrl, registryUrl } = readBootstrap(dataDir);
    return [baseUrl, registryUrl].map((url) => new URL(url).origin);
  } catch (cause) {
    throw new Error(`cannot read ${bootstrapFile(dataDir)}`, { cause });
  }
}

/** Whether the origins are equal, but for the names that this machine has for itself. */
function isSamePlace(one: string, other: string): boolean {
  const plain = (origin: string): string =>
    origin.replace(/\/\/(?:localhost|127(?:\.\d+){3}|\[::1\])(?=:|$)/, "//localhost");
  return plain(one) === plain(other);
}

function bootstrapFile(dataDir: string): string {
  return join(dataDir, "bootstrap.json");
}
