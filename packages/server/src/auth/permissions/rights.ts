import type { Capability } from "@moorage/api";
import { isWithin, parentOf } from "../../lib/uid.ts";
import type { Caller } from "../../core/call.ts";
import { type Database, snapshotCaches, statement } from "../../store/index.ts";

/** What one role binding gives: capabilities on a group and everything below it. */
export interface Grant {
  group: string;
  capabilities: ReadonlySet<number>;
}

const MAX_PARSED = 1000;
const parsed = new Map<string, ReadonlySet<number>>();

/** Capability numbers of a roles row. The text decides, so a changed role is another entry. */
function parseCapabilities(text: string): ReadonlySet<number> {
  const known = parsed.get(text);
  if (known) return known;
  if (parsed.size >= MAX_PARSED) parsed.clear();
  const fresh = new Set(JSON.parse(text) as number[]);
  parsed.set(text, fresh);
  return fresh;
}

const selectGrants = statement<{ group_uid: string; capabilities: string }>(
  "select b.parent as group_uid, r.capabilities from role_bindings as b join roles as r on r.uid = b.role_uid where b.identity_uid = ?",
);

const MAX_KNOWN = 10_000;
const knownGrants = snapshotCaches<Grant[]>(MAX_KNOWN);

/**
 * What the identity's bindings give it, never above its own parent group. The one binding that it may have elsewhere is
 * on an organization that it made itself as an administrator. Source: contract §7.
 */
export function grantsOf(db: Database, identity: string): Grant[] | Promise<Grant[]> {
  return identity === "" ? [] : knownGrants(db).remember(identity, () => readGrants(db, identity));
}

async function readGrants(db: Database, identity: string): Promise<Grant[]> {
  const rows = await selectGrants(db, identity);
  const home = parentOf(identity);
  return rows
    .filter(
      ({ group_uid: group }) =>
        home === "" || isWithin(group, home) || (parentOf(group) === "" && !isWithin(home, group)),
    )
    .map(({ group_uid: group, capabilities }) => ({ group, capabilities: parseCapabilities(capabilities) }));
}

/** What mappings give to whoever is in one of the groups at the provider. Both must be there now, and the role. */
const mappedGrants = (groups: number) =>
  statement<{ group_uid: string; capabilities: string }>(
    `select m.scope as group_uid, r.capabilities from external_group_role_mappings as m join identity_providers as p on p.uid = m.parent
    join roles as r on r.uid = m.role_uid where m.parent = ? and m.external_group_id in (${Array.from({ length: groups }, () => "?").join(", ")})`,
  );
const knownStatements = new Map<number, ReturnType<typeof mappedGrants>>();

/**
 * What the caller's bindings give it, and its groups for as long as its provider's token said so: those are read anew
 * every time.
 */
export function callerGrants(db: Database, { identity, external }: Caller, nowMs: number): Grant[] | Promise<Grant[]> {
  const hold = external !== undefined && nowMs < external.untilMs && external.groups.length > 0;
  return hold ? withGroups(db, identity, external) : grantsOf(db, identity);
}

async function withGroups(db: Database, identity: string, external: NonNullable<Caller["external"]>): Promise<Grant[]> {
  const bound = await grantsOf(db, identity);
  // Of few lengths, so that the engine knows the statement again.
  const length = 2 ** Math.ceil(Math.log2(external.groups.length));
  let select = knownStatements.get(length);
  if (select === undefined) knownStatements.set(length, (select = mappedGrants(length)));
  const padding = Array.from({ length: length - external.groups.length }, () => external.groups[0] ?? "");
  const rows = await select(db, external.provider, ...external.groups, ...padding);
  return [
    ...bound,
    ...rows.map(({ group_uid: group, capabilities }) => ({ group, capabilities: parseCapabilities(capabilities) })),
  ];
}

/** The rights of one call, read once from the bindings. */
export interface Rights {
  may(capability: Capability, uid: string): boolean;
  /** The outermost groups at and below which all the capabilities are held. */
  visible(capabilities: Capability[]): string[];
}

/** The caller's rights: what its grants give, less what its token leaves out. */
export function rightsOf(caller: Caller, grants: Grant[]): Rights {
  const inToken = (capability: Capability): boolean =>
    caller.capabilities === undefined || caller.capabilities.includes(capability);
  const inScope = (uid: string): boolean =>
    caller.scopes === undefined || caller.scopes.some((scope) => isWithin(uid, scope));
  const held = (capability: Capability, uid: string): boolean =>
    grants.some((grant) => grant.capabilities.has(capability) && isWithin(uid, grant.group));
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

function narrower(group: string, scope: string): string[] {
  if (isWithin(scope, group)) return [scope];
  return isWithin(group, scope) ? [group] : [];
}

/** The given uids without those that stand below another one. */
export function outermost(uids: string[]): string[] {
  const unique = [...new Set(uids)];
  return unique.filter((uid) => !unique.some((other) => other !== uid && isWithin(uid, other)));
}
