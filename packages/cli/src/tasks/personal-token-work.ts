// Makes, lists and revokes the personal tokens of whoever calls.
import { textIn, textsIn } from "../api/json-fields.ts";
import { isUid } from "../api/name-kinds.ts";
import type { JsonObject } from "../api/rest.ts";
import { durationOfFlag } from "../command/duration.ts";
import { EXIT } from "../command/exit-codes.ts";
import { Failure, UsageFailure } from "../command/failure.ts";
import { callerIdentity } from "../caller-identity.ts";
import type { Listing } from "../output/listing.ts";
import { printable } from "../printable.ts";
import { registryHost } from "../registry-host.ts";
import { quote } from "../shell.ts";
import { type ListFlags, printOrWatch, sizesOf } from "./lists.ts";
import { openSession, type Session, type TaskFlags } from "./session.ts";
import { capabilitiesFor, permissionWords } from "./token-permissions.ts";

export interface CreateFlags extends TaskFlags {
  name: string;
  may: string;
  group?: string[];
  ttl: string;
  json?: boolean;
}

export interface ListTokensFlags extends ListFlags {
  identity?: string;
  group?: string;
  all?: boolean;
}

const PATH = "/iam/v2/personalTokens";
const FIELD = "personalTokens";
const DAY_MS = 86_400_000;
const MAX_DAYS = 365;

/** Makes a token, and prints the line that logs docker in with it: nobody sees it again. */
export async function createPersonalToken({ name, may, group = [], ttl, json, ...flags }: CreateFlags): Promise<void> {
  const ttlMs = durationOfFlag("--ttl", ttl);
  if (ttlMs < 1000 || ttlMs > MAX_DAYS * DAY_MS)
    throw new UsageFailure(`must be at most ${MAX_DAYS}d, not ${ttl}`, { field: "--ttl" });
  const { rest, names } = await openSession(flags);
  const [registry, capabilities, ...groups] = await Promise.all([
    registryHost(rest.url),
    capabilitiesFor(rest, may),
    ...group.map((path) => names.uidOf("group", path)),
  ]);
  const expirationTime = new Date(Date.now() + ttlMs).toISOString();
  const made = await rest.call("POST", PATH, { body: { name, capabilities, groups, expirationTime } });
  const [uid, token, end] = [textIn(made, "uid"), textIn(made, "token"), textIn(made, "expirationTime")];
  if (json === true) return console.log(JSON.stringify({ registry, uid, token, expirationTime: end }, null, 2));
  console.error(printable(`personal token ${name}, good until ${end}; it is shown this once`));
  console.log(`printf %s ${quote(token)} | docker login ${registry} --username any --password-stdin`);
}

/** Prints the tokens: the caller's own, unless others are asked for. */
export async function listPersonalTokens(flags: ListTokensFlags): Promise<void> {
  const session = await openSession(flags);
  const { rest, names } = session;
  const query = {
    ...(flags.identity !== undefined && { identity: await names.uidOf("identity", flags.identity) }),
    ...(flags.group !== undefined && { group: await names.uidOf("group", flags.group) }),
  };
  const isOwn = flags.all !== true && Object.keys(query).length === 0;
  const asked = isOwn ? { identity: await callerIdentity(flags) } : query;
  const wordOf = await permissionWords(rest);
  await printOrWatch(
    () => rest.list(PATH, FIELD, { ...sizesOf(flags), query: asked }),
    listingOf(wordOf, isOwn),
    flags,
    { pathOf: names.pathOf },
  );
}

function listingOf(wordOf: (token: JsonObject) => string, isOwn: boolean): Listing {
  return {
    field: FIELD,
    columns: [
      { header: "NAME", value: (item) => textIn(item, "name"), flexible: true },
      { header: "ENDS WITH", value: (item) => textIn(item, "hint") },
      { header: "MAY", value: wordOf },
      {
        header: "WHERE",
        value: async (item, pathOf) => {
          const groups = await Promise.all(textsIn(item, "groups").map((uid) => pathOf(uid, "group")));
          return groups.length === 0 ? "everywhere" : groups.join(", ");
        },
        flexible: true,
      },
      { header: "EXPIRES", kind: "time", value: (item) => textIn(item, "expirationTime") },
      { header: "LAST USED", kind: "time", value: (item) => textIn(item, "lastUsedTime") || "never" },
      { header: "PERSON", value: (item, pathOf) => pathOf(textIn(item, "identity"), "identity"), wide: isOwn },
      { header: "UID", value: (item) => textIn(item, "uid"), wide: true },
    ],
    nameOf: (item) => textIn(item, "name"),
    idOf: (item) => textIn(item, "uid"),
  };
}

/** Revokes the tokens one after the other. Nothing is revoked where it is not clear which one is meant. */
export async function revokePersonalTokens(tokens: readonly string[], flags: TaskFlags): Promise<void> {
  const session = await openSession(flags);
  const own = tokens.every(isUid) ? [] : await ownTokens(session, flags);
  const uids = tokens.map((token) => (isUid(token) ? token : uidOf(token, own)));
  for (const uid of uids) {
    const { name } = await session.rest.call("GET", `${PATH}/${uid}`);
    await session.rest.call("DELETE", `${PATH}/${uid}`);
    console.log(printable(`personal token ${String(name)} is revoked`));
  }
}

async function ownTokens({ rest }: Session, flags: TaskFlags): Promise<JsonObject[]> {
  const found: JsonObject[] = [];
  for await (const item of rest.list(PATH, FIELD, { query: { identity: await callerIdentity(flags) } }))
    found.push(item);
  return found;
}

function uidOf(text: string, own: readonly JsonObject[]): string {
  const found = own.filter((item) => textIn(item, "name") === text || textIn(item, "hint") === text);
  const [one, second] = found;
  if (one === undefined)
    throw new Failure(`you have no personal token ${text}`, {
      exit: EXIT.notFound,
      hint: "moorage personal-tokens list",
    });
  if (second !== undefined)
    throw new Failure(`several of your personal tokens are called ${text}: name one by its last four characters`, {
      exit: EXIT.usage,
      hint: "moorage personal-tokens list",
    });
  return textIn(one, "uid");
}
