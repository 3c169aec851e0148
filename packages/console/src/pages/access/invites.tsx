import { call } from "../../api/call.ts";
import { ApiError } from "../../api/errors.ts";
import { acceptGroupInvite, createGroupInvite, deleteGroupInvite, type GroupInvite } from "../../api/gen/iam.ts";
import { Time } from "../../ui/time.tsx";
import { Place } from "./parts/place.tsx";
import { RoleCards } from "./parts/role-cards.tsx";
import type { FormSpec, ResourceSpec } from "./parts/resource.ts";
import { parentOf } from "./parts/tree.ts";

const DAY_S = 86_400;
const MAX_MAILED_DAYS = 7;
const SHORT = [
  ["1", "1 day"],
  ["7", "7 days"],
] as const;

/** Throws as the server does for a field that is empty: without an address the link would be shown. */
function requireAddress(mailTo: string): { mailTo: string; singleUse: boolean } {
  const address = mailTo.trim();
  if (address !== "") return { mailTo: address, singleUse: true };
  throw new ApiError(400, {
    code: "INVALID_ARGUMENT",
    message: "An email address is required.",
    violations: [{ field: "mailTo", description: "is required" }],
  });
}

/** Takes up an invite by its code. */
export const ACCEPT: FormSpec = {
  title: "Accept an invite",
  action: "Accept",
  description: "Its role is bound to you.",
  fields: [{ name: "code", label: "Code" }],
  send: ({ code = "" }) => call(acceptGroupInvite, { code: code.trim() }),
};

/** What became of an invite's mail, in words; undefined where none was asked for. */
function mailWords({ mailTo, mailState, mailReason }: GroupInvite): string | undefined {
  if (mailTo === "") return undefined;
  const why = mailReason === "" ? "" : `: ${mailReason}`;
  if (mailState === "MAIL_STATE_SENT") return "mail sent";
  return mailState === "MAIL_STATE_FAILED" ? `mail not sent${why}` : `mail is waiting to be sent${why}`;
}

/** What the form says about an invite's way: by mail only where the server sends any. */
const MAILED = "mail";

/** Invites; `onMade` is given the new one, with its code. `sendsMail`: whether the server can mail them. */
export function invitesWith(onMade: (invite: GroupInvite) => void, sendsMail: boolean): ResourceSpec<GroupInvite> {
  return {
    title: "Invites",
    noun: "invite",
    intro: "A link that grants a role on a group. It is shown once, or sent by email.",
    columns: [
      { id: "role", header: "Role", cell: ({ role }) => role?.name },
      { id: "group", header: "On group", cell: ({ uid }) => <Place uid={parentOf(uid)} />, isMinor: true },
      {
        id: "email",
        header: "For",
        cell: (invite) => (
          <>
            {invite.mailTo || invite.email || "anyone with the link"}
            {invite.mailTo !== "" && <div>{mailWords(invite)}</div>}
          </>
        ),
      },
      {
        id: "uses",
        header: "Uses",
        cell: ({ singleUse }) => (singleUse ? "one person" : "several"),
        isMinor: true,
      },
      { id: "key", header: "Key id", cell: ({ keyId }) => <code>{keyId}</code>, isMinor: true },
      { id: "ends", header: "Expires", cell: ({ expirationTime }) => <Time value={expirationTime} /> },
    ],
    uidOf: ({ uid }) => uid,
    nameOf: ({ keyId }) => keyId,
    create: {
      capability: "CAP_IAM_GROUP_INVITES_CREATE",
      done: (made) => onMade(made as GroupInvite),
      form: (parent) => ({
        title: "New invite",
        action: "Create invite link",
        description:
          "You can grant only what you hold there yourself. Whoever opens the link and signs in becomes a member.",
        fields: [
          { name: "roleUid", label: "Role", render: (field) => <RoleCards {...field} /> },
          {
            name: "way",
            label: "How they get the link",
            kind: "options",
            initial: sendsMail ? MAILED : "",
            options: [
              [MAILED, "The server emails it"],
              ["", "I send it myself"],
            ],
            when: () => sendsMail,
          },
          {
            name: "mailTo",
            label: "Email address",
            help: "Only the email has the link, and it works for one person.",
            when: ({ way }) => way === MAILED,
          },
          {
            name: "email",
            label: "Who can use the link",
            help: "With an email address, only the person who signs in with it through an identity provider. Leave empty for anyone with the link.",
            when: ({ way }) => way !== MAILED,
          },
          {
            name: "ttl",
            label: "Expires in",
            kind: "segments",
            initial: "7",
            options: SHORT,
            when: ({ way }) => way === MAILED,
          },
          {
            name: "ttl",
            label: "Expires in",
            kind: "segments",
            initial: "7",
            options: [...SHORT, ["30", "30 days"]],
            when: ({ way }) => way !== MAILED,
          },
          {
            name: "singleUse",
            label: "For one person",
            kind: "check",
            initial: "true",
            when: ({ way }) => way !== MAILED,
          },
        ],
        send: ({ roleUid = "", email = "", mailTo = "", way, ttl, singleUse }) => {
          const days = way === MAILED ? Math.min(Number(ttl), MAX_MAILED_DAYS) : Number(ttl);
          const how = way === MAILED ? requireAddress(mailTo) : { email, singleUse: singleUse === "true" };
          return call(createGroupInvite, { parent, groupInvite: { roleUid, ttl: `${days * DAY_S}s`, ...how } });
        },
      }),
    },
    remove: {
      capability: "CAP_IAM_GROUP_INVITES_DELETE",
      verb: "Revoke",
      send: (uid) => call(deleteGroupInvite, { uid }),
      effect: "The link no longer works. People who accepted it keep the role.",
    },
    empty: {
      title: "No invites here",
      text: "Invite people with a link: choose a group, then “New invite”.",
      command: 'curl "$URL/iam/v2/groupInvites" -H "Authorization: Bearer $TOKEN"',
    },
  };
}
