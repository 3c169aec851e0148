// Which server a command uses, and as whom.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { accessTokenFor, notSignedIn, readLogins } from "./credentials.ts";
import { dataDirOf, signOwnToken } from "./owner-token.ts";
import { namedServer } from "./sign-ins.ts";

/** The flags that select the server and the caller, as commander names them. */
export interface ServerFlags {
  url?: string;
  token?: string;
  dataDir?: string;
}

/**
 * Where a command's token comes from: one that was given, a sign-in on this machine, or the signing key in a data
 * folder. `url`: the server; undefined for a data folder whose server is meant.
 */
export type Origin =
  | { kind: "given"; url: string; token: string }
  | { kind: "sign-in"; url: string }
  | { kind: "data folder"; url: string | undefined; dataDir: string };

const OWN_TOKEN_TTL_MS = 300_000;

/** Adds the flags of `ServerFlags`. */
export function addServerOptions(command: Command): Command {
  return command
    .option(
      "--url <url>",
      "URL of the server (MOORAGE_URL; default: the one of the data folder, or of the only sign-in)",
    )
    .option(
      "--token <token>",
      "access token to use (better in MOORAGE_TOKEN, where no list of processes shows it; default: that of `moorage login`)",
    )
    .option(
      "--data-dir <folder>",
      "data folder of a server of this machine: act as its owner (MOORAGE_DATA_DIR, default ./data)",
    );
}

/**
 * In this order: the token of the flag or of MOORAGE_TOKEN; a data folder that was named; the sign-in to the server
 * that was named; ./data, unless another server was named; the only sign-in. Throws an Error that says what to do.
 */
export async function originOf(flags: ServerFlags): Promise<Origin> {
  const url = namedServer(flags.url);
  const dataDir = dataDirOf(flags.dataDir);
  const token = flags.token || process.env["MOORAGE_TOKEN"];
  if (token) return { kind: "given", url: url ?? (await knownUrl(dataDir)), token };
  if (flags.dataDir !== undefined || process.env["MOORAGE_DATA_DIR"]) return { kind: "data folder", url, dataDir };
  const logins = Object.keys(readLogins());
  if (url !== undefined) {
    if (logins.includes(url)) return { kind: "sign-in", url };
    // The owner's token is not sent to a server that the folder does not belong to.
    if ((await urlsOf(dataDir)).some((own) => isSamePlace(own, url))) return { kind: "data folder", url, dataDir };
    throw notSignedIn(url);
  }
  if (existsSync(bootstrapFile(dataDir))) return { kind: "data folder", url, dataDir };
  const [only, second] = logins;
  if (second !== undefined) throw new Error(`--url: is required, since there are sign-ins to ${logins.join(", ")}`);
  // Signing says what is wrong with the folder.
  return only === undefined ? { kind: "data folder", url, dataDir } : { kind: "sign-in", url: only };
}

/**
 * An access token of the platform and the URL of its server. The token is good for `spareMs` more, by default some
 * minutes, as far as it can be; an hour at most.
 */
export async function platformToken(origin: Origin, spareMs?: number): Promise<{ url: string; token: string }> {
  switch (origin.kind) {
    case "given":
      return origin;
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
  if (url === undefined) throw new Error("--url: is required, or MOORAGE_URL: there is no data folder and no sign-in");
  return url;
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
