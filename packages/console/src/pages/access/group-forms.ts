import { call } from "../../api/call.ts";
import { createGroup, type Group, updateGroup } from "../../api/gen/iam.ts";
import type { FieldSpec, FormSpec } from "./parts/resource.ts";

const NAME: FieldSpec = {
  name: "name",
  label: "Name",
  help: "1 to 63 of a-z, 0-9, space, dot, dash and underscore. It is part of the names of images: team in acme/team/app.",
};
const DESCRIPTION: FieldSpec = { name: "description", label: "Description", help: "What the group is for." };

/** Makes a group below the parent; an organization without one. */
export function newGroupForm(parent: string, path: string): FormSpec {
  return {
    title: parent === "" ? "New organization" : `New group below ${path}`,
    action: "Create",
    fields: [NAME, DESCRIPTION],
    send: ({ name = "", description = "" }) => call(createGroup, { parent, group: { name, description } }),
  };
}

/** Renames a group, or describes it anew. */
export function editGroupForm({ uid, name, description }: Group): FormSpec {
  return {
    title: `Edit group ${name}`,
    action: "Save",
    description:
      "Its name is part of the names of its images: clients that pull or push by the old name must switch to the new one.",
    fields: [
      { ...NAME, initial: name },
      { ...DESCRIPTION, initial: description },
    ],
    send: (values) =>
      call(updateGroup, {
        group: { uid, name: values["name"] ?? "", description: values["description"] ?? "" },
        updateMask: "name,description",
      }),
  };
}
