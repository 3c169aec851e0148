import { call } from "../../api/call.ts";
import {
  type AccountAssociation,
  type AccountAssociationInput,
  checkAccountAssociation,
  createAccountAssociation,
  deleteAccountAssociation,
  updateAccountAssociation,
} from "../../api/gen/iam.ts";
import { say } from "../../ui/toasts.tsx";
import { Place } from "./parts/place.tsx";
import type { FieldSpec, ResourceSpec, Values } from "./parts/resource.ts";

const PROVIDERS = [
  ["amazon", "Amazon", "ACCOUNT_PROVIDER_TYPE_AMAZON"],
  ["google", "Google", "ACCOUNT_PROVIDER_TYPE_GOOGLE"],
  ["azure", "Azure", "ACCOUNT_PROVIDER_TYPE_AZURE"],
] as const;

/** Accounts at cloud providers that belong to groups, one a group. */
export const ASSOCIATIONS: ResourceSpec<AccountAssociation> = {
  title: "Account associations",
  noun: "association",
  intro: "Links a group to accounts at cloud providers. Each group can have one association.",
  columns: [
    { id: "group", header: "Group", cell: ({ uid }) => <Place uid={uid} /> },
    { id: "name", header: "Name", orderBy: "name", cell: ({ name }) => name },
    { id: "accounts", header: "Accounts", cell: accountsOf },
  ],
  uidOf: ({ uid }) => uid,
  nameOf: ({ name, uid }) => name || uid,
  // Its uid is that of its group.
  groupOf: ({ uid }) => uid,
  create: {
    capability: "CAP_IAM_ACCOUNT_ASSOCIATIONS_CREATE",
    form: (parent) => ({
      title: "New account association",
      action: "Create",
      fields: fieldsOf(),
      send: (values) => call(createAccountAssociation, { parent, accountAssociation: inputOf(values) }),
    }),
  },
  edit: {
    capability: "CAP_IAM_ACCOUNT_ASSOCIATIONS_UPDATE",
    form: (association) => ({
      title: `Edit account association ${association.name}`,
      action: "Save",
      fields: fieldsOf(association),
      send: (values) =>
        call(updateAccountAssociation, {
          accountAssociation: { uid: association.uid, ...inputOf(values, association) },
          updateMask: "name,description,amazon,google,azure",
        }),
    }),
  },
  actions: (row) =>
    PROVIDERS.filter(([member]) => row[member] !== undefined).map(([, label, providerType]) => ({
      label: `Check ${label}`,
      onSelect: () =>
        void call(checkAccountAssociation, { uid: row.uid, providerType }).then(
          ({ status, message }) => say(`${label}: ${status === "CHECK_STATUS_READY" ? "ready" : "not ready"}`, message),
          (error: unknown) => say(`${label} was not checked`, error instanceof Error ? error.message : ""),
        ),
    })),
  remove: {
    capability: "CAP_IAM_ACCOUNT_ASSOCIATIONS_DELETE",
    send: (uid) => call(deleteAccountAssociation, { uid }),
    effect: "The group is no longer linked to cloud accounts. Nothing changes at the providers.",
  },
  empty: {
    title: "No account associations here",
    text: "Choose a group, then “New association”.",
    command: 'curl "$URL/iam/v2/accountAssociations" -H "Authorization: Bearer $TOKEN"',
  },
};

function accountsOf({ amazon, google, azure, github }: AccountAssociation): string {
  return [
    amazon && `Amazon ${amazon.account}`,
    google && `Google ${google.projectId || google.projectNumber}`,
    azure && `Azure ${azure.tenantId}`,
    github && "GitHub",
  ]
    .filter((part) => part !== undefined)
    .join(", ");
}

function fieldsOf({ name, description, amazon, google, azure }: Partial<AccountAssociation> = {}): FieldSpec[] {
  return [
    { name: "name", label: "Name", initial: name ?? "" },
    { name: "description", label: "Description", initial: description ?? "" },
    { name: "account", label: "Amazon account", help: "12 digits", initial: amazon?.account ?? "" },
    { name: "projectId", label: "Google project id", initial: google?.projectId ?? "" },
    { name: "projectNumber", label: "Google project number", initial: google?.projectNumber ?? "" },
    { name: "tenantId", label: "Azure tenant", help: "A UUID", initial: azure?.tenantId ?? "" },
    { name: "clientId", label: "Azure client", help: "A UUID", initial: azure?.clientIds["default"] ?? "" },
  ];
}

function inputOf(values: Values, before?: AccountAssociation): AccountAssociationInput {
  // The form has the client named default alone; others stay.
  const { default: _, ...clients } = before?.azure?.clientIds ?? {};
  const { name = "", description = "", account, projectId = "", projectNumber = "", tenantId, clientId } = values;
  return {
    name,
    description,
    ...(account && { amazon: { account } }),
    ...((projectId || projectNumber) && { google: { projectId, projectNumber } }),
    ...(tenantId && { azure: { tenantId, clientIds: { ...clients, ...(clientId && { default: clientId }) } } }),
  };
}
