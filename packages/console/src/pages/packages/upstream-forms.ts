import { call } from "../../api/call.ts";
import { createUpstream, type Upstream, type UpstreamInput, updateUpstream } from "../../api/gen/libraries.ts";
import { listOf } from "../access/parts/lines.ts";
import type { FieldSpec, FormSpec, Values } from "../access/parts/resource.ts";
import { ECOSYSTEMS } from "./words.ts";

/** Lets a group fetch packages of one ecosystem from elsewhere. */
export function newUpstreamForm(parent: string): FormSpec<Upstream> {
  return {
    title: "New upstream",
    action: "Create",
    description: "One per registry and group. It also applies to the groups below.",
    fields: [
      { name: "ecosystem", label: "Registry", kind: "options", options: ECOSYSTEMS, initial: ECOSYSTEMS[0]?.[0] ?? "" },
      ...fieldsOf(),
    ],
    send: (values) => {
      const ecosystem = ECOSYSTEMS.find(([id]) => id === values["ecosystem"])?.[0] ?? "ECOSYSTEM_JAVASCRIPT";
      return call(createUpstream, { parent, upstream: { ecosystem, ...inputOf(values) } });
    },
  };
}

/** Changes where packages come from. A password that is not typed again stays. */
export function editUpstreamForm(upstream: Upstream): FormSpec<Upstream> {
  return {
    title: "Edit upstream",
    action: "Save",
    fields: [
      ...fieldsOf(upstream),
      {
        name: "disabled",
        label: "Off: nothing is fetched; what is stored stays available",
        kind: "check",
        initial: upstream.disabled ? "true" : "",
      },
    ],
    send: (values) => {
      const { password, ...input } = inputOf(values);
      const isNew = password !== undefined && password !== "";
      const mask = ["url", "description", "username", "reservedNames", "disabled", ...(isNew ? ["password"] : [])];
      return call(updateUpstream, {
        upstream: {
          uid: upstream.uid,
          ...input,
          disabled: values["disabled"] === "true",
          ...(isNew && { password }),
        },
        updateMask: mask.join(","),
      });
    },
  };
}

function fieldsOf(upstream?: Upstream): FieldSpec[] {
  return [
    {
      name: "url",
      label: "Address",
      initial: upstream?.url ?? "",
      help: "Leave empty for the public registry of npm, PyPI, or Maven",
    },
    { name: "description", label: "Description", initial: upstream?.description ?? "" },
    {
      name: "username",
      label: "User name",
      initial: upstream?.username ?? "",
      help: "Only if the registry requires one",
    },
    {
      name: "password",
      label: "Password or token",
      isSecret: true,
      help: upstream === undefined ? "Stored encrypted, never shown" : "Leave empty to keep the stored one",
    },
    {
      name: "reservedNames",
      label: "Reserved names",
      kind: "lines",
      initial: (upstream?.reservedNames ?? []).join("\n"),
      help: "One per line, such as @acme/*. These names are never fetched from the upstream.",
    },
  ];
}

function inputOf({
  url = "",
  description = "",
  username = "",
  password = "",
  reservedNames = "",
}: Values): UpstreamInput {
  return {
    ...(url !== "" && { url }),
    description,
    username,
    ...(password !== "" && { password }),
    reservedNames: listOf(reservedNames),
  };
}
