// Passwords for machines, each with its own identity: creates, lists and revokes them.
import { type Timestamp, timestampDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { IdentitiesService, type Identity, RelationshipType, RoleBindingsService, RolesService } from "@moorage/api";
import { parseDuration } from "@moorage/kernel/config";
import { isUid } from "./api/name-kinds.ts";
import { textIn } from "./api/json-fields.ts";
import { type Names, namesOf } from "./api/names.ts";
import { type JsonObject, openRest } from "./api/rest.ts";
import type { PathOf } from "./api/uid-paths.ts";
import { exitOf, Failure, UsageFailure } from "./command/failure.ts";
import type { ServerFlags } from "./command/global-options.ts";
import { type Connection, connect } from "./connection.ts";
import { makePassword, type Password } from "./password-key.ts";
import { formatOf } from "./output/format.ts";
import { type Listing, type OutputFlags, printList, printMessage } from "./output/output.ts";
import { printable } from "./printable.ts";
import { registryHost } from "./registry-host.ts";
import { quote } from "./shell.ts";

const DAY_MS = 86_400_000;
const PAGE_SIZE = 200;
const MAX_PAGES = 100;

/** What distinguishes the kinds of passwords. The server knows them by the issuer. */
export interface Kind {
  /** What people call one. */
  noun: string;
  issuer: string;
  /** A password that is not changed for longer is usually a forgotten one. */
  maxDays: number;
  /** Said when one is made. */
  advice?: string;
}

/** Pulls what is in a group and below it. */
export const PULL_TOKEN: Kind = { noun: "pull token", issuer: "moorage-pull-token", maxDays: 366 };
/** Pushes too, to a group and below it or to one repo. */
export const PUSH_TOKEN: Kind = {
  noun: "push token",
  issuer: "moorage-push-token",
  maxDays: 90,
  advice: "whoever reads it can push; a CI job needs no password: see docs/keyless.md",
};

export interface CreateFlags extends ServerFlags {
  group?: string;
  repo?: string;
  name: string;
  role: string;
  ttl: string;
  json?: boolean;
}

/** Creates a password, and prints the line that logs docker in with it. */
export async function createToken(kind: Kind, { name, role, ttl, json, ...flags }: CreateFlags): Promise<void> {
  const ttlMs = parseDuration(ttl);
  if (ttlMs === undefined || ttlMs < 1000 || ttlMs > kind.maxDays * DAY_MS)
    throw new Error(`--ttl: must be a duration such as 12h or 30d, at most ${kind.maxDays}d, not ${ttl}`);
  const connection = await connect(flags);
  const { group, scopes } = await placeOf(namesOf(await openRest(flags)), flags);
  const registry = await registryHost(connection.url);
  const {
    roles: [found],
  } = await connection.ask(RolesService.method.listRoles, { name: role, uidp: { inRoot: true }, pageSize: 1 });
  if (found === undefined) throw new Error(`--role: there is no built-in role ${role}`);
  const nowMs = Date.now();
  // The expiry of a token is in whole seconds.
  const endMs = Math.floor((nowMs + ttlMs) / 1000) * 1000;
  const made = makePassword({ issuer: kind.issuer, audience: registry, nowMs, endMs, ...(scopes && { scopes }) });
  const description = flags.repo === undefined ? kind.noun : `${kind.noun} for ${flags.repo} alone`;
  const identity = await makeIdentity(connection, made, { group, name, description, role: found.uid, endMs });
  const end = new Date(endMs).toISOString();
  if (json === true)
    return console.log(
      JSON.stringify({ registry, username: identity, password: made.token, expirationTime: end }, null, 2),
    );
  console.error(`${kind.noun} ${name}, good until ${end}; it is shown this once`);
  if (kind.advice !== undefined) console.error(kind.advice);
  console.log(`printf %s ${quote(made.token)} | docker login ${registry} --username ${identity} --password-stdin`);
}

/** The group that the identity belongs to, and the repo that its password is narrowed to. */
async function placeOf(
  names: Names,
  { group, repo }: Pick<CreateFlags, "group" | "repo">,
): Promise<{ group: string; scopes?: string[] }> {
  if ((group === undefined) === (repo === undefined)) throw new UsageFailure("name either --group or --repo");
  if (repo === undefined) return { group: await names.uidOf("group", group ?? "") };
  // A name without a group could come to mean another repo.
  if (!isUid(repo) && !repo.includes("/"))
    throw new UsageFailure(`must look like acme/app or be a uid, not ${repo}`, { field: "--repo" });
  const uid = await names.uidOf("repo", repo);
  return { group: uid.slice(0, uid.lastIndexOf("/")), scopes: [uid] };
}

interface Wanted {
  group: string;
  name: string;
  description: string;
  role: string;
  endMs: number;
}

/** Creates the identity and its role binding, or neither. Returns the identity's uid. */
async function makeIdentity(
  { ask }: Connection,
  { issuer, subject, issuerKeys, audience }: Password,
  { group, name, description, role, endMs }: Wanted,
): Promise<string> {
  const value = { issuer, subject, issuerKeys, expirationTime: timestampFromMs(endMs), audiences: [audience] };
  const identity = { name, description, relationship: { case: "staticKeys" as const, value } };
  try {
    const { uid } = await ask(IdentitiesService.method.createIdentity, { parent: group, identity });
    await ask(RoleBindingsService.method.createRoleBinding, {
      parent: group,
      roleBinding: { identityUid: uid, roleUid: role },
    });
    return uid;
  } catch (error) {
    // The response may have been lost: ask the server whether the identity was created. No other identity has this
    // subject.
    const left = await ask(IdentitiesService.method.lookupIdentity, { issuer, subject }).then(
      ({ uid }) => uid,
      () => undefined,
    );
    const removed =
      left === undefined ||
      (await ask(IdentitiesService.method.deleteIdentity, { uid: left }).then(
        () => true,
        () => false,
      ));
    if (removed) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new Failure(`${why}; identity ${left} was made for it and could not be removed: it can do nothing`, {
      exit: exitOf(error),
      cause: error,
    });
  }
}

/** Prints the passwords of the kind as a table, or in the format of `-o`. */
export async function listTokens(
  { noun, issuer }: Kind,
  { group: place, ...flags }: ServerFlags & OutputFlags & { group: string },
): Promise<void> {
  const { ask } = await connect(flags);
  const group = place === "" ? "" : await namesOf(await openRest(flags)).uidOf("group", place);
  const found: Identity[] = [];
  let pageToken = "";
  for (let page = 0; page < MAX_PAGES && (page === 0 || pageToken !== ""); page += 1) {
    const asked = {
      pageSize: PAGE_SIZE,
      pageToken,
      relationshipType: RelationshipType.STATIC,
      orderBy: "name",
      uidp: { descendantsOf: group },
    };
    const { identities, nextPageToken } = await ask(IdentitiesService.method.listIdentities, asked);
    found.push(...identities.filter((identity) => isOf(issuer, identity)));
    pageToken = nextPageToken;
  }
  await printPasswords(noun, found, flags);
  if (pageToken !== "") throw new Error("there are more: name a group");
}

/** When it was last used; undefined for never: until the first use the API has the time it was made. */
function seenTime({ createTime, lastSeenTime }: Identity): Timestamp | undefined {
  return timeText(lastSeenTime) === timeText(createTime) ? undefined : lastSeenTime;
}

function endOf({ relationship }: Identity): Timestamp | undefined {
  return relationship.case === "staticKeys" ? relationship.value.expirationTime : undefined;
}

/** Prints them as identities with `expirationTime`; the description names the repo of one that is narrowed. */
async function printPasswords(noun: string, found: readonly Identity[], flags: OutputFlags): Promise<void> {
  async function* items(): AsyncGenerator<JsonObject> {
    for (const identity of found) {
      const { uid, name, description, createTime } = identity;
      const [made, end, seen] = [createTime, endOf(identity), seenTime(identity)].map((time) => time && timeText(time));
      const times = { ...(made && { createTime: made }), ...(end && { expirationTime: end }) };
      yield { uid, name, description, ...times, ...(seen && { lastSeenTime: seen }) };
    }
  }
  const listing: Listing = {
    field: "identities",
    columns: [
      { header: "NAME", value: (item) => textIn(item, "name") },
      { header: "FOR", value: (item, pathOf) => placeOfPassword(noun, item, pathOf) },
      { header: "ENDS", kind: "time", value: (item) => textIn(item, "expirationTime") },
      { header: "LAST USED", kind: "time", value: (item) => textIn(item, "lastSeenTime") || "never" },
      { header: "USER NAME", value: (item) => textIn(item, "uid") },
    ],
    nameOf: (item) => textIn(item, "name"),
    idOf: (item) => textIn(item, "uid"),
  };
  const { kind } = formatOf(flags);
  if (found.length === 0 && (kind === "table" || kind === "wide")) return printMessage(`no ${noun}s`);
  const { pathOf } = namesOf(await openRest(flags));
  await printList(items(), listing, flags, { pathOf });
}

/** The repo that a password is narrowed to, which its description names, or its group. */
async function placeOfPassword(noun: string, { uid, description }: JsonObject, pathOf: PathOf): Promise<string> {
  const start = `${noun} for `;
  const end = " alone";
  if (typeof description === "string" && description.startsWith(start) && description.endsWith(end))
    return description.slice(start.length, -end.length);
  return pathOf(String(uid).slice(0, String(uid).lastIndexOf("/")), "group");
}

/** Revokes a password of the kind, by the uid of its identity. */
export async function revokeToken({ noun, issuer }: Kind, uid: string, flags: ServerFlags): Promise<void> {
  const { ask } = await connect(flags);
  const identity = await ask(IdentitiesService.method.getIdentity, { uid });
  if (!isOf(issuer, identity)) throw new Error(`identity ${uid} is no ${noun}`);
  await ask(IdentitiesService.method.deleteIdentity, { uid });
  console.log(`${noun} ${printable(identity.name)} is revoked`);
}

function isOf(issuer: string, { relationship }: Identity): boolean {
  return relationship.case === "staticKeys" && relationship.value.issuer === issuer;
}

function timeText(time: Timestamp | undefined): string {
  return time === undefined ? "never" : timestampDate(time).toISOString();
}
