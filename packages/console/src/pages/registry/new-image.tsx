import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { call } from "../../api/call.ts";
import { createRepo, listRepos, type Repo } from "../../api/gen/registry.ts";
import type { Group } from "../../api/gen/iam.ts";
import { collection } from "../../api/queries.ts";
import { groupPath } from "../../lib/groups.ts";
import { parentUid } from "../../lib/uid.ts";
import { FormDialog } from "../access/parts/form-dialog.tsx";

export interface NewImageProps {
  /** The uid of the group that is chosen at first; empty without one. */
  group: string;
  /** The groups that the person may see. */
  groups: readonly Group[];
  onClose: () => void;
}

/** Creates an image that nothing was pushed to yet, and goes to its page, which has the command that pushes. */
export function NewImage({ group, groups, onClose }: NewImageProps) {
  const client = useQueryClient();
  const navigate = useNavigate();
  return (
    <FormDialog
      form={{
        title: "New image",
        action: "Create",
        description: "Pushing to a name that does not exist also creates an image.",
        fields: [
          { name: "parent", label: "Group", kind: "group", initial: group },
          { name: "name", label: "Name", help: "Lowercase letters, digits, dots, dashes, and underscores" },
          { name: "description", label: "Description", help: "One line about the image" },
        ],
        send: ({ parent = "", name = "", description = "" }) =>
          call(createRepo, { parent, repo: { name: name.trim(), description: description.trim() } }),
      }}
      onClose={onClose}
      onDone={(made) => {
        const { uid, name } = made as Repo;
        void client.invalidateQueries({ queryKey: [collection(listRepos)] });
        void navigate({ to: "/repo", search: { name: `${groupPath(parentUid(uid), groups)}/${name}` } });
      }}
    />
  );
}
