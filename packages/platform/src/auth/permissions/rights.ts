import type { Capability } from "@moorage/api/messages";
import type { Caller } from "@moorage/kernel/core/call";
import { after, type Awaitable } from "@moorage/kernel/lib/awaitable";
import { ancestorsOf, isWithin, parentOf } from "@moorage/kernel/lib/uid";
import { type Database, snapshotCaches, statement } from "@moorage/kernel/store";
import { EVERYBODY, OPEN_CAPABILITIES, PUBLIC_GROUPS_KEY, SIGNED_IN, statedGroups } from "../../iam/index.ts";

/** What one role binding grants: capabilities on a group and everything below it. */
export interface Grant {
  group: string;
  capabilities: ReadonlySet<number>;
}

const MAX_PARSED = 1000;
const parsed = new Map<string, ReadonlySet<number>>();

/** The capability numbers of a row of `roles`. Cached by the text, so a changed role is another entry. */
function parseCapabilities(text: string): ReadonlySet<number> {
  const known = parsed.get(text);
  if (known) return known;
  if (parsed.size >= MAX_PARSED) parsed.clear();
  const fresh = new Set(JSON.parse(text) as number[]);
  parsed.set(text, fresh);
  return fresh;
}

interface Bound {
  identity_uid: string;
  group_uid: string;
  capabilities: string;
}

// Those of built-in identities count while the operator allows public groups, whoever asks.
const selectBound = (identity: string, builtIn: string) =>
  `select b.identity_uid, b.parent as group_uid, r.capabilities from role_bindings as b join roles as r on r.uid = b.role_uid where ${identity}(b.identity_uid in (${builtIn}) and exists (select 1 from installation as i where i.key = '${PUBLIC_GROUPS_KEY}'))`;
const selectGrants = statement<Bound>(selectBound("b.identity_uid = ? or ", `'${EVERYBODY}', '${SIGNED_IN}'`), [
  "text",
]);
const selectOpen = statement<Bound>(selectBound("", `'${EVERYBODY}'`));

const MAX_KNOWN = 10_000;
const knownGrants = snapshotCaches<Grant[]>(MAX_KNOWN, ["role_bindings", "roles", "installation"]);

/**
 * What role bindings grant the identity: its own, never above its own parent group, and those of the built-in
 * identities that it has as well. The only binding that it may have elsewhere is on an organization that it created as
 * an administrator. `identity`: empty for an anonymous caller. Source: docs/contract.md, "Capabilities and roles";
 * docs/adr/0037-public-groups.md.
 */
export function grantsOf(db: Database, identity: string): Awaitable<Grant[]> {
  return knownGrants(db).remember(identity, () => readGrants(db, identity));
}

/** The same without those of built-in identities. */
export async function ownGrantsOf(db: Database, identity: string): Promise<Grant[]> {
  if (identity === "") return [];
  return (await selectGrants(db, identity)).filter(isOwn).flatMap((row) => grantOf(parentOf(identity), row));
}

function readGrants(db: Database, identity: string): Awaitable<Grant[]> {
  const home = parentOf(identity);
  return after(identity === "" ? selectOpen(db) : selectGrants(db, identity), (rows) =>
    rows.flatMap((row) => grantOf(home, row)),
  );
}

function isOwn({ identity_uid: identity }: Bound): boolean {
  return identity !== EVERYBODY && identity !== SIGNED_IN;
}

function grantOf(home: string, row: Bound): Grant[] {
  const capabilities = parseCapabilities(row.capabilities);
  if (isOwn(row)) return reaches(home, row.group_uid) ? [{ group: row.group_uid, capabilities }] : [];
  // A role may have been given more since it was bound.
  return [{ group: row.group_uid, capabilities: onlyOpen(capabilities) }];
}

const openOf = new WeakMap<ReadonlySet<number>, ReadonlySet<number>>();

function onlyOpen(capabilities: ReadonlySet<number>): ReadonlySet<number> {
  const found = openOf.get(capabilities) ?? new Set([...capabilities].filter((each) => OPEN_CAPABILITIES.has(each)));
  openOf.set(capabilities, found);
  return found;
}

/**
 * Whether a role binding on the group counts for an identity whose parent is `home`, "" for people. Only a fault of the
 * data has bindings that do not.
 */
export function reaches(home: string, group: string): boolean {
  return home === "" || isWithin(group, home) || (parentOf(group) === "" && !isWithin(home, group));
}

/**
 * What role mappings grant to members of the provider's groups. Joined, so that the provider and the role must still
 * exist.
 */
const mappedGrants = (groups: number) =>
  statement<{ group_uid: string; capabilities: string }>(
    `select m.scope as group_uid, r.capabilities from external_group_role_mappings as m join identity_providers as p on p.uid = m.parent
    join roles as r on r.uid = m.role_uid where m.parent = ? and m.external_group_id in (${Array.from({ length: groups }, () => "?").join(", ")})`,
    Array.from({ length: groups + 1 }, () => "text"),
  );
const knownStatements = new Map<number, ReturnType<typeof mappedGrants>>();

/**
 * What the caller's role bindings grant it, and, until its provider's token ends, what its groups grant. The latter is
 * read at every call.
 */
export function callerGrants(db: Database, { identity, external }: Caller, nowMs: number): Awaitable<Grant[]> {
  const hold = external !== undefined && nowMs < external.untilMs && external.groups.length > 0;
  return hold ? withGroups(db, identity, external) : grantsOf(db, identity);
}

async function withGroups(db: Database, identity: string, external: NonNullable<Caller["external"]>): Promise<Grant[]> {
  const grants = [...(await grantsOf(db, identity))];
  const all = await statedGroups(db, identity, external);
  for (let at = 0; at < all.length; at += MAX_GROUPS_AT_ONCE) {
    const groups = all.slice(at, at + MAX_GROUPS_AT_ONCE);
    // Padded to a power of two, so that few statements are prepared and the engine can reuse them.
    const length = 2 ** Math.ceil(Math.log2(groups.length));
    let select = knownStatements.get(length);
    if (select === undefined) knownStatements.set(length, (select = mappedGrants(length)));
    const padding = Array.from({ length: length - groups.length }, () => groups[0] ?? "");
    const rows = await select(db, external.provider, ...groups, ...padding);
    for (const { group_uid: group, capabilities } of rows)
      grants.push({ group, capabilities: parseCapabilities(capabilities) });
  }
  return grants;
}

const MAX_GROUPS_AT_ONCE = 1024;

/** The rights of one call, computed once from its grants. */
export interface Rights {
  may(capability: Capability, uid: string): boolean;
  /** The outermost groups at and below which the caller holds all the capabilities. */
  visible(capabilities: Capability[]): string[];
}

/** The caller's rights: what its grants allow, limited to the capabilities and scopes of its token. */
export function rightsOf(caller: Caller, grants: Grant[]): Rights {
  const inToken = (capability: Capability): boolean =>
    caller.capabilities === undefined || caller.capabilities.includes(capability);
  const inScope = (uid: string): boolean =>
    caller.scopes === undefined || caller.scopes.some((scope) => isWithin(uid, scope));
  const held = heldBy(grants);
  return {
    may: (capability, uid) => inToken(capability) && inScope(uid) && held(capability, uid),
    visible(capabilities) {
      if (!capabilities.every(inToken)) return [];
      const groups = grants
        .map(({ group }) => group)
        .filter((group) => capabilities.every((capability) => held(capability, group)));
      const narrowed =
        caller.scopes === undefined
          ? groups
          : groups.flatMap((group) => caller.scopes?.flatMap((scope) => narrower(group, scope)) ?? []);
      return outermost(narrowed);
    },
  };
}

/** Whether a capability is held on a uid: by the groups above it where there are many grants. */
function heldBy(grants: Grant[]): Rights["may"] {
  if (grants.length <= FEW)
    return (capability, uid) =>
      grants.some((grant) => grant.capabilities.has(capability) && isWithin(uid, grant.group));
  const byGroup = Map.groupBy(grants, ({ group }) => group);
  return (capability, uid) =>
    [uid, ...ancestorsOf(uid)].some((each) =>
      byGroup.get(each)?.some(({ capabilities }) => capabilities.has(capability)),
    );
}

const FEW = 16;

function narrower(group: string, scope: string): string[] {
  if (isWithin(scope, group)) return [scope];
  return isWithin(group, scope) ? [group] : [];
}

/** The given uids without those below another one of them. */
function outermost(uids: string[]): string[] {
  const unique = new Set(uids);
  return [...unique].filter((uid) => !ancestorsOf(uid).some((above) => unique.has(above)));
}
