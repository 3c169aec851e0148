import { getRouteApi } from "@tanstack/react-router";
import { call } from "../../api/call.ts";
import {
  createExternalGroupRoleMapping,
  deleteExternalGroupRoleMapping,
  type ExternalGroupRoleMapping,
  updateExternalGroupRoleMapping,
} from "../../api/gen/iam.ts";
import { Named } from "./parts/resource-name.tsx";
import { Place } from "./parts/place.tsx";
import { ResourcePage } from "./parts/resource-page.tsx";
import type { FieldSpec, ResourceSpec } from "./parts/resource.ts";
import { useRows } from "./parts/rows.ts";
import { parentOf } from "./parts/tree.ts";
import { mappingsList } from "./queries.ts";

const route = getRouteApi("/shell/access/mappings");

function mappingsOf(provider: string): ResourceSpec<ExternalGroupRoleMapping> {
  return {
    title: "External group mappings",
    noun: "mapping",
    intro:
      "People in a group at an identity provider have a role here, as long as the provider's token says so. The provider needs a groups claim.",
    columns: [
      { id: "external", header: "Group there", cell: ({ externalGroupId }) => externalGroupId },
      {
        id: "provider",
        header: "Provider",
        cell: ({ identityProviderUid }) => <Named kind="provider" uid={identityProviderUid} />,
        isMinor: true,
      },
      { id: "role", header: "Role", cell: ({ roleUid }) => <Named kind="role" uid={roleUid} /> },
      { id: "scope", header: "Where", cell: ({ scope }) => <Place uid={scope} /> },
    ],
    uidOf: ({ uid }) => uid,
    nameOf: ({ externalGroupId }) => externalGroupId,
    groupOf: ({ identityProviderUid }) => parentOf(identityProviderUid),
    create: {
      capability: "CAP_IAM_IDENTITY_PROVIDERS_UPDATE",
      form: (group) => ({
        title: "New mapping",
        action: "Create",
        description: "You can grant only what you hold there yourself.",
        fields: [
          { name: "parent", label: "Identity provider", kind: "provider", initial: provider },
          {
            name: "externalGroupId",
            label: "Group there",
            help: "As it appears in the provider's groups claim",
          },
          ...given({ scope: group }),
        ],
        send: ({ parent = "", ...externalGroupRoleMapping }) => {
          if (parent === "") throw new Error("Choose the identity provider.");
          return call(createExternalGroupRoleMapping, { parent, externalGroupRoleMapping });
        },
      }),
    },
    edit: {
      capability: "CAP_IAM_IDENTITY_PROVIDERS_UPDATE",
      form: (mapping) => ({
        title: `Edit mapping of ${mapping.externalGroupId}`,
        action: "Save",
        fields: given(mapping),
        send: ({ roleUid = "", scope = "" }) =>
          call(updateExternalGroupRoleMapping, {
            externalGroupRoleMapping: { uid: mapping.uid, roleUid, scope },
            updateMask: "roleUid,scope",
          }),
      }),
    },
    remove: {
      capability: "CAP_IAM_IDENTITY_PROVIDERS_DELETE",
      send: (uid) => call(deleteExternalGroupRoleMapping, { uid }),
      effect: "People in that group lose the role from their next request on.",
    },
    empty: {
      title: "No mappings here",
      text: "With a mapping, joining a group at the provider is enough to get a role here.",
      command: 'curl "$URL/iam/v2/externalGroupRoleMappings" -H "Authorization: Bearer $TOKEN"',
    },
  };
}

function given({ roleUid = "", scope = "" }: { roleUid?: string; scope?: string }): FieldSpec[] {
  return [
    { name: "roleUid", label: "Role", kind: "role", initial: roleUid },
    { name: "scope", label: "On group", kind: "group", help: "The provider's group, or one below it", initial: scope },
  ];
}

/** `/access/mappings` */
export function MappingsPage() {
  const search = route.useSearch();
  const list = useRows(mappingsList(search), ({ externalGroupRoleMappings }) => externalGroupRoleMappings);
  const group = search.group ?? parentOf(search.provider ?? "");
  return <ResourcePage spec={mappingsOf(search.provider ?? "")} list={list} group={group} order={search.order} />;
}
