import {
  AccountAssociation_AmazonSchema,
  AccountAssociation_AzureSchema,
  AccountAssociation_GitHub_AppInstallationsSchema,
  AccountAssociation_GitHub_InstallationSchema,
  AccountAssociation_GitHubSchema,
  AccountAssociation_GoogleSchema,
  AccountAssociation_ServicesSchema,
  AccountAssociationSchema,
  AccountAssociationsService,
  CheckAccountAssociationRequest_AccountProviderType as Provider,
  CheckAccountAssociationResponse_CheckStatus as CheckStatus,
} from "@moorage/api/messages";
import {
  AccountAssociations_AmazonSchema,
  AccountAssociations_AzureSchema,
  AccountAssociations_GitHubAppInstallationsSchema,
  AccountAssociations_GitHubInstallationSchema,
  AccountAssociations_GitHubSchema,
  AccountAssociations_GoogleSchema,
  AccountAssociations_ServicesSchema,
  AccountAssociationsCheckRequest_AccountType as AccountType,
  AccountAssociationsListSchema,
  AccountAssociationsSchema,
  AccountAssociationsStatus_State as State,
  GroupAccountAssociations,
} from "@moorage/api/v1/iam";
import type { Method } from "../../runtime/methods.ts";
import { mapping, nested } from "../mapping.ts";
import { translated } from "../service.ts";
import { itemsOf, listed, withId } from "../v2.ts";

const amazon = mapping(AccountAssociations_AmazonSchema, AccountAssociation_AmazonSchema, { account: "account" });
const google = mapping(AccountAssociations_GoogleSchema, AccountAssociation_GoogleSchema, {
  projectId: "projectId",
  projectNumber: "projectNumber",
});
const services = mapping(AccountAssociations_ServicesSchema, AccountAssociation_ServicesSchema, {
  serviceBindings: "serviceBindings",
});
const azure = mapping(AccountAssociations_AzureSchema, AccountAssociation_AzureSchema, {
  tenantId: "tenantId",
  clientIds: "clientIds",
});
const installation = mapping(
  AccountAssociations_GitHubInstallationSchema,
  AccountAssociation_GitHub_InstallationSchema,
  { installationId: "installationId", name: "name" },
);
const installations = mapping(
  AccountAssociations_GitHubAppInstallationsSchema,
  AccountAssociation_GitHub_AppInstallationsSchema,
  { installations: nested("installations", installation) },
);
const github = mapping(AccountAssociations_GitHubSchema, AccountAssociation_GitHubSchema, {
  appInstallations: nested("appInstallations", installations),
});

const association = mapping(AccountAssociationsSchema, AccountAssociationSchema, {
  // A group has at most one, whose uid in v2 is the group's.
  group: "uid",
  amazon: nested("amazon", amazon),
  google: nested("google", google),
  services: nested("services", services),
  azure: nested("azure", azure),
  name: "name",
  description: "description",
  github: nested("github", github),
});

const {
  checkAccountAssociation,
  createAccountAssociation,
  deleteAccountAssociation,
  listAccountAssociations,
  updateAccountAssociation,
} = AccountAssociationsService.method;

const PROVIDERS: Readonly<Record<AccountType, Provider>> = {
  [AccountType.UNKNOWN]: Provider.UNSPECIFIED,
  [AccountType.GOOGLE]: Provider.GOOGLE,
  [AccountType.AMAZON]: Provider.AMAZON,
  [AccountType.AZURE]: Provider.AZURE,
};

const STATES: Readonly<Record<CheckStatus, State>> = {
  [CheckStatus.UNSPECIFIED]: State.UNKNOWN,
  [CheckStatus.READY]: State.Ready,
  [CheckStatus.NOT_READY]: State.NotReady,
};

const checked = { pathOf: (path: string) => (path === "providerType" ? "accountType" : path) };

/** moorage.iam.GroupAccountAssociations. A group has at most one association, which its id names. */
export const accountAssociations: [string, Method][] = translated(GroupAccountAssociations, [association, checked], {
  create: async (v2, given) =>
    association.toV1(
      await v2.answer(createAccountAssociation, {
        parent: given.group,
        accountAssociation: association.toV2(given),
      }),
    ),
  update: async (v2, given) =>
    association.toV1(
      await v2.answer(updateAccountAssociation, {
        accountAssociation: association.toV2(given),
        updateMask: association.mask,
      }),
    ),
  list: (v2, { group, name }) =>
    listed(
      AccountAssociationsListSchema,
      v2.pages(listAccountAssociations, { uidp: withId(undefined, group), name }),
      itemsOf(association, "accountAssociations"),
    ),
  delete: (v2, { group: uid }) => v2.answer(deleteAccountAssociation, { uid }),
  async check(v2, { group: uid, accountType }) {
    const { status, reason, message } = await v2.answer(checkAccountAssociation, {
      uid,
      providerType: PROVIDERS[accountType],
    });
    return { ready: STATES[status], reason, message };
  },
});
