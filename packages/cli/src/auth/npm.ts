// `moorage auth configure-npm` and `refresh`. npm has no protocol for credential programs: its file names a variable
// with the token, or holds the token. Sources: npm, "npmrc: auth related configuration"; npm-registry-fetch,
// lib/auth.js.
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { UsageFailure } from "../command/failure.ts";
import { claimsOf } from "../claims.ts";
import { readLogins } from "../credentials.ts";
import { type Edit, rewrite } from "./file.ts";
import { NPM, parseIni, settingOf, withSetting } from "./ini.ts";
import { addDryRun, addFile } from "./options.ts";
import { addPackageCommand, addressOf, packageToken, type PackageFlags } from "./packages.ts";

interface Flags extends PackageFlags {
  scope?: string;
  storeToken?: boolean;
}

/** The variable that the file names. */
const VARIABLE = "MOORAGE_NPM_TOKEN";
const FROM_VARIABLE = `\${${VARIABLE}}`;

/** Adds the commands. */
export function addNpm(auth: Command): void {
  addPackageCommand(auth, "configure-npm", "have npm install from a group, with a token from a variable", "npm")
    .option("--scope <scope>", "only packages of this scope, such as @acme (default: all)")
    .option("--store-token", "write a token into the file, which then is for its owner alone; see refresh")
    .action(configure);
  const again = auth
    .command("refresh")
    .description("replace the tokens that configure-npm --store-token wrote, which are good for an hour at most");
  addDryRun(addFile(again, "the file (default: npm's own for you)")).action(refresh);
}

async function configure(
  group: string,
  { file, remove, dryRun = false, scope, storeToken, ...server }: Flags,
): Promise<void> {
  if (scope !== undefined && !/^@[a-z0-9~-][a-z0-9._~-]*$/.test(scope))
    throw new UsageFailure(`must look like @acme, not ${scope}`, { field: "--scope" });
  const address = addressOf("npm", group, server);
  const path = resolve(file ?? npmFile());
  const secret = storeToken === true && remove !== true;
  const token = secret && !dryRun ? await packageToken(address.origin) : FROM_VARIABLE;
  const wanted = remove === true ? undefined : { token, isStored: secret };
  await rewrite(path, (text) => withRegistry(path, text, { address, scope, wanted }), { dryRun, secret });
  if (wanted && !secret)
    console.error(
      `moorage: npm takes the token from a variable: export ${VARIABLE}=$(moorage token --audience registry)`,
    );
  if (secret) console.error("moorage: the token is good for an hour at most: moorage auth refresh replaces it");
}

/** What to write into the file, and for which packages. */
interface Registry {
  address: URL;
  scope: string | undefined;
  /** Undefined: take it out. */
  wanted: { token: string; isStored: boolean } | undefined;
}

/** The file's text with or without the registry. */
function withRegistry(path: string, text = "", { address, scope, wanted }: Registry): Edit {
  let now = text;
  const changes: string[] = [];
  const set = (key: string, value: string | undefined, show: (value: string) => string): void => {
    const file = parseIni(path, now, NPM);
    const old = settingOf(file, "", key)?.value;
    if (old === value) return;
    now = withSetting(file, "", key, value);
    if (old !== undefined) changes.push(`- ${key}=${show(old)}`);
    if (value !== undefined) changes.push(`+ ${key}=${show(value)}`);
  };
  const registryKey = scope === undefined ? "registry" : `${scope}:registry`;
  const isOurs = settingOf(parseIni(path, now, NPM), "", registryKey)?.value === address.href;
  if (wanted || isOurs) set(registryKey, wanted && address.href, withoutPassword);
  set(tokenKey(address), wanted?.token, wanted?.isStored === true ? () => "…" : shownToken);
  return { text: now, changes };
}

async function refresh({ file, dryRun = false }: { file?: string; dryRun?: boolean }): Promise<void> {
  const path = resolve(file ?? npmFile());
  const stored = storedTokens(path);
  if (stored.size === 0) return console.log(`${path}: nothing to change`);
  const fresh = new Map<string, string>();
  for (const url of dryRun ? [] : new Set(stored.values())) fresh.set(url, await packageToken(url));
  const edit = (text = ""): Edit => {
    let now = text;
    for (const [key, url] of stored) {
      const ini = parseIni(path, now, NPM);
      // Whoever took it out meanwhile does not want it back.
      if (settingOf(ini, "", key)) now = withSetting(ini, "", key, fresh.get(url) ?? "");
    }
    return { text: now, changes: [...stored.keys()].map((key) => `+ ${key}=…`) };
  };
  await rewrite(path, edit, { dryRun, secret: true });
}

/** The keys of tokens in the file that a server issued which somebody is signed in to, with that server's URL. */
function storedTokens(path: string): Map<string, string> {
  const logins = readLogins();
  const found = new Map<string, string>();
  for (const { key, value, section } of parseIni(path, textOf(path), NPM).settings) {
    const [, host] = section === "" ? (/^\/\/([^/]+)\/npm\/.+\/:_authToken$/.exec(key) ?? []) : [];
    const issuer = host === undefined ? undefined : issuerOf(value);
    const login = issuer === undefined ? undefined : logins[issuer];
    // The token of one server is never written where another one is asked.
    if (issuer !== undefined && login && [new URL(issuer).host, login.registry].includes(host)) found.set(key, issuer);
  }
  return found;
}

function issuerOf(token: string): string | undefined {
  try {
    const { iss } = claimsOf(token);
    return typeof iss === "string" ? iss : undefined;
  } catch {
    return undefined; // a variable, or a password of something else
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw new Error(`cannot read ${path}`, { cause });
  }
}

/** npm finds a token by the longest beginning of the address. */
function tokenKey({ host, pathname }: URL): string {
  return `//${host}${pathname}:_authToken`;
}

function shownToken(value: string): string {
  return /^\$\{\w+\??\}$/.test(value) ? value : "…";
}

function withoutPassword(value: string): string {
  return value.replace(/(\/\/[^/@:]*):[^/@]*@/, "$1:…@");
}

function npmFile(): string {
  return process.env["NPM_CONFIG_USERCONFIG"] || process.env["npm_config_userconfig"] || join(homedir(), ".npmrc");
}
