// Written by `npm run generate` out of proto/: change it there.
import type { MethodSpec } from "../../resources/spec.ts";

/** The methods of SessionsService. */
export const METHODS: readonly MethodSpec[] = [
  {
    method: "moorage.iam.v2.SessionsService/ListSessions",
    verb: "list",
    kind: "list",
    http: "GET",
    path: "/iam/v2/sessions",
    reads: true,
    summary: "show the sessions of one identity that have not ended",
    help: "Show the sessions of one identity that have not ended. Callers that see the identity's group and may not list them get PERMISSION_DENIED.",
    arguments: [],
    flags: [
      {
        name: "identity",
        type: "string",
        help: "The identity; the caller's own when empty.",
        ref: "identity",
      },
    ],
    paged: "token",
    response: [
      {
        name: "uid",
        type: "string",
        output: true,
        help: "Identifies the session.",
      },
      {
        name: "identity",
        type: "string",
        output: true,
        help: "The identity that is signed in.",
      },
      {
        name: "kind",
        type: "enum",
        output: true,
        help: "What is signed in.",
        values: ["SESSION_KIND_BROWSER", "SESSION_KIND_PROGRAM"],
        prefix: "SESSION_KIND_",
      },
      {
        name: "provider",
        type: "string",
        output: true,
        help: "The identity provider of a person; empty for other identities.",
      },
      {
        name: "createTime",
        type: "timestamp",
        output: true,
        help: "When it began; absent for a program that was signed in before this was recorded.",
      },
      {
        name: "seenTime",
        type: "timestamp",
        output: true,
        help: "When it was last used, to the minute; for a program, when it last got tokens.",
      },
      {
        name: "expireTime",
        type: "timestamp",
        output: true,
        help: "When it ends at the latest.",
      },
      {
        name: "current",
        type: "bool",
        output: true,
        help: "Whether it is the browser session that the caller's token comes from.",
      },
      {
        name: "userAgent",
        type: "string",
        output: true,
        help: "What the browser said that it is when it was signed in; empty for a program.",
      },
      {
        name: "network",
        type: "string",
        output: true,
        help: "The IPv4 address, or the /64 of the IPv6 address, from which the browser was signed in; empty for a program.",
      },
    ],
    items: "sessions",
    aliases: ["ls"],
  },
  {
    method: "moorage.iam.v2.SessionsService/DeleteSession",
    verb: "delete",
    kind: "delete",
    http: "DELETE",
    path: "/iam/v2/sessions/{uid=**}",
    reads: false,
    summary: "end the session immediately",
    help: "End the session immediately. A browser's cookie and access tokens are accepted no more; a program gets no new access tokens, and its last one ends by itself within an hour.",
    arguments: [
      {
        form: "ref",
        name: "uid",
        fields: ["uid"],
        required: true,
      },
    ],
    flags: [],
    dryRun: true,
    response: [],
    aliases: ["rm"],
  },
];
