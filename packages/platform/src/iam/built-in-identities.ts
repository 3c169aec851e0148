import type { Capability } from "@moorage/api/messages";
import { failedPrecondition, type FieldViolation } from "@moorage/kernel/errors";
import { type Database, putValue, removeValue } from "@moorage/kernel/store";
import { BUILT_IN_ROLES } from "./built-in-roles.ts";
import { capabilityName } from "./roles.ts";

/** The identity that every caller has, also one without a token: what is bound to it is public. */
export const EVERYBODY = "everybody";
/** The identity that every caller has whose token stands for an identity of this server, a person's or a machine's. */
export const SIGNED_IN = "signed-in";

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  [EVERYBODY]: "every caller, also without a log-in",
  [SIGNED_IN]: "every identity of this installation, people and machines",
};

/** Whether the uid is that of a built-in identity, which has no row, no tokens and no parent. */
export function isBuiltInIdentity(uid: string): boolean {
  return Object.hasOwn(DESCRIPTIONS, uid);
}

/** How answers show a built-in identity; undefined for any other. */
export function builtInIdentity(uid: string): { uid: string; name: string; description: string } | undefined {
  const description = isBuiltInIdentity(uid) ? DESCRIPTIONS[uid] : undefined;
  return description === undefined ? undefined : { uid, name: uid, description };
}

/**
 * All that a built-in identity may ever hold, whatever its roles say: what the role `registry.pull` has. Source:
 * docs/adr/0037-public-groups.md.
 */
export const OPEN_CAPABILITIES: ReadonlySet<number> = new Set(
  BUILT_IN_ROLES.find(({ name }) => name === "registry.pull")?.capabilities,
);

/** The key of `installation` that is there while bindings of built-in identities count. */
export const PUBLIC_GROUPS_KEY = "public_groups";

/** Why bindings of built-in identities do not count. */
export const PUBLIC_GROUPS_OFF = "MOORAGE_PUBLIC_GROUPS is off";

/** Has bindings of built-in identities count, or not, from the next transaction on, in all processes. */
export async function setPublicGroups(tx: Database, isOn: boolean): Promise<void> {
  if ((await arePublicGroupsOn(tx)) === isOn) return;
  await (isOn ? putValue(tx, PUBLIC_GROUPS_KEY, "1") : removeValue(tx, PUBLIC_GROUPS_KEY));
}

/** Whether bindings of built-in identities count. */
export async function arePublicGroupsOn(tx: Database): Promise<boolean> {
  const found = await tx
    .selectFrom("installation")
    .select("key")
    .where("key", "=", PUBLIC_GROUPS_KEY)
    .executeTakeFirst();
  return found !== undefined;
}

/** The most bindings of built-in identities in an installation: each call reads them. */
const MAX_OPEN_BINDINGS = 1_000;
const MAX_NAMED = 3;

/**
 * Checks that a built-in identity may be bound at all. Throws FAILED_PRECONDITION where the operator has not allowed
 * it, and at the limit.
 */
export async function requireOpenBinding(tx: Database, uid: string): Promise<void> {
  if (!(await arePublicGroupsOn(tx)))
    throw failedPrecondition({
      type: "PUBLIC_GROUPS_OFF",
      subject: uid,
      description: `${uid} is bound to no role here: ${PUBLIC_GROUPS_OFF}, so that only the public organization is read without a log-in; the operator may set it to 1`,
    });
  const { n } = await tx
    .selectFrom("role_bindings")
    .select(({ fn }) => fn.countAll<number>().as("n"))
    .where("identity_uid", "in", Object.keys(DESCRIPTIONS))
    .executeTakeFirstOrThrow();
  if (Number(n) < MAX_OPEN_BINDINGS) return;
  throw failedPrecondition({
    type: "TOO_MANY_OPEN_BINDINGS",
    subject: uid,
    description: `everybody and signed-in are bound ${Number(n)} times, and ${MAX_OPEN_BINDINGS} are the most: bind them on a group above instead`,
  });
}

/** What is wrong with a role for a built-in identity: capabilities that nobody holds without being named. */
export function openRoleViolations(field: string, uid: string, capabilities: readonly Capability[]): FieldViolation[] {
  const over = capabilities.filter((capability) => !OPEN_CAPABILITIES.has(capability)).map(capabilityName);
  if (over.length === 0) return [];
  const named = over.slice(0, MAX_NAMED).join(", ");
  const more = over.length > MAX_NAMED ? ` and ${over.length - MAX_NAMED} more` : "";
  const description = `has ${named}${more}, which ${uid} cannot hold: at most what registry.pull has, which only reads images and libraries`;
  return [{ field, description }];
}
