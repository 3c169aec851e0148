import { call } from "../../../api/call.ts";
import {
  createReplication,
  type Replication,
  type ReplicationConflict,
  type ReplicationDeletions,
  type ReplicationInput,
  updateReplication,
} from "../../../api/gen/registry.ts";
import { durationOfMinutes, minutesOf } from "../../../lib/durations.ts";
import { parentUid } from "../../../lib/uid.ts";
import type { FieldSpec, FormSpec, Values } from "../../access/parts/resource.ts";
import { ReplicationNotes } from "./replication-notes.tsx";

const FIELDS = [
  "description",
  "repoPattern",
  "tagPattern",
  "destination",
  "username",
  "destinationIdentity",
  "flatten",
  "onPush",
  "interval",
  "deletions",
  "onConflict",
];

const BY_PASSWORD = "password";
const BY_IDENTITY = "identity";
const isByIdentity = (values: Values): boolean => values["signIn"] === BY_IDENTITY;
const isByPassword = (values: Values): boolean => !isByIdentity(values);

/** Has images of a group, and of all groups below it, pushed to another registry. */
export function newReplicationForm(parent: string): FormSpec<Replication> {
  return {
    title: "New replication",
    action: "Create",
    description:
      "Matching tags are pushed with everything attached to them: existing ones now, and others as they move.",
    fields: [{ name: "name", label: "Name", help: "Such as archive" }, ...fieldsOf()],
    preview: (values) => <ReplicationNotes values={values} group={parent} />,
    send: (values) =>
      call(createReplication, { parent, replication: { name: values["name"] ?? "", ...inputOf(values) } }),
  };
}

/** Changes a replication. What is under way ends, and goes on by the new values. */
export function editReplicationForm(replication: Replication): FormSpec<Replication> {
  return {
    title: `Edit ${replication.name}`,
    action: "Save",
    description:
      "Pushes in progress stop and continue with the new values. With a different destination it starts over.",
    fields: fieldsOf(replication),
    preview: (values) => <ReplicationNotes values={values} group={parentUid(replication.uid)} />,
    send: (values) =>
      call(updateReplication, {
        replication: { uid: replication.uid, ...inputOf(values) },
        // A password that is not typed stays.
        updateMask: [...FIELDS, ...(values["password"] ? ["password"] : [])].join(),
      }),
  };
}

function fieldsOf(replication?: Replication): FieldSpec[] {
  const check = (is: boolean | undefined): string => (is === true ? "true" : "");
  return [
    {
      name: "destination",
      label: "Destination",
      initial: replication?.destination ?? "",
      help: "host/path, such as registry.example.com/archive: the path of each image below the group follows it",
    },
    {
      name: "repoPattern",
      label: "Which images",
      initial: replication?.repoPattern ?? "",
      help: "RE2, which the whole path below the group must match; empty: all",
    },
    {
      name: "tagPattern",
      label: "Which tags",
      initial: replication?.tagPattern ?? "",
      help: "RE2, of whole names, such as v[0-9.]+; empty: all",
    },
    {
      name: "signIn",
      label: "How it signs in there",
      kind: "segments",
      options: [
        [BY_PASSWORD, "User name and password"],
        [BY_IDENTITY, "Identity of a Moorage"],
      ],
      initial: replication?.destinationIdentity ? BY_IDENTITY : BY_PASSWORD,
    },
    {
      name: "username",
      label: "User name there",
      initial: replication?.username ?? "",
      help: "Leave empty if there is none",
      when: isByPassword,
    },
    {
      name: "destinationIdentity",
      label: "Identity there",
      initial: replication?.destinationIdentity ?? "",
      help: "The uid of an identity on the other Moorage, which accepts tokens of this server. No password is stored.",
      when: isByIdentity,
    },
    {
      name: "password",
      label: "Password there",
      isSecret: true,
      when: isByPassword,
      ...(replication !== undefined && {
        help: "Leave empty to keep the stored one. Required again for a different destination or user name.",
      }),
    },
    {
      name: "onPush",
      label: "Push a tag as soon as it moves",
      kind: "check",
      initial: check(replication?.onPush ?? true),
    },
    {
      name: "interval",
      label: "Compare all tags every, minutes",
      initial: minutesOf(replication?.interval),
      help: "Leave empty for hourly comparison if tags are pushed as they move; otherwise only when run manually",
    },
    {
      name: "onConflict",
      label: "Tags there that it did not push",
      kind: "options",
      options: [
        ["REPLICATION_CONFLICT_STOP", "Keep, and block the item"],
        ["REPLICATION_CONFLICT_OVERWRITE", "Overwrite"],
      ],
      initial: replication?.onConflict ?? "REPLICATION_CONFLICT_STOP",
    },
    {
      name: "deletions",
      label: "Tags that are deleted here",
      kind: "options",
      options: [
        ["REPLICATION_DELETIONS_NEVER", "Keep there"],
        ["REPLICATION_DELETIONS_FOLLOW", "Delete there, if this replication pushed them"],
      ],
      initial: replication?.deletions ?? "REPLICATION_DELETIONS_NEVER",
    },
    {
      name: "flatten",
      label: "Append only the last part of an image's path to the destination",
      kind: "check",
      initial: check(replication?.flatten),
    },
    { name: "description", label: "What it is for", initial: replication?.description ?? "" },
  ];
}

function inputOf(values: Values): ReplicationInput {
  // Fields that do not count with what the others say are not among the values.
  const text = (name: string): string => (values[name] ?? "").trim();
  if (isByIdentity(values) && text("destinationIdentity") === "")
    throw new Error("Enter the identity there that this server pushes as.");
  const interval = durationOfMinutes(text("interval"));
  const { password = "" } = values;
  return {
    description: text("description"),
    repoPattern: text("repoPattern"),
    tagPattern: text("tagPattern"),
    destination: text("destination"),
    username: text("username"),
    destinationIdentity: text("destinationIdentity"),
    flatten: values["flatten"] === "true",
    onPush: values["onPush"] === "true",
    deletions: text("deletions") as ReplicationDeletions,
    onConflict: text("onConflict") as ReplicationConflict,
    ...(interval !== undefined && { interval }),
    ...(password !== "" && { password }),
  };
}
