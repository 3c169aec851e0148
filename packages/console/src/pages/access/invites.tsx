import { call } from "../../api/call.ts";
import { acceptGroupInvite, createGroupInvite, deleteGroupInvite, type GroupInvite } from "../../api/gen/iam.ts";
import { Time } from "../../ui/time.tsx";
import { Place } from "./parts/place.tsx";
import type { FormSpec, ResourceSpec } from "./parts/resource.ts";
import { parentOf } from "./parts/tree.ts";

const DAY_S = 86_400;

/** Takes up an invite by its code. */
export const ACCEPT: FormSpec = {
  title: "Accept an invite",
  action: "Accept",
  description: "Its role is bound to you.",
  fields: [{ name: "code", label: "Code" }],
  send: ({ code = "" }) => call(acceptGroupInvite, { code: code.trim() }),
};

/** Invites; `onMade` is given the new one, with its code. */
export function invitesWith(onMade: (invite: GroupInvite) => void): ResourceSpec<GroupInvite> {
  return {
    title: "Invites",
    noun: "invite",
    intro: "A link that gives whoever has it a role on a group. It is shown once.",
    columns: [
      { id: "role", header: "Role", cell: ({ role }) => role?.name },
      { id: "group", header: "On group", cell: ({ uid }) => <Place uid={parentOf(uid)} />, isMinor: true },
      { id: "email", header: "For", cell: ({ email }) => email || "whoever has the code" },
      {
        id: "uses",
        header: "Good for",
        cell: ({ singleUse }) => (singleUse ? "one person" : "several"),
        isMinor: true,
      },
      { id: "key", header: "Key id", cell: ({ keyId }) => <code>{keyId}</code>, isMinor: true },
      { id: "ends", header: "Ends", cell: ({ expirationTime }) => <Time value={expirationTime} /> },
    ],
    uidOf: ({ uid }) => uid,
    nameOf: ({ keyId }) => keyId,
    create: {
      capability: "CAP_IAM_GROUP_INVITES_CREATE",
      done: (made) => onMade(made as GroupInvite),
      form: (parent) => ({
        title: "New invite",
        action: "Create",
        description: "You can give what you hold there yourself.",
        fields: [
          { name: "roleUid", label: "Role", kind: "role" },
          {
            name: "email",
            label: "E-mail address",
            help: "Only who signs in with this address through an identity provider; empty: whoever has the link",
          },
          {
            name: "ttl",
            label: "Good for",
            kind: "options",
            initial: "7",
            options: [
              ["1", "a day"],
              ["7", "a week"],
              ["30", "30 days"],
            ],
          },
          { name: "singleUse", label: "For one person", kind: "check", initial: "true" },
        ],
        send: ({ roleUid = "", email = "", ttl, singleUse }) =>
          call(createGroupInvite, {
            parent,
            groupInvite: { roleUid, email, ttl: `${Number(ttl) * DAY_S}s`, singleUse: singleUse === "true" },
          }),
      }),
    },
    remove: {
      capability: "CAP_IAM_GROUP_INVITES_DELETE",
      verb: "Revoke",
      send: (uid) => call(deleteGroupInvite, { uid }),
      effect: "The code is of no use any more. Whoever accepted it keeps the role.",
    },
    empty: {
      title: "No invites here",
      text: "Invite people by a link: choose a group, then “New invite”.",
      command: 'curl "$URL/iam/v2/groupInvites" -H "Authorization: Bearer $TOKEN"',
    },
  };
}
