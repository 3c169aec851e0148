import { call } from "../../../api/call.ts";
import { invalid } from "../../../api/errors.ts";
import { createQuota, type Quota, type QuotaInput, updateQuota } from "../../../api/gen/registry.ts";
import { bytesOf, sizeText } from "../../../lib/sizes.ts";
import type { FieldSpec, FormSpec, Values } from "../../access/parts/resource.ts";
import { SOFT_PERCENT } from "./quota-words.ts";

const COUNTS = ["repos", "tags", "libraries"] as const;
const MASK = ["bytes", ...COUNTS, "softPercent"].join(",");

/** Sets the quota of a group. `group`: the one that is chosen already; empty to ask. */
export function newQuotaForm(group: string): FormSpec {
  return {
    title: "Set a quota",
    action: "Set quota",
    description: "It applies to the group and everything below it. Leave a field empty for no limit.",
    fields: [{ name: "parent", label: "Group", kind: "group", initial: group }, ...limitFields()],
    send: (values) => {
      const { parent = "" } = values;
      if (parent === "") throw invalid("parent", "choose the group to limit");
      return call(createQuota, { parent, quota: quotaOf(values) });
    },
  };
}

/** Changes the quota of a group. */
export function editQuotaForm(quota: Quota, path: string): FormSpec {
  return {
    title: `Quota of ${path}`,
    action: "Save",
    description:
      "Leave a field empty for no limit. A limit can be lower than what is used: then nothing more is accepted.",
    fields: limitFields(quota),
    send: (values) => call(updateQuota, { quota: { ...quotaOf(values), uid: quota.uid }, updateMask: MASK }),
  };
}

function limitFields(quota?: Quota): FieldSpec[] {
  return [
    {
      name: "bytes",
      label: "Storage",
      help: "With a unit, such as 10 GiB. Content that is stored several times counts once.",
      initial: sizeText(quota?.bytes),
    },
    { name: "repos", label: "Images", initial: quota?.repos ?? "" },
    { name: "tags", label: "Tags", initial: quota?.tags ?? "" },
    { name: "libraries", label: "Packages", initial: quota?.libraries ?? "" },
    {
      name: "softPercent",
      label: "Warn from (percent)",
      help: "Pushes still work, with a warning, and one event is sent",
      initial: String(quota?.softPercent || SOFT_PERCENT),
    },
  ];
}

function quotaOf(values: Values): QuotaInput {
  const quota: QuotaInput = {};
  const { bytes = "", softPercent = "" } = values;
  if (bytes.trim() !== "") {
    const read = bytesOf(bytes);
    if (read === undefined) throw invalid("bytes", "must be a size, such as 10 GiB");
    quota.bytes = read;
  }
  for (const name of COUNTS) {
    const text = (values[name] ?? "").trim();
    if (text === "") continue;
    if (!/^\d{1,15}$/.test(text)) throw invalid(name, "must be a whole number");
    quota[name] = text;
  }
  if (!/^\d{0,3}$/.test(softPercent.trim())) throw invalid("softPercent", "must be a whole number from 1 to 100");
  quota.softPercent = Number(softPercent);
  return quota;
}
