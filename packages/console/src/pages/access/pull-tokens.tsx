import { Link } from "@tanstack/react-router";
import { call } from "../../api/call.ts";
import { deleteIdentity, type Identity } from "../../api/gen/iam.ts";
import { Time } from "../../ui/time.tsx";
import { assumedBy, seenTime } from "./identity-words.ts";
import { type MadePassword, makeToken, PULL_TOKEN, PUSH_TOKEN } from "./make-password.ts";
import { Place } from "./parts/place.tsx";
import type { ResourceSpec } from "./parts/resource.ts";
import { parentOf } from "./parts/tree.ts";

/** Whether the identity is a password made here or by `moorage pull-token` and `push-token`. */
export function isPassword({ staticKeys }: Identity): boolean {
  return staticKeys?.issuer === PULL_TOKEN.issuer || staticKeys?.issuer === PUSH_TOKEN.issuer;
}

/** Passwords of machines; `onMade` is given the new one. */
export function passwordsWith(registry: string, onMade: (made: MadePassword) => void): ResourceSpec<Identity> {
  return {
    title: "Pull tokens",
    noun: "pull token",
    intro:
      "A user name and password for a machine that pulls from one group and everything below it. A CI job does not need one: it logs in with the token that its CI system signs.",
    columns: [
      {
        id: "name",
        header: "Name",
        orderBy: "name",
        cell: ({ uid, name }) => (
          <Link to="/access/identity" search={{ uid }}>
            {name}
          </Link>
        ),
      },
      {
        id: "kind",
        header: "Kind",
        // The description names the repository of one that is for one image alone.
        cell: (identity) => identity.description || assumedBy(identity),
        isMinor: true,
      },
      { id: "group", header: "Group", cell: ({ uid }) => <Place uid={parentOf(uid)} />, isMinor: true },
      { id: "end", header: "Ends", cell: ({ staticKeys }) => <Time value={staticKeys?.expirationTime} /> },
      { id: "seen", header: "Last seen", cell: (identity) => <Time value={seenTime(identity)} /> },
    ],
    uidOf: ({ uid }) => uid,
    nameOf: ({ name }) => name,
    create: {
      capability: "CAP_IAM_IDENTITY_CREATE",
      done: (made) => onMade(made as MadePassword),
      form: (group) => ({
        title: "New pull token",
        action: "Create",
        description: "Its password is shown only once.",
        fields: [
          { name: "name", label: "Name", help: "What it is for, such as cluster-1" },
          {
            name: "kind",
            label: "Permissions",
            kind: "options",
            options: [
              ["pull", "pull"],
              ["push", "pull and push: anyone who reads it can push"],
            ],
            initial: "pull",
          },
          {
            name: "days",
            label: "Expires in",
            kind: "options",
            options: [
              ["7", "a week"],
              ["30", "30 days"],
              ["90", "90 days"],
              ["365", "a year (pull only)"],
            ],
            initial: "30",
          },
        ],
        send: async ({ name = "", kind, days }) => {
          const wanted = kind === "push" ? PUSH_TOKEN : PULL_TOKEN;
          if (Number(days) > wanted.maxDays)
            throw new Error(`A ${wanted.noun} can last at most ${wanted.maxDays} days.`);
          return await makeToken({ kind: wanted, name, group, days: Number(days), registry });
        },
      }),
    },
    remove: {
      capability: "CAP_IAM_IDENTITY_DELETE",
      verb: "Revoke",
      send: (uid) => call(deleteIdentity, { uid }),
      effect: "The password, and tokens issued for it, stop working from the next request on.",
    },
    empty: {
      title: "No pull tokens here",
      text: "Choose a group, then “New pull token”, or use the command:",
      command: "moorage pull-token create --group acme --name cluster-1 --ttl 30d",
    },
  };
}
