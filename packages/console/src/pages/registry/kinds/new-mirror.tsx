import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { call } from "../../../api/call.ts";
import { createRepo, listRepos, type Repo } from "../../../api/gen/registry.ts";
import { collection } from "../../../api/queries.ts";
import { durationOfMinutes } from "../../../lib/durations.ts";
import { parentUid } from "../../../lib/uid.ts";
import { usePaths } from "../../access/parts/data.ts";
import { FormDialog } from "../../access/parts/form-dialog.tsx";
import type { Values } from "../../access/parts/resource.ts";
import { mirrorSource } from "./mirror-source.ts";

export interface NewMirrorProps {
  /** The uid of the group that is chosen at first; empty without one. */
  group: string;
  onClose: () => void;
}

/** Creates an image that follows one of another registry, or of this one, and goes to its state. */
export function NewMirror({ group, onClose }: NewMirrorProps) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const paths = usePaths();
  return (
    <FormDialog
      form={{
        title: "Mirror an image",
        action: "Create mirror",
        description: "Its tags are copied with everything attached to them, and kept up to date from then on.",
        fields: [
          {
            name: "source",
            label: "Image to follow",
            help: "As it is pulled, such as registry.example.com/team/app; or the path of an image here",
          },
          { name: "parent", label: "Group", kind: "group", initial: group },
          { name: "name", label: "Name here", help: "Leave empty to use the same name" },
          { name: "tagPattern", label: "Which tags", help: "RE2, of whole names, such as v[0-9]+; empty: all" },
          { name: "interval", label: "Sync interval, minutes", initial: "60" },
          {
            name: "pullThrough",
            label: "Pull-through cache",
            kind: "check",
            help: "Fetch what is not here yet when it is pulled",
          },
          { name: "username", label: "User name there", help: "Leave empty for a public image" },
          { name: "password", label: "Password there", isSecret: true },
        ],
        preview: ({ source = "" }) => <Preview source={source} />,
        send: (values) => call(createRepo, { parent: values["parent"] ?? "", repo: repoOf(values) }),
      }}
      onClose={onClose}
      onDone={(made) => {
        const { uid, name } = made as Repo;
        void client.invalidateQueries({ queryKey: [collection(listRepos)] });
        void navigate({
          to: "/repo/settings",
          search: { name: `${paths.get(parentUid(uid)) ?? ""}/${name}`, part: "mirror" },
        });
      }}
    />
  );
}

/** What a pasted reference is taken for, where that is not what was typed. */
function Preview({ source: text }: { source: string }) {
  const { source, tagPattern } = mirrorSource(text);
  if (source === "" || (source === text.trim() && tagPattern === "")) return null;
  return (
    <p role="status">
      Follows <strong>{source}</strong>, {tagPattern === "" ? "all tags" : `tags matching ${tagPattern}`}.
    </p>
  );
}

function repoOf(values: Values) {
  const text = (name: string): string => (values[name] ?? "").trim();
  const read = mirrorSource(text("source"));
  const interval = durationOfMinutes(text("interval"));
  const { password = "" } = values;
  return {
    name: text("name") || read.name,
    syncConfig: {
      source: read.source,
      tagPattern: text("tagPattern") || read.tagPattern,
      pullThrough: values["pullThrough"] === "true",
      username: text("username"),
      ...(interval !== undefined && { interval }),
      ...(password !== "" && { password }),
    },
  };
}
