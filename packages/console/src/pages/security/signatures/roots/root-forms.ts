import { call } from "../../../../api/call.ts";
import { createTrustRoot, type TrustRoot, type TrustRootInput, updateTrustRoot } from "../../../../api/gen/registry.ts";
import { durationOfHours, hoursOf } from "../../../../lib/durations.ts";
import type { FieldSpec, FormSpec, Values } from "../../../access/parts/resource.ts";

const PASTED = "trustedRoot";
const MIRROR = "tuf";
const isPasted = (values: Values): boolean => values["by"] === PASTED;
const isMirror = (values: Values): boolean => values["by"] === MIRROR;

/** Says by which authorities and logs the identities of signers are verified. */
export function newRootForm(parent: string): FormSpec<TrustRoot> {
  return {
    title: "New trust root",
    action: "Create",
    description: "Signers of the group and of all groups below can name it.",
    fields: [{ name: "name", label: "Name", help: "Such as sigstore" }, ...fieldsOf()],
    send: (values) => call(createTrustRoot, { parent, trustRoot: { name: values["name"] ?? "", ...inputOf(values) } }),
  };
}

/** Changes from where a trust root is, and what it names. */
export function editRootForm(root: TrustRoot): FormSpec<TrustRoot> {
  return {
    title: `Edit ${root.name}`,
    action: "Save",
    description:
      "Stored signatures are verified again. With a different URL or root it starts over, and what was fetched before no longer counts.",
    fields: fieldsOf(root),
    send: (values) =>
      call(updateTrustRoot, { trustRoot: { uid: root.uid, ...inputOf(values) }, updateMask: "trustedRoot,tuf" }),
  };
}

function fieldsOf(root?: TrustRoot): FieldSpec[] {
  return [
    {
      name: "by",
      label: "Where it comes from",
      kind: "options",
      options: [
        [PASTED, "Enter it here"],
        [MIRROR, "A TUF mirror"],
      ],
      initial: root?.tuf === undefined ? PASTED : MIRROR,
    },
    {
      name: "trustedRoot",
      label: "Trusted root",
      kind: "lines",
      when: isPasted,
      initial: root?.trustedRoot ?? "",
      help: "The trusted_root.json of one instance of Sigstore. It does not renew itself.",
    },
    {
      name: "url",
      label: "URL of the mirror",
      when: isMirror,
      initial: root?.tuf?.url ?? "",
      help: "Below it is timestamp.json, such as https://tuf.example.com",
    },
    {
      name: "root",
      label: "First root",
      kind: "lines",
      when: isMirror,
      initial: root?.tuf?.root ?? "",
      help: "The root.json to trust initially. Get it from a source other than the mirror.",
    },
    {
      name: "interval",
      label: "Refresh interval, hours",
      when: isMirror,
      initial: hoursOf(root?.tuf?.interval ?? "86400s"),
      help: "From 1 to 720",
    },
  ];
}

function inputOf(values: Values): TrustRootInput {
  const { trustedRoot = "", url = "", root = "", interval = "" } = values;
  if (isPasted(values)) return { trustedRoot };
  const every = durationOfHours(interval);
  return { tuf: { url: url.trim(), root, ...(every !== undefined && { interval: every }) } };
}
