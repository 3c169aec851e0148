import { call } from "../../../api/call.ts";
import {
  createRegistryUpstream,
  type RegistryUpstream,
  type RegistryUpstreamInput,
  updateRegistryUpstream,
} from "../../../api/gen/registry.ts";
import { invalid } from "../../../api/errors.ts";
import { daysOf, durationOfDays, durationOfMinutes, minutesOf } from "../../../lib/durations.ts";
import { bytesOf, sizeText } from "../../../lib/sizes.ts";
import { listOf } from "../../access/parts/lines.ts";
import type { FieldSpec, FormSpec, Values } from "../../access/parts/resource.ts";
import { ExactNote } from "./exact-note.tsx";

const FIELDS = [
  "description",
  "username",
  "allowed",
  "denied",
  "tagTtl",
  "missingTtl",
  "cooldown",
  "allowedDigests",
  "keepUnpulled",
  "maxBytes",
  "anonymousNetworks",
  "follow",
  "disabled",
];

const isFollowing = (values: Values): boolean => values["isFollowed"] === "true";

/** Makes a group stand for a registry. */
export function newUpstreamForm(parent: string): FormSpec<RegistryUpstream> {
  return {
    title: "New upstream",
    action: "Create",
    description: "One per group. Images are pulled below the group by the names that they have at the registry.",
    fields: [
      { name: "registry", label: "Registry", help: "Its host, such as docker.io or registry.example.com:5000" },
      {
        name: "prefix",
        label: "Prefix",
        help: "What all names there begin with, such as acme; empty: all names. Neither can be changed later.",
      },
      ...fieldsOf(),
    ],
    preview: (values) => <ExactNote values={values} />,
    send: (values) => {
      const names = { registry: textOf(values, "registry"), prefix: textOf(values, "prefix") };
      return call(createRegistryUpstream, { parent, registryUpstream: { ...names, ...inputOf(values) } });
    },
  };
}

/** Changes how a group stands for its registry. A password that is not typed again stays. */
export function editUpstreamForm(upstream: RegistryUpstream): FormSpec<RegistryUpstream> {
  return {
    title: `Edit ${upstream.registry}`,
    action: "Save",
    fields: fieldsOf(upstream),
    preview: (values) => <ExactNote values={values} />,
    send: (values) =>
      call(updateRegistryUpstream, {
        registryUpstream: { uid: upstream.uid, ...inputOf(values) },
        updateMask: [...FIELDS, ...(values["password"] ? ["password"] : [])].join(),
      }),
  };
}

function fieldsOf(upstream?: RegistryUpstream): FieldSpec[] {
  return [
    { name: "description", label: "What it is for", initial: upstream?.description ?? "" },
    ...signInFields(upstream),
    ...nameFields(upstream),
    ...timeFields(upstream),
    ...followFields(upstream),
    {
      name: "anonymousNetworks",
      label: "Anonymous networks",
      kind: "lines",
      initial: (upstream?.anonymousNetworks ?? []).join("\n"),
      help: "One per line, such as 10.0.0.0/8. At a mirror host, unknown credentials from there count as none.",
    },
    {
      name: "disabled",
      label: "Off: the registry is not asked; what is stored is still served",
      kind: "check",
      initial: check(upstream?.disabled),
    },
  ];
}

function signInFields(upstream: RegistryUpstream | undefined): FieldSpec[] {
  return [
    {
      name: "username",
      label: "User name there",
      initial: upstream?.username ?? "",
      help: "Only if the registry requires one",
    },
    {
      name: "password",
      label: "Password or token there",
      isSecret: true,
      help:
        upstream === undefined
          ? "Stored encrypted, never shown"
          : "Leave empty to keep the stored one. Required again for a different user name.",
    },
  ];
}

function nameFields(upstream: RegistryUpstream | undefined): FieldSpec[] {
  return [
    {
      name: "allowed",
      label: "Allowed names",
      kind: "lines",
      initial: (upstream?.allowed ?? []).join("\n"),
      help: "One per line, such as library/*; empty: all",
    },
    {
      name: "denied",
      label: "Denied names",
      kind: "lines",
      initial: (upstream?.denied ?? []).join("\n"),
      help: "One per line. They count even where allowed names match, and for what is stored already.",
    },
  ];
}

function timeFields(upstream: RegistryUpstream | undefined): FieldSpec[] {
  return [
    {
      name: "tagTtl",
      label: "Tag time to live, minutes",
      initial: minutesOf(upstream?.tagTtl),
      help: "How long a tag is served without asking the registry; empty: 60",
    },
    {
      name: "missingTtl",
      label: "Time to live of what is missing, minutes",
      initial: minutesOf(upstream?.missingTtl),
      help: "How long it is not asked for again; empty: 1",
    },
    {
      name: "cooldown",
      label: "Cooldown, days",
      initial: daysOf(upstream?.cooldown),
      help: "How long a version must have been known here before it is served; empty: none",
    },
    {
      name: "allowedDigests",
      label: "Digests exempt from the cooldown",
      kind: "lines",
      initial: (upstream?.allowedDigests ?? []).join("\n"),
      help: "One per line, such as an urgent fix that you have reviewed",
    },
    {
      name: "keepUnpulled",
      label: "Keep what nobody pulls, days",
      initial: daysOf(upstream?.keepUnpulled),
      help: "At least 1; empty: forever. Changing it requires the right to change the policies of images.",
    },
    {
      name: "maxBytes",
      label: "Storage limit",
      initial: hasLimit(upstream) ? sizeText(upstream?.maxBytes) : "",
      help: "With a unit, such as 50 GiB; empty: none. What was pulled the longest ago is removed to make space.",
    },
  ];
}

function followFields(upstream: RegistryUpstream | undefined): FieldSpec[] {
  const { follow } = upstream ?? {};
  return [
    {
      name: "isFollowed",
      label: "Copy images before anyone pulls them",
      kind: "check",
      initial: check(follow !== undefined),
      help: "Not available with a cooldown, or with a limit on what nobody pulls",
    },
    {
      name: "follow.repoPattern",
      label: "Which images",
      initial: follow?.repoPattern ?? "",
      help: "RE2, of whole names at the registry; empty: all",
      when: isFollowing,
    },
    {
      name: "follow.tagPattern",
      label: "Which tags",
      initial: follow?.tagPattern ?? "",
      help: "RE2, of whole names, such as v[0-9.]+; empty: all",
      when: isFollowing,
    },
    {
      name: "follow.interval",
      label: "Sync interval, minutes",
      initial: minutesOf(follow?.interval),
      help: "Empty: 60",
      when: isFollowing,
    },
    {
      name: "follow.exact",
      label: "Delete tags here that were deleted there",
      kind: "check",
      initial: check(follow?.exact),
      when: isFollowing,
    },
  ];
}

function check(is: boolean | undefined): string {
  return is === true ? "true" : "";
}

function textOf(values: Values, name: string): string {
  // Fields that do not count with what the others say are not among the values.
  return (values[name] ?? "").trim();
}

/** Whether the upstream limits how much is kept. */
export function hasLimit(upstream: RegistryUpstream | undefined): boolean {
  return Number(upstream?.maxBytes ?? 0) > 0;
}

function limitOf(text: string): string {
  const read = text === "" ? "0" : bytesOf(text);
  if (read === undefined) throw invalid("maxBytes", "must be a size, such as 50 GiB");
  return read;
}

function inputOf(values: Values): RegistryUpstreamInput {
  const text = (name: string): string => textOf(values, name);
  const lines = (name: string): string[] => listOf(text(name));
  const { password = "" } = values;
  return {
    description: text("description"),
    username: text("username"),
    ...(password !== "" && { password }),
    allowed: lines("allowed"),
    denied: lines("denied"),
    allowedDigests: lines("allowedDigests"),
    anonymousNetworks: lines("anonymousNetworks"),
    disabled: values["disabled"] === "true",
    maxBytes: limitOf(text("maxBytes")),
    ...given("tagTtl", durationOfMinutes(text("tagTtl"))),
    ...given("missingTtl", durationOfMinutes(text("missingTtl"))),
    ...given("cooldown", durationOfDays(text("cooldown"))),
    ...given("keepUnpulled", durationOfDays(text("keepUnpulled"))),
    ...(isFollowing(values) && {
      follow: {
        repoPattern: text("follow.repoPattern"),
        tagPattern: text("follow.tagPattern"),
        exact: values["follow.exact"] === "true",
        ...given("interval", durationOfMinutes(text("follow.interval"))),
      },
    }),
  };
}

function given<Name extends string>(name: Name, value: string | undefined): Partial<Record<Name, string>> {
  return value === undefined ? {} : ({ [name]: value } as Record<Name, string>);
}
