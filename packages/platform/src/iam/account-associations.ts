import { create } from "@bufbuild/protobuf";
import {
  type AccountAssociation,
  AccountAssociationSchema,
  AccountAssociationsService,
  Capability,
  CheckAccountAssociationRequest_AccountProviderType as Provider,
  CheckAccountAssociationResponse_CheckStatus as CheckStatus,
} from "@moorage/api/messages";
import { columnIsIfSet, listStored, storedListOf } from "@moorage/kernel/aip/list";
import { sortable } from "@moorage/kernel/aip/order";
import { resource, storedGet } from "@moorage/kernel/aip/resource";
import { columnsOf, layoutOf } from "@moorage/kernel/core/stored-answer";
import { violationsOf } from "@moorage/kernel/aip/validate";
import { isWithin, parentOf } from "@moorage/kernel/lib/uid";
import type { Call } from "@moorage/kernel/core/call";
import { alreadyExists, invalidArgument } from "@moorage/kernel/errors";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { accountViolations } from "./account-rules.ts";
import { checkAccount } from "./account-check.ts";
import { groups } from "./groups.ts";
import { identities, requireHoldsAllOf } from "./identities.ts";

const PROVIDERS: ReadonlySet<number> = new Set([Provider.GOOGLE, Provider.AMAZON, Provider.AZURE]);
const LAYOUT = layoutOf(AccountAssociationSchema);
const toRow = columnsOf(LAYOUT, "account_associations", [
  "name",
  "description",
  "amazon",
  "google",
  "services",
  "azure",
  "github",
]);

const associations = resource({
  message: AccountAssociationSchema,
  table: "account_associations",
  toMessage: LAYOUT.ofRow,
  toRow,
});

const getAssociation = storedGet("account_associations", LAYOUT);
const LIST = storedListOf(
  {
    method: AccountAssociationsService.method.listAccountAssociations,
    table: "account_associations",
    defaultOrder: "name",
    orderBy: sortable("name", "description", "create_time", "update_time", "uid"),
    large: ["google", "services", "azure", "github"],
  },
  LAYOUT,
);

export function accountAssociationsService({
  pageTokenKey,
  providers,
}: ServiceContext): Service<typeof AccountAssociationsService> {
  return {
    getAccountAssociation: (call, { uid }) => getAssociation(call.tx, uid),
    listAccountAssociations: (call, request) =>
      listStored(call, pageTokenKey, LIST, request, { filters: ({ name }) => columnIsIfSet("name", name) }),
    async createAccountAssociation(call, { parent: group, accountAssociation = create(AccountAssociationSchema) }) {
      await check(call, group, accountAssociation, {});
      await groups.get(call.tx, group);
      // An association has the uid of its group.
      const row = {
        ...toRow(accountAssociation),
        uid: group,
        parent: parentOf(group),
        create_time: call.nowMs,
        update_time: call.nowMs,
      };
      const made = await call.tx
        .insertInto("account_associations")
        .values(row)
        .onConflict((on) => on.doNothing())
        .executeTakeFirst();
      if (made.numInsertedOrUpdatedRows === 0n) throw alreadyExists(AccountAssociationSchema.typeName, group);
      return associations.toMessage(row);
    },
    updateAccountAssociation: (call, { accountAssociation = create(AccountAssociationSchema), updateMask }) =>
      associations.patch(call, accountAssociation.uid, accountAssociation, updateMask, async (before, after) => {
        await check(call, before.uid, after, associations.toMessage(before).services?.serviceBindings ?? {});
      }),
    async deleteAccountAssociation(call, { uid }) {
      await associations.remove(call, await associations.get(call.tx, uid));
      return {};
    },
    async checkAccountAssociation(call, { uid, providerType }) {
      if (!PROVIDERS.has(providerType))
        throw invalidArgument({
          field: "providerType",
          description: "must be Google, Amazon or Azure (ACCOUNT_PROVIDER_TYPE_…)",
        });
      if (providers === undefined) throw new Error("no provider can be asked here");
      const association = associations.toMessage(await associations.get(call.tx, uid));
      const failure = await checkAccount(providers, association, providerType, call.nowMs);
      if (failure !== undefined) return { status: CheckStatus.NOT_READY, ...failure };
      return { status: CheckStatus.READY, message: "the provider lets this installation in" };
    },
  };
}

/**
 * Throws INVALID_ARGUMENT, or PERMISSION_DENIED if a service would act as an identity with more rights than the caller.
 * `before`: the bindings so far; unchanged ones are not checked again.
 */
async function check(
  call: Call,
  group: string,
  association: AccountAssociation,
  before: Record<string, string>,
): Promise<void> {
  const violations = [...violationsOf(AccountAssociationSchema, association), ...accountViolations(association)];
  const changed = Object.entries(association.services?.serviceBindings ?? {}).filter(
    ([service, identity]) => before[service] !== identity,
  );
  const [organization = group] = group.split("/");
  for (const [service, uid] of changed) {
    // The method's rule does not cover the identity: seeing it takes the right to list it.
    const isThere =
      isWithin(uid, organization) &&
      (await identities.find(call.tx, uid)) !== undefined &&
      (await call.may(Capability.CAP_IAM_IDENTITY_LIST, uid));
    if (!isThere)
      violations.push({
        field: "services.serviceBindings",
        description: `${service}: there is no such identity in this organization`,
      });
  }
  if (violations.length > 0) throw invalidArgument(...violations);
  for (const [, uid] of changed) await requireHoldsAllOf(call, uid);
}
