import { create } from "@bufbuild/protobuf";
import type { FieldMask } from "@bufbuild/protobuf/wkt";
import {
  type IdentityProvider,
  type IdentityProvider_OIDC as OIDC,
  IdentityProvider_OIDC_CorrelationRuleSchema as CorrelationRuleSchema,
  IdentityProvider_OIDCSchema,
  IdentityProviderSchema,
  IdentityProvidersService,
} from "@moorage/api/messages";
import { columnIsIfSet, listOf, listPage } from "@moorage/kernel/aip/list";
import { camelCase, sortable } from "@moorage/kernel/aip/order";
import { countBelow, resource } from "@moorage/kernel/aip/resource";
import { columnsOf, layoutOf } from "@moorage/kernel/core/stored-answer";
import { violationsOf } from "@moorage/kernel/aip/validate";
import { isIssuerUrl } from "@moorage/kernel/lib/issuer-url";
import { parentOf } from "@moorage/kernel/lib/uid";
import type { Secrets } from "@moorage/kernel/lib/secrets";
import type { Call } from "@moorage/kernel/core/call";
import { failedPrecondition, type FieldViolation, invalidArgument } from "@moorage/kernel/errors";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import type { Row } from "@moorage/kernel/store";
import { ACCOUNTS_ISSUER } from "./assumable.ts";
import { requireGivable } from "./give-role.ts";
import { groups } from "./groups.ts";
import { requireAdminFor } from "./identities.ts";
import { keepingOwners, organizationsOwnedThrough } from "./owners.ts";
import { signPeopleOut } from "./people.ts";
import { subjectClaim } from "./sign-in-claims.ts";
import { ownCallback, secretPlace } from "./sign-in-provider.ts";

const LAYOUT = layoutOf(IdentityProviderSchema, { without: ["oidc", "accounts", "redirect_uri"] });
// The OIDC configuration is stored in the same row.
const OIDC_LAYOUT = layoutOf(IdentityProvider_OIDCSchema, { without: ["client_secret"] });
const ownColumns = columnsOf(LAYOUT, "identity_providers", ["name", "description", "default_role", "shared_callback"]);
const oidcColumns = columnsOf(OIDC_LAYOUT, "identity_providers", [
  "issuer",
  "client_id",
  "additional_scopes",
  "groups_claim",
  "correlation_rule",
  "pkce_enabled",
]);
const NO_OIDC = oidcColumns(create(IdentityProvider_OIDCSchema));
const toRow = (provider: IdentityProvider) => ({
  ...ownColumns(provider),
  ...configurationColumns(provider.configuration),
});

function configurationColumns({ case: kind, value }: IdentityProvider["configuration"]) {
  if (kind === "accounts") return { ...NO_OIDC, issuer: ACCOUNTS_ISSUER, second_factor: value.secondFactor ? 1 : 0 };
  return { ...(kind === "oidc" ? oidcColumns(value) : NO_OIDC), second_factor: 0 };
}

function configurationOf(row: Row<"identity_providers">) {
  return row.issuer === ACCOUNTS_ISSUER
    ? { case: "accounts" as const, value: { secondFactor: row.second_factor === 1 } }
    : { case: "oidc" as const, value: OIDC_LAYOUT.ofRow(row) };
}

export const identityProviders = resource({
  message: IdentityProviderSchema,
  table: "identity_providers",
  // The client secret is never part of a response.
  toMessage: (row) => ({ ...LAYOUT.fieldsOf(row), configuration: configurationOf(row) }),
  toRow,
});

const LIST = listOf({
  method: IdentityProvidersService.method.listIdentityProviders,
  table: "identity_providers",
  defaultOrder: "name",
  orderBy: sortable("name", "description", "create_time", "update_time", "uid"),
});

export function identityProvidersService(context: ServiceContext): Service<typeof IdentityProvidersService> {
  const { pageTokenKey, secrets, admins = [], baseUrl = "" } = context;
  const keepingOwnersThrough = async <T>(call: Call, uid: string, write: () => Promise<T>): Promise<T> =>
    keepingOwners(call, context, await organizationsOwnedThrough(call.tx, uid), write);
  const withRedirectUri = (provider: IdentityProvider): IdentityProvider => {
    if (provider.configuration.case === "oidc") provider.redirectUri = `${baseUrl}${ownCallback(provider.uid)}`;
    return provider;
  };
  const shown = (row: Row<"identity_providers">): IdentityProvider => withRedirectUri(identityProviders.toMessage(row));
  return {
    getIdentityProvider: async (call, { uid }) => shown(await identityProviders.get(call.tx, uid)),
    async listIdentityProviders(call, request) {
      const page = await listPage(call, pageTokenKey, LIST, request, {
        filters: ({ name }) => columnIsIfSet("name", name),
      });
      return { ...page, identityProviders: page.rows.map(shown) };
    },
    async createIdentityProvider(call, { parent, identityProvider = create(IdentityProviderSchema) }) {
      const { clientSecret } = check(identityProvider, false);
      await groups.get(call.tx, parent);
      if (identityProvider.configuration.case === "accounts") await requireFirstAccounts(call, parent);
      if (identityProvider.defaultRole !== "")
        await requireGivable(call, parent, identityProvider.defaultRole, "defaultRole");
      const row = await identityProviders.insert(call, parent, {
        ...toRow(identityProvider),
        client_secret: "",
        create_time: call.nowMs,
        update_time: call.nowMs,
      });
      // The secret is sealed for the row's uid, which the insert has assigned.
      if (clientSecret !== "") await storeSecret(call, row.uid, secrets.seal(clientSecret, secretPlace(row.uid)));
      return shown(row);
    },
    async updateIdentityProvider(call, { identityProvider = create(IdentityProviderSchema), updateMask }) {
      const patch = () =>
        identityProviders.patch(call, identityProvider.uid, identityProvider, updateMask, async (before, after) => {
          const { clientSecret } = check(after, before.shared_callback === 1);
          const row = toRow(after);
          requireSameKind(before, after);
          if (before.name !== row.name) await identityProviders.requireFree(call.tx, before.parent, row.name);
          const changesRights = RIGHTS_COLUMNS.some((column) => before[column] !== row[column]);
          const gives = changesRights || before.default_role !== row.default_role;
          if (gives && row.default_role !== "")
            await requireGivable(call, before.parent, row.default_role, "defaultRole");
          if (changesRights) await requireGivableRoles(call, before.uid);
          if (IDENTITY_COLUMNS.some((column) => before[column] !== row[column])) {
            for (const uid of await peopleAmong(call, admins, before.uid)) requireAdminFor(call, admins, uid);
            await signPeopleOut(call, before.uid);
          }
          if (subjectClaim(ruleOf(before)) !== subjectClaim(ruleOf(row))) await requireNoPeople(call, before.uid);
          const sameClient = before.issuer === row.issuer && before.client_id === row.client_id;
          if (clientSecret !== "")
            await storeSecret(call, before.uid, secrets.seal(clientSecret, secretPlace(before.uid)));
          // A secret is sent only to the issuer and client that it was given for.
          else if (!sameClient || namesSecret(updateMask)) await storeSecret(call, before.uid, "");
        });
      return withRedirectUri(await keepingOwnersThrough(call, identityProvider.uid, patch));
    },
    async deleteIdentityProvider(call, { uid }) {
      const row = await identityProviders.get(call.tx, uid);
      await keepingOwnersThrough(call, uid, () => removeIdentityProvider(call, context, row));
      return {};
    },
  };
}

/**
 * Removes an identity provider, which ends how its people sign in. Throws PERMISSION_DENIED unless the caller could
 * give every role that goes with it: what ends is what a change of its issuer would end or take over.
 */
export async function removeIdentityProvider(
  call: Call,
  { admins = [] }: Pick<ServiceContext, "admins">,
  row: Row<"identity_providers">,
): Promise<void> {
  const { uid } = row;
  if (row.default_role !== "") await requireGivable(call, row.parent, row.default_role, "defaultRole");
  await requireGivableRoles(call, uid);
  for (const person of await peopleAmong(call, admins, uid)) requireAdminFor(call, admins, person);
  const n = await countBelow(call.tx, "external_group_role_mappings", uid);
  if (n > 0)
    throw failedPrecondition({
      type: "RESOURCE_NOT_EMPTY",
      subject: uid,
      description: `the identity provider still has mappings: ${n}`,
    });
  await signPeopleOut(call, uid);
  await identityProviders.remove(call, row);
}

// The fields that decide which identity a person signs in as; with the groups' claim, those that decide which rights.
const IDENTITY_COLUMNS = ["issuer", "client_id", "correlation_rule"] as const;
const RIGHTS_COLUMNS = [...IDENTITY_COLUMNS, "groups_claim", "second_factor"] as const;
// Source: RFC 6749 §3.3.
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/;

/**
 * Throws INVALID_ARGUMENT with all violations. `mayShare`: whether it has the shared callback now. Answers how it is
 * reached; an empty configuration for accounts of this installation.
 */
function check(provider: IdentityProvider, mayShare: boolean): OIDC {
  const violations: FieldViolation[] = violationsOf(IdentityProviderSchema, provider);
  const add = (field: string, description: string): void => {
    if (!violations.some((known) => known.field === field)) violations.push({ field, description });
  };
  if (provider.sharedCallback && !mayShare)
    add("sharedCallback", "cannot be set to true: register redirectUri at the provider");
  const { case: kind, value } = provider.configuration;
  const oidc = kind === "oidc" ? value : kind === "accounts" ? create(IdentityProvider_OIDCSchema) : undefined;
  if (kind === "oidc" && oidc !== undefined) {
    if (oidc.issuer !== "" && !isIssuerUrl(oidc.issuer))
      add("oidc.issuer", "must be an http or https URL without user, query, fragment and dot segments");
    for (const [at, scope] of oidc.additionalScopes.entries())
      if (!SCOPE.test(scope)) add(`oidc.additionalScopes[${at}]`, "must be the name of a scope");
    if (CorrelationRuleSchema.value[oidc.correlationRule] === undefined)
      add("oidc.correlationRule", "there is no such rule");
  }
  if (violations.length > 0 || oidc === undefined) throw invalidArgument(...violations);
  return oidc;
}

/** Throws INVALID_ARGUMENT unless the group is an organization without accounts. */
async function requireFirstAccounts(call: Call, group: string): Promise<void> {
  if (parentOf(group) !== "")
    throw invalidArgument({ field: "accounts", description: "only organizations have accounts of their own" });
  const known = await call.tx
    .selectFrom("identity_providers")
    .select("uid")
    .where("parent", "=", group)
    .where("issuer", "=", ACCOUNTS_ISSUER)
    .executeTakeFirst();
  if (known !== undefined)
    throw failedPrecondition({
      type: "RESOURCE_IN_USE",
      subject: known.uid,
      description: "the organization has accounts of its own already",
    });
}

/** Throws INVALID_ARGUMENT where accounts of this installation would become an OpenID provider, or the reverse. */
function requireSameKind(before: Row<"identity_providers">, { configuration }: IdentityProvider): void {
  if ((before.issuer === ACCOUNTS_ISSUER) === (configuration.case === "accounts")) return;
  throw invalidArgument({ field: configuration.case ?? "oidc", description: "a provider stays of its kind" });
}

/** Whether the mask names the secret: an empty secret then removes the stored one. */
function namesSecret(mask: FieldMask | undefined): boolean {
  return mask?.paths.some((path) => path.trim().split(".").map(camelCase).join(".") === "oidc.clientSecret") ?? false;
}

async function storeSecret(call: Call, uid: string, sealed: string): Promise<void> {
  await call.tx.updateTable("identity_providers").set({ client_secret: sealed }).where("uid", "=", uid).execute();
}

/**
 * Throws PERMISSION_DENIED unless the caller could give every role that the provider's mappings give and its people
 * hold: a caller that changes how people are identified can become them. Source: docs/contract.md, "Capabilities and
 * roles".
 */
async function requireGivableRoles(call: Call, uid: string): Promise<void> {
  const mapped = await call.tx
    .selectFrom("external_group_role_mappings")
    .select(["scope as group", "role_uid"])
    .distinct()
    .where("parent", "=", uid)
    .execute();
  const bound = await call.tx
    .selectFrom("role_bindings")
    .innerJoin("identities", "identities.uid", "role_bindings.identity_uid")
    .select(["role_bindings.parent as group", "role_uid"])
    .distinct()
    .where("identities.provider", "=", uid)
    .execute();
  for (const { group, role_uid: role } of [...mapped, ...bound]) await requireGivable(call, group, role, "oidc");
}

/** The identities, of those given, that belong to people of the provider. */
async function peopleAmong(call: Call, identities: readonly string[], provider: string): Promise<string[]> {
  if (identities.length === 0) return [];
  const rows = await call.tx
    .selectFrom("identities")
    .select("uid")
    .where("provider", "=", provider)
    .where("uid", "in", [...identities])
    .execute();
  return rows.map(({ uid }) => uid);
}

const ruleOf = ({ correlation_rule: correlationRule }: Pick<Row<"identity_providers">, "correlation_rule">) => ({
  correlationRule,
});

/**
 * Throws FAILED_PRECONDITION if anybody signed in through the provider: by another claim everybody would be somebody
 * else, with an identity of their own.
 */
async function requireNoPeople(call: Call, uid: string): Promise<void> {
  const person = await call.tx.selectFrom("identities").select("uid").where("provider", "=", uid).executeTakeFirst();
  if (person === undefined) return;
  throw failedPrecondition({
    type: "RESOURCE_IN_USE",
    subject: uid,
    description: "oidc.correlationRule cannot be changed once people have signed in through the identity provider",
  });
}

/** Seals client secrets again that are sealed with an older key. */
export async function resealProviders(tx: Call["tx"], secrets: Secrets): Promise<void> {
  const rows = await tx
    .selectFrom("identity_providers")
    .select(["uid", "client_secret"])
    .where("client_secret", "!=", "")
    .execute();
  for (const { uid, client_secret: stored } of rows) {
    if (secrets.isCurrent(stored)) continue;
    const sealed = secrets.seal(secrets.open(stored, secretPlace(uid)), secretPlace(uid));
    await tx.updateTable("identity_providers").set({ client_secret: sealed }).where("uid", "=", uid).execute();
  }
}
