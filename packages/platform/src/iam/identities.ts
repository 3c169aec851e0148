import { create } from "@bufbuild/protobuf";
import {
  IdentitiesService,
  type Identity,
  IdentitySchema,
  type ListIdentitiesRequest,
  LookupIdentityRequestSchema,
} from "@moorage/api/messages";
import { neededFor } from "@moorage/kernel/aip/access";
import { columnIsIfSet, listOf, listPage } from "@moorage/kernel/aip/list";
import { sortable } from "@moorage/kernel/aip/order";
import { resource } from "@moorage/kernel/aip/resource";
import type { Condition } from "@moorage/kernel/aip/scope";
import { timeViolations } from "@moorage/kernel/aip/times";
import { validate, violationsOf } from "@moorage/kernel/aip/validate";
import type { Call } from "@moorage/kernel/core/call";
import { requireHolds, type Service, type ServiceContext } from "@moorage/kernel/core/service";
import { columnsOf, layoutOf } from "@moorage/kernel/core/stored-answer";
import { type FieldViolation, invalidArgument, notFound, permissionDenied } from "@moorage/kernel/errors";
import { milliseconds, timestamp } from "@moorage/kernel/lib/timestamps";
import type { Database } from "@moorage/kernel/store";
import { sql } from "kysely";
import { groups } from "./groups.ts";
import { checkIssuer } from "./identity-check.ts";
import { passwordsOf, removeIdentity, seesPeople, withinOrPeople, withPeople } from "./people.ts";
import { pushTokenFaults } from "./registry-passwords.ts";
import { keepingOwners, organizationsOwnedBy } from "./owners.ts";
import { relationshipColumns, relationshipOf } from "./relationship-column.ts";
import { validateRelationship } from "./relationship.ts";
import { capabilitiesOf, capabilityName } from "./roles.ts";

// The oneof `relationship` is stored in columns of its own.
const LAYOUT = layoutOf(IdentitySchema, {
  without: ["claim_match", "static_keys", "aws_identity", "service_principal", "identity_provider"],
});
const namesOf = columnsOf(LAYOUT, "identities", ["name", "description", "company", "uncounted"]);
const toRow = (identity: Identity) => ({ ...namesOf(identity), ...relationshipColumns(identity.relationship) });

export const identities = resource({
  message: IdentitySchema,
  table: "identities",
  kind: "identities",
  // Until its first token one was last seen when it was made, as the answer of its Create says.
  toMessage: (row) => ({
    ...LAYOUT.fieldsOf({ ...row, last_seen_time: row.last_seen_time ?? row.create_time }),
    relationship: relationshipOf(row),
    identityProvider: row.provider,
  }),
  toRow,
});

const LIST = listOf({
  method: IdentitiesService.method.listIdentities,
  table: "identities",
  defaultOrder: "name",
  orderBy: sortable("name", "description", "email", "company", "create_time", "update_time", "uid"),
  large: ["relationship"],
});

const LOOKUP_NEEDS = neededFor(IdentitiesService.method.lookupIdentity);

export function identitiesService(context: ServiceContext): Service<typeof IdentitiesService> {
  const { pageTokenKey, admins = [] } = context;
  return {
    getIdentity: async (call, { uid }) => identities.toMessage(await identities.get(call.tx, uid)),
    async listIdentities(call, request) {
      const { seenSince, seenUntil } = request;
      const violations = timeViolations({ seenSince, seenUntil });
      if (violations.length > 0) throw invalidArgument(...violations);
      const page = await listPage(call, pageTokenKey, LIST, request, {
        filters,
        ...((await seesPeople(call, await call.visible(...LIST.needs))) && { scope: withPeople }),
      });
      return { ...page, identities: page.rows.map(identities.toMessage) };
    },
    async lookupIdentity(call, request) {
      validate(LookupIdentityRequestSchema, request);
      const { issuer, subject } = request;
      const visible = await call.visible(...LOOKUP_NEEDS);
      const { rows } = await sql<{
        uid: string;
      }>`select t.uid from identities as t where t.issuer = ${issuer} and t.subject = ${subject} and ${withinOrPeople(visible)}
        order by t.create_time, t.uid limit 1`.execute(call.tx);
      const [found] = rows;
      if (found === undefined) throw notFound(IdentitySchema.typeName, `${issuer} ${subject}`);
      return { uid: found.uid };
    },
    async createIdentity(call, { parent, identity = create(IdentitySchema) }) {
      check(identity, call.nowMs);
      endStaticKeys(identity, call.nowMs);
      await groups.get(call.tx, parent);
      const row = await identities.insert(call, parent, {
        ...toRow(identity),
        provider: "",
        creator: call.caller.identity,
        email: "",
        email_unverified: "",
        groups_left_out: "",
        last_seen_time: null,
        create_time: call.nowMs,
        update_time: call.nowMs,
      });
      return identities.toMessage(row);
    },
    async updateIdentity(call, { identity = create(IdentitySchema), updateMask }) {
      const patch = () =>
        identities.patch(call, identity.uid, identity, updateMask, async (before, after) => {
          const changes = toRow(after).relationship !== before.relationship;
          check(after, changes ? call.nowMs : undefined);
          if (!changes) return;
          endStaticKeys(after, call.nowMs);
          requireAdminFor(call, admins, before.uid);
          await requireHoldsAllOf(call, before.uid);
        });
      return await keepingOwners(call, context, await organizationsOwnedBy(call.tx, [identity.uid]), patch);
    },
    async deleteIdentity(call, { uid }) {
      const row = await identities.get(call.tx, uid);
      requireAdminFor(call, admins, uid);
      const ending = [uid, ...(await passwordsOf(call, row)).map((password) => password.uid)];
      await keepingOwners(call, context, await organizationsOwnedBy(call.tx, ending), () => removeIdentity(call, row));
      return {};
    },
    async checkIdentity(call, { uid }) {
      const { issuers } = context;
      if (issuers === undefined) throw new Error("no issuer can be asked here");
      const identity = identities.toMessage(await identities.get(call.tx, uid));
      return await checkIssuer(issuers, identity, call.nowMs);
    },
  };
}

function filters({
  name,
  relationshipType,
  identityProvider,
  seenSince,
  seenUntil,
}: ListIdentitiesRequest): Condition[] {
  return [
    ...columnIsIfSet("name", name),
    ...columnIsIfSet("relationship_type", relationshipType),
    ...columnIsIfSet("provider", identityProvider),
    ...(seenSince === undefined ? [] : [sql`t.last_seen_time >= ${milliseconds(seenSince)}`]),
    ...(seenUntil === undefined
      ? []
      : [sql`(t.last_seen_time is null or t.last_seen_time < ${milliseconds(seenUntil)})`]),
  ];
}

/** `nowMs`: the time by which a new relationship is judged; undefined when it stays. */
const STATIC_KEYS_MS = 365 * 86_400_000;

/** Static keys without an end get one: keys that are never exchanged are usually forgotten ones. */
function endStaticKeys({ relationship }: Identity, nowMs: number): void {
  if (relationship.case === "staticKeys") relationship.value.expirationTime ??= timestamp(nowMs + STATIC_KEYS_MS);
}

function check(identity: Identity, nowMs: number | undefined): void {
  const fields = violationsOf(IdentitySchema, identity);
  const own = [
    ...validateRelationship(identity),
    ...(nowMs === undefined ? [] : [...sizeFaults(identity), ...pushTokenFaults(identity, nowMs)]),
  ];
  const violations = [...fields, ...own.filter(({ field }) => !fields.some((known) => known.field === field))];
  if (violations.length > 0) throw invalidArgument(...violations);
}

/** A list of identities, and an exchange among several of them, read all of it in one step. */
const MAX_RELATIONSHIP_CHARS = 128 << 10;

function sizeFaults({ relationship }: Identity): FieldViolation[] {
  if (relationshipColumns(relationship).relationship.length <= MAX_RELATIONSHIP_CHARS) return [];
  const field = relationship.case ?? "";
  return [{ field, description: `must have at most ${MAX_RELATIONSHIP_CHARS} characters, as JSON` }];
}

/**
 * Throws PERMISSION_DENIED unless the caller holds every capability that the identity holds: a caller that changes how
 * an identity is assumed can become it.
 */
export async function requireHoldsAllOf(call: Call, identity: string): Promise<void> {
  for (const row of await heldRoles(call.tx, identity))
    await requireHolds(call, capabilitiesOf(row), row.group, capabilityName);
}

/** The capabilities of an identity, by the groups of its role bindings. */
function heldRoles(tx: Database, identity: string): Promise<{ group: string; capabilities: string }[]> {
  return tx
    .selectFrom("role_bindings")
    .innerJoin("roles", "roles.uid", "role_bindings.role_uid")
    .select(["role_bindings.parent as group", "roles.capabilities as capabilities"])
    .where("identity_uid", "=", identity)
    .execute();
}

/** Whether another identity holds today every capability that the identity holds. */
export async function holdsAllOf(call: Call, holder: string, identity: string): Promise<boolean> {
  for (const row of await heldRoles(call.tx, identity))
    for (const capability of capabilitiesOf(row)) if (!(await call.heldBy(holder, capability, row.group))) return false;
  return true;
}

/**
 * Throws PERMISSION_DENIED if the identity is an administrator and the caller is not, or has a narrowed token:
 * administrators' rights are not role bindings, so `requireHoldsAllOf` does not cover them.
 */
export function requireAdminFor(
  { caller: { identity, capabilities, scopes } }: Call,
  admins: readonly string[],
  uid: string,
): void {
  if (!admins.includes(uid) || (admins.includes(identity) && capabilities === undefined && scopes === undefined))
    return;
  throw permissionDenied("only administrators may decide who an administrator is, with a token that is not narrowed");
}
