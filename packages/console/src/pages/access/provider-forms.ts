import { call } from "../../api/call.ts";
import {
  createIdentityProvider,
  type IdentityProvider,
  type IdentityProviderInput,
  updateIdentityProvider,
} from "../../api/gen/iam.ts";
import { listOf } from "./parts/lines.ts";
import type { FieldSpec, FormSpec, Values } from "./parts/resource.ts";

/** Registers an OpenID provider. */
export function newProviderForm(group: string): FormSpec<IdentityProvider> {
  return {
    title: "New identity provider",
    action: "Create",
    fields: fieldsOf(),
    send: (values) => call(createIdentityProvider, { parent: group, identityProvider: inputOf(values) }),
  };
}

/** Changes a provider. Its secret is kept where no other is given. */
export function editProviderForm(provider: IdentityProvider): FormSpec<IdentityProvider> {
  const { uid, name } = provider;
  if (provider.accounts !== undefined) return editAccountsForm(provider);
  return {
    title: `Edit identity provider ${name}`,
    action: "Save",
    fields: fieldsOf(provider),
    send: (values) => {
      const oidc = ["issuer", "clientId", "additionalScopes", "groupsClaim", "correlationRule", "pkceEnabled"];
      if ((values["clientSecret"] ?? "") !== "") oidc.push("clientSecret");
      const updateMask = ["name", "description", "defaultRole", ...oidc.map((field) => `oidc.${field}`)].join();
      return call(updateIdentityProvider, { identityProvider: { uid, ...inputOf(values) }, updateMask });
    },
  };
}

/** Changes what holds for the accounts that this server keeps for an organization. */
function editAccountsForm({
  uid,
  name,
  description,
  defaultRole,
  accounts,
}: IdentityProvider): FormSpec<IdentityProvider> {
  return {
    title: `Edit ${name}`,
    action: "Save",
    fields: [
      ...namesOf({ name, description }),
      {
        name: "secondFactor",
        label: "Passwords need a second factor",
        kind: "check",
        help: "A code of an authenticator app; passkeys need none",
        initial: accounts?.secondFactor === true ? "true" : "",
      },
      roleField(defaultRole),
    ],
    send: (values) => {
      const { name: newName = "", description: text = "", defaultRole: role = "" } = values;
      const secondFactor = values["secondFactor"] === "true";
      return call(updateIdentityProvider, {
        identityProvider: { uid, name: newName, description: text, defaultRole: role, accounts: { secondFactor } },
        updateMask: "name,description,defaultRole,accounts.secondFactor",
      });
    },
  };
}

function namesOf({ name, description }: Partial<IdentityProvider>): FieldSpec[] {
  return [
    { name: "name", label: "Name", help: "a-z, 0-9, space, dot, dash, underscore", initial: name ?? "" },
    { name: "description", label: "Description", initial: description ?? "" },
  ];
}

function roleField(defaultRole: string | undefined): FieldSpec {
  return {
    name: "defaultRole",
    label: "Default role",
    kind: "role",
    help: "Given to everybody who signs in there; none: people have no permissions until somebody gives them some",
    initial: defaultRole ?? "",
  };
}

function fieldsOf({ name, description, defaultRole, oidc }: Partial<IdentityProvider> = {}): FieldSpec[] {
  return [
    ...namesOf({ ...(name !== undefined && { name }), ...(description !== undefined && { description }) }),
    { name: "issuer", label: "Issuer", help: "Such as https://login.example.com", initial: oidc?.issuer ?? "" },
    { name: "clientId", label: "Client id", initial: oidc?.clientId ?? "" },
    {
      name: "clientSecret",
      label: "Client secret",
      isSecret: true,
      help: oidc === undefined ? "Leave empty for a public client" : "Leave empty to keep the current one",
    },
    {
      name: "additionalScopes",
      label: "Additional scopes",
      kind: "lines",
      help: "One per line, such as email",
      initial: (oidc?.additionalScopes ?? ["email", "profile"]).join("\n"),
    },
    {
      name: "groupsClaim",
      label: "Groups claim",
      help: "Such as groups; empty: groups there give no permissions here",
      initial: oidc?.groupsClaim ?? "",
    },
    {
      name: "correlationRule",
      label: "User ID claim",
      kind: "options",
      options: [
        ["CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID", "the claim sub"],
        ["CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID", "the claim oid (Microsoft Entra)"],
      ],
      initial: oidc?.correlationRule ?? "CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID",
    },
    { name: "pkceEnabled", label: "Use PKCE", kind: "check", initial: oidc?.pkceEnabled === false ? "" : "true" },
    roleField(defaultRole),
  ];
}

function inputOf(values: Values): IdentityProviderInput {
  const { name = "", description = "", defaultRole = "", issuer = "", clientId = "", clientSecret = "" } = values;
  const rule = values["correlationRule"];
  return {
    name,
    description,
    defaultRole,
    oidc: {
      issuer,
      clientId,
      ...(clientSecret !== "" && { clientSecret }),
      additionalScopes: listOf(values["additionalScopes"] ?? ""),
      groupsClaim: values["groupsClaim"] ?? "",
      correlationRule:
        rule === "CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID" ? rule : "CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID",
      pkceEnabled: values["pkceEnabled"] === "true",
    },
  };
}
