import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../api/call.ts";
import type { Capability } from "../../api/gen/iam.ts";
import {
  type ArtifactVersion,
  deleteArtifactVersion,
  type Ecosystem,
  updateArtifactVersion,
} from "../../api/gen/libraries.ts";
import { useRights } from "../../lib/rights.ts";
import { parentUid } from "../../lib/uid.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { Menu, type MenuItem } from "../../ui/menu.tsx";
import { say } from "../../ui/toasts.tsx";
import { FormDialog } from "../access/parts/form-dialog.tsx";
import type { FormSpec } from "../access/parts/resource.ts";

const PUBLISH: Partial<Record<Ecosystem, Capability>> = {
  ECOSYSTEM_JAVASCRIPT: "CAP_LIBRARIES_JAVASCRIPT_PUBLISH",
  ECOSYSTEM_PYTHON: "CAP_LIBRARIES_PYTHON_PUBLISH",
};

/** What can be done with a version: npm deprecates, Python yanks, all delete. */
export function VersionActions({ row, ecosystem }: { row: ArtifactVersion; ecosystem: Ecosystem }) {
  const [open, setOpen] = useState<"change" | "delete">();
  const rights = useRights(parentUid(parentUid(row.uid)));
  const client = useQueryClient();
  const changed = (): Promise<void> =>
    client.invalidateQueries({
      predicate: ({ queryKey: [first] }) => typeof first === "string" && first.startsWith("/libraries/"),
    });
  const form = ecosystem === "ECOSYSTEM_PYTHON" ? yankForm(row) : deprecateForm(row);
  const needed = PUBLISH[ecosystem];
  const name = `${row.name} ${row.version}`;
  const items: MenuItem[] = [
    ...(needed === undefined
      ? []
      : [{ label: form.title, onSelect: () => setOpen("change"), disabledReason: rights(needed) }]),
    {
      label: "Delete",
      isDanger: true,
      onSelect: () => setOpen("delete"),
      disabledReason: rights("CAP_LIBRARIES_ARTIFACTS_DELETE"),
    },
  ];
  return (
    <>
      <Menu label={`Actions for ${name}`} items={items} />
      {open === "change" && <FormDialog form={form} onClose={() => setOpen(undefined)} onDone={() => void changed()} />}
      <Confirm
        isOpen={open === "delete"}
        onClose={() => setOpen(undefined)}
        title={`Delete ${name}?`}
        description="It can no longer be installed, and its number cannot be published again."
        action="Delete"
        onConfirm={async () => {
          await call(deleteArtifactVersion, { uid: row.uid });
          await changed();
          say(`${name} is deleted`);
        }}
      />
    </>
  );
}

function deprecateForm({ uid, deprecation }: ArtifactVersion): FormSpec {
  return {
    title: "Deprecate",
    action: "Save",
    description: "npm shows this text to anyone who installs the version. Leave it empty to undeprecate the version.",
    fields: [{ name: "deprecation", label: "What to use instead", initial: deprecation }],
    send: ({ deprecation: text = "" }) =>
      call(updateArtifactVersion, { artifactVersion: { uid, deprecation: text }, updateMask: "deprecation" }),
  };
}

function yankForm({ uid, yanked, yankReason }: ArtifactVersion): FormSpec {
  return {
    title: "Yank",
    action: "Save",
    description: "pip installs a yanked version only if it is requested by its exact number.",
    fields: [
      { name: "yanked", label: "Yanked", kind: "check", initial: yanked ? "" : "true" },
      { name: "yankReason", label: "Why", initial: yankReason },
    ],
    send: ({ yanked: is, yankReason: why = "" }) =>
      call(updateArtifactVersion, {
        artifactVersion: { uid, yanked: is === "true", yankReason: is === "true" ? why : "" },
        updateMask: "yanked,yankReason",
      }),
  };
}
