import { create, type DescField, type DescMessage, type DescMethod, hasOption, type Message } from "@bufbuild/protobuf";
import {
  type Access,
  access as accessOption,
  AccountAssociationSchema,
  AdvisoryEventSchema,
  ArtifactPolicySchema,
  ArtifactSchema,
  ArtifactVersionSchema,
  AdvisorySchema,
  Capability,
  CapabilitySchema,
  DeliverySchema,
  ExternalGroupRoleMappingSchema,
  GroupInviteSchema,
  GroupSchema,
  IdentityProviderSchema,
  IdentitySchema,
  PersonalTokenSchema,
  QuotaSchema,
  RegistryUpstreamSchema,
  ReplicationSchema,
  RepoSchema,
  RoleBindingSchema,
  RoleSchema,
  ScannerSchema,
  SignatureExemptionSchema,
  SignaturePolicySchema,
  SignerSchema,
  ScanSchema,
  SessionSchema,
  SubscriptionSchema,
  TagSchema,
  TrustRootSchema,
  UpstreamSchema,
} from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { invalidArgument, notFound, permissionDenied, unauthenticated } from "@moorage/kernel/errors";
import { after, type Awaitable } from "@moorage/kernel/lib/awaitable";
import { isUid, parentOf } from "@moorage/kernel/lib/uid";
import type { ResourceTable } from "@moorage/kernel/store";
import { findSession } from "../sign-in/sessions.ts";
import { mayOnSignInsOf } from "../sign-ins-of.ts";
import { optionOf } from "@moorage/kernel/lib/options";

const TABLES: Readonly<Record<string, ResourceTable>> = {
  [GroupSchema.typeName]: "groups",
  [IdentitySchema.typeName]: "identities",
  [RoleSchema.typeName]: "roles",
  [RoleBindingSchema.typeName]: "role_bindings",
  [GroupInviteSchema.typeName]: "group_invites",
  [AccountAssociationSchema.typeName]: "account_associations",
  [IdentityProviderSchema.typeName]: "identity_providers",
  [ExternalGroupRoleMappingSchema.typeName]: "external_group_role_mappings",
  [RepoSchema.typeName]: "repos",
  [TagSchema.typeName]: "tags",
  [SubscriptionSchema.typeName]: "subscriptions",
  [DeliverySchema.typeName]: "deliveries",
  [ArtifactSchema.typeName]: "artifacts",
  [ArtifactPolicySchema.typeName]: "artifact_policies",
  [UpstreamSchema.typeName]: "upstreams",
  [ArtifactVersionSchema.typeName]: "artifact_versions",
  [AdvisorySchema.typeName]: "advisories",
  [AdvisoryEventSchema.typeName]: "advisory_events",
  [ScannerSchema.typeName]: "scanners",
  [SignerSchema.typeName]: "signers",
  [TrustRootSchema.typeName]: "trust_roots",
  [QuotaSchema.typeName]: "quotas",
  [RegistryUpstreamSchema.typeName]: "registry_upstreams",
  [ReplicationSchema.typeName]: "replications",
  [SignaturePolicySchema.typeName]: "signature_policies",
  [SignatureExemptionSchema.typeName]: "signature_exemptions",
  [ScanSchema.typeName]: "scans",
  [SessionSchema.typeName]: "sessions",
  [PersonalTokenSchema.typeName]: "personal_tokens",
};

/** The access rule of a method. Throws for a method without one: it must not be served. */
export function accessOf(method: DescMethod): Access {
  if (!hasOption(method, accessOption)) throw new Error(`${method.toString()} has no access rule`);
  const rule = optionOf(method, accessOption);
  if (rule.scope !== "" && !Object.hasOwn(TABLES, rule.resource))
    throw new Error(`the access rule of ${method.toString()} names no known resource`);
  return rule;
}

/**
 * Checks that the caller may call the method. All methods of the API are checked here and nowhere else. A resource that
 * the caller may not see is answered as one that does not exist. Throws UNAUTHENTICATED, NOT_FOUND, PERMISSION_DENIED,
 * or INVALID_ARGUMENT for a missing scope. Source: docs/contract.md, "Errors" and "Capabilities and roles".
 */
export function authorize(
  method: DescMethod,
  rule: Access,
  call: Call,
  message: Message,
  mayMakeOrganizations: boolean,
): Awaitable<void> {
  if (rule.public || (rule.anonymous && call.caller.identity === "")) return;
  if (call.caller.identity === "") throw unauthenticated("a token is required");
  if (rule.authenticated || rule.scope === "") return;
  const uid = scopeOf(method, rule.scope, message);
  if (uid === "" && rule.root) {
    if (mayMakeOrganizations && !isNarrowed(call, rule)) return;
    throw permissionDenied("only administrators may create organizations, with a token that is not narrowed");
  }
  if (uid === "") throw invalidArgument({ field: rule.scope.split(".").at(-1) ?? "", description: "is required" });
  if (!isUid(uid)) throw notFound(rule.resource, uid);
  if (rule.fromAbove) return requireFromAbove(call, rule, uid, mayMakeOrganizations);
  return after(holdsAll(call, rule, uid), (isHeld) => (isHeld ? undefined : requireAll(call, rule, uid)));
}

/** Whether the token is not for all that is asked for; an organization at the root is in the scopes of none. */
function isNarrowed({ caller: { capabilities, scopes } }: Call, rule: Access): boolean {
  return (
    scopes !== undefined ||
    (capabilities !== undefined && !rule.capabilities.every((capability) => capabilities.includes(capability)))
  );
}

/** Whoever owns a resource may not do this with it: it takes the capabilities above it. */
async function requireFromAbove(call: Call, rule: Access, uid: string, mayMakeOrganizations: boolean): Promise<void> {
  const above = parentOf(uid);
  const isHeld = above === "" ? mayMakeOrganizations && !isNarrowed(call, rule) : await holdsAll(call, rule, above);
  const isThere = await exists(call, rule.resource, uid);
  if (isHeld && isThere) return;
  if (!isThere || !(await holds(call, rule, rule.see, uid))) throw notFound(rule.resource, uid);
  const missing = rule.capabilities.map((capability) => CapabilitySchema.value[capability]?.name ?? "").join(", ");
  if (above === "") throw permissionDenied("only administrators may do this with an organization", { missing });
  throw permissionDenied(`the caller lacks ${missing} on the group above`, { missing });
}

function holdsAll(call: Call, rule: Access, uid: string, from = 0): Awaitable<boolean> {
  const capability = rule.capabilities[from];
  if (capability === undefined) return true;
  return after(holds(call, rule, capability, uid), (isHeld) => isHeld && holdsAll(call, rule, uid, from + 1));
}

async function requireAll(call: Call, rule: Access, uid: string): Promise<void> {
  const missing: string[] = [];
  for (const capability of rule.capabilities)
    if (!(await holds(call, rule, capability, uid))) missing.push(CapabilitySchema.value[capability]?.name ?? "");
  if (missing.length === 0) return;
  if ((await holds(call, rule, rule.see, uid)) && (await exists(call, rule.resource, uid)))
    throw permissionDenied(`the caller lacks ${missing.join(", ")}`, { missing: missing.join(",") });
  throw notFound(rule.resource, uid);
}

/**
 * Whether the caller holds the capability on a resource of the rule's type: by what its token and its grants allow, and
 * by what callers hold of built-in roles, of people and of themselves.
 */
export function holds(
  call: Call,
  rule: Pick<Access, "resource">,
  capability: Capability,
  uid: string,
): Awaitable<boolean> {
  // Built-in roles are above all groups. Every caller sees them, and a caller that may change roles anywhere passes
  // this check, so that it is answered that built-in roles cannot be changed.
  if (rule.resource === RoleSchema.typeName && parentOf(uid) === "") {
    return (
      capability === Capability.CAP_IAM_ROLES_LIST || after(call.visible(capability), (groups) => groups.length > 0)
    );
  }
  if (rule.resource === SessionSchema.typeName || rule.resource === PersonalTokenSchema.typeName)
    return mayOnSignInsOf(call, capability, parentOf(uid));
  // An identity always sees itself.
  if (capability === Capability.CAP_IAM_IDENTITY_LIST && uid === call.caller.identity) return true;
  if (rule.resource === IdentitySchema.typeName && parentOf(uid) === "") return holdsOfPerson(call, capability, uid);
  return call.may(capability, uid);
}

const OF_PEOPLE: readonly Capability[] = [Capability.CAP_IAM_IDENTITY_LIST, Capability.CAP_IAM_IDENTITY_DELETE];

/**
 * A person is in no group. Who may list or delete identities of the group of the person's identity provider may list or
 * delete the person; nobody changes one.
 */
async function holdsOfPerson(call: Call, capability: Capability, uid: string): Promise<boolean> {
  if (!OF_PEOPLE.includes(capability)) return false;
  const row = await call.tx.selectFrom("identities").select("provider").where("uid", "=", uid).executeTakeFirst();
  return row !== undefined && row.provider !== "" && (await call.may(capability, row.provider));
}

/**
 * The uids that a call acts on, for checks other than capabilities: the one in the field that its access rule names;
 * without such a field, its `parent`, or the parents of a batch's requests.
 */
export function placesOf(method: DescMethod, rule: Access, message: Message): string[] {
  if (rule.scope !== "") return [scopeOf(method, rule.scope, message)].filter(isUid);
  const { parent, requests } = message as { parent?: unknown; requests?: unknown };
  const parents = Array.isArray(requests)
    ? requests.map((request: { parent?: unknown }) => request.parent || parent)
    : [parent];
  return [...new Set(parents)].filter((uid): uid is string => typeof uid === "string" && isUid(uid));
}

const scopePaths = new WeakMap<DescMethod, string[]>();

/**
 * The value of the field that the access rule's scope names; empty when the field or a message on its path is not set.
 * The path is looked up once per method.
 */
function scopeOf(method: DescMethod, scope: string, message: Message): string {
  let path = scopePaths.get(method);
  if (path === undefined) scopePaths.set(method, (path = localPath(method.input, scope)));
  let value: unknown = message;
  for (const name of path) value = (value as Record<string, unknown> | undefined)?.[name];
  return typeof value === "string" ? value : "";
}

/** A request of the method in which the field that the access rule names has this value, and all others none. */
export function requestAbout(method: DescMethod, { scope }: Access, uid: string): Message {
  const message = create(method.input);
  if (scope === "") return message;
  const path = localPath(method.input, scope);
  let at: Record<string, unknown> = message as unknown as Record<string, unknown>;
  let desc: DescMessage | undefined = method.input;
  for (const name of path.slice(0, -1)) {
    desc = desc?.field[name]?.message;
    if (desc === undefined) throw new Error(`${method.input.typeName} has no message ${name}`);
    at = at[name] = create(desc) as unknown as Record<string, unknown>;
  }
  at[path.at(-1) ?? ""] = uid;
  return message;
}

function localPath(input: DescMessage, scope: string): string[] {
  let at: DescMessage | undefined = input;
  return scope.split(".").map((name) => {
    const field: DescField | undefined = at?.fields.find((candidate) => candidate.name === name);
    if (field === undefined || field.oneof !== undefined)
      throw new Error(`${input.typeName} has no plain field ${scope}`);
    at = field.message;
    return field.localName;
  });
}

/** Whether there is a resource of the type (a message's full name) with this uid. Checks no rights. */
export async function exists(call: Call, type: string, uid: string): Promise<boolean> {
  const table = TABLES[type];
  if (table === undefined) return false;
  // Those of programs have no table of their own.
  if (table === "sessions") return (await findSession(call.tx, uid, call.nowMs)) !== undefined;
  // The remaining deliveries of a deleted subscription are answered as deleted with it.
  if (table === "deliveries" && !(await exists(call, SubscriptionSchema.typeName, parentOf(uid)))) return false;
  // A deleted advisory keeps its row and its events.
  if (table === "advisory_events" && !(await exists(call, AdvisorySchema.typeName, parentOf(uid)))) return false;
  if (table === "advisories")
    return (
      (await call.tx
        .selectFrom(table)
        .select("uid")
        .where("uid", "=", uid)
        .where("delete_time", "is", null)
        .executeTakeFirst()) !== undefined
    );
  return (await call.tx.selectFrom(table).select("uid").where("uid", "=", uid).executeTakeFirst()) !== undefined;
}
