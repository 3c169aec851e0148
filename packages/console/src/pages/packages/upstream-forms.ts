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
    description: "One for each registry and group. It counts for the groups below, too.",
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
        label: "Off: nothing is fetched, what is here is still given out",
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
      help: "Without one: where npm, PyPI or Maven publish for everybody",
    },
    { name: "description", label: "Description", initial: upstream?.description ?? "" },
    { name: "username", label: "User name", initial: upstream?.username ?? "", help: "Only where it asks for one" },
    {
      name: "password",
      label: "Password or token",
      isSecret: true,
      help: upstream === undefined ? "Stored encrypted, never shown" : "Leave it empty to keep the one that is stored",
    },
    {
      name: "reservedNames",
      label: "Names that are only published here",
      kind: "lines",
      initial: (upstream?.reservedNames ?? []).join("\n"),
      help: "One in each line, such as @acme/*: nobody can slip in a public package of that name",
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
