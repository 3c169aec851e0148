// Passwords for machines that pull, each with its own identity: creates, lists and revokes them.
import { type Timestamp, timestampDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { IdentitiesService, type Identity, RelationshipType, RoleBindingsService, RolesService } from "@moorage/api";
import { parseDuration } from "@moorage/server/config";
import type { ServerFlags } from "./caller.ts";
import { type Connection, connect } from "./connection.ts";
import { makePullToken, PULL_TOKEN_ISSUER, type PullToken } from "./pull-key.ts";
import { registryHost } from "./registry-host.ts";
import { quote } from "./shell.ts";

// A password that is not changed for over a year is usually a forgotten one.
const MAX_TTL_MS = 366 * 86_400_000;
const PAGE_SIZE = 200;
const MAX_PAGES = 100;

export interface CreateFlags extends ServerFlags {
  group: string;
  name: string;
  role: string;
  ttl: string;
  json?: boolean;
}

/** Creates a pull token, and prints the line that logs docker in with it. */
export async function createToken({ group, name, role, ttl, json, ...flags }: CreateFlags): Promise<void> {
  const ttlMs = parseDuration(ttl);
  if (ttlMs === undefined || ttlMs < 1000 || ttlMs > MAX_TTL_MS)
    throw new Error(`--ttl: must be a duration such as 12h or 30d, at most 366d, not ${ttl}`);
  const connection = await connect(flags);
  const registry = await registryHost(connection.url);
  const {
    roles: [found],
  } = await connection.ask(RolesService.method.listRoles, { name: role, uidp: { inRoot: true }, pageSize: 1 });
  if (found === undefined) throw new Error(`--role: there is no built-in role ${role}`);
  const nowMs = Date.now();
  // The expiry of a token is in whole seconds.
  const endMs = Math.floor((nowMs + ttlMs) / 1000) * 1000;
  const made = makePullToken(registry, nowMs, endMs);
  const identity = await makeIdentity(connection, made, { group, name, role: found.uid, endMs });
  const end = new Date(endMs).toISOString();
  if (json === true)
    return console.log(
      JSON.stringify({ registry, username: identity, password: made.token, expirationTime: end }, null, 2),
    );
  console.error(`pull token ${name}, good until ${end}; it is shown this once`);
  console.log(`printf %s ${quote(made.token)} | docker login ${registry} --username ${identity} --password-stdin`);
}

interface Wanted {
  group: string;
  name: string;
  role: string;
  endMs: number;
}

/** Creates the identity and its role binding, or neither. Returns the identity's uid. */
async function makeIdentity(
  { ask }: Connection,
  { issuer, subject, issuerKeys, audience }: PullToken,
  { group, name, role, endMs }: Wanted,
): Promise<string> {
  const value = { issuer, subject, issuerKeys, expirationTime: timestampFromMs(endMs), audiences: [audience] };
  const identity = { name, description: "pull token", relationship: { case: "staticKeys" as const, value } };
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
    throw new Error(`${why}; identity ${left} was made for it and could not be removed: it can do nothing`, {
      cause: error,
    });
  }
}

/** Prints a line for each pull token. */
export async function listTokens({ group, ...flags }: ServerFlags & { group: string }): Promise<void> {
  const { ask } = await connect(flags);
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
    found.push(...identities.filter(isPullToken));
    pageToken = nextPageToken;
  }
  for (const { uid, name, relationship, createTime, lastSeenTime } of found) {
    const end = relationship.case === "staticKeys" ? relationship.value.expirationTime : undefined;
    console.log(
      [uid, name, `made ${timeText(createTime)}`, `ends ${timeText(end)}`, `last seen ${timeText(lastSeenTime)}`].join(
        "  ",
      ),
    );
  }
  if (pageToken !== "") throw new Error("there are more: name a group");
}

/** Revokes a pull token, by the uid of its identity. */
export async function revokeToken(uid: string, flags: ServerFlags): Promise<void> {
  const { ask } = await connect(flags);
  const identity = await ask(IdentitiesService.method.getIdentity, { uid });
  if (!isPullToken(identity)) throw new Error(`identity ${uid} is no pull token`);
  await ask(IdentitiesService.method.deleteIdentity, { uid });
  console.log(`pull token ${identity.name} is revoked`);
}

function isPullToken({ relationship }: Identity): boolean {
  return relationship.case === "staticKeys" && relationship.value.issuer === PULL_TOKEN_ISSUER;
}

function timeText(time: Timestamp | undefined): string {
  return time === undefined ? "never" : timestampDate(time).toISOString();
}
