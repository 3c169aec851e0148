// Written by `npm run generate` out of proto/: change it there.
import type { MethodSpec } from "../../resources/spec.ts";

/** The methods of AuditEntriesService. */
export const METHODS: readonly MethodSpec[] = [
  {
    method: "moorage.iam.v2.AuditEntriesService/ListAuditEntries",
    verb: "list",
    kind: "list",
    http: "GET",
    path: "/iam/v2/auditEntries",
    reads: true,
    summary: "show the entries of the resources below the groups whose log you may read, newest first",
    help: "Show the entries of the resources below the groups whose log you may read, newest first. A list about one resource, by uidp or resource, is PERMISSION_DENIED to callers that see its group and may not read its log.",
    arguments: [],
    flags: [
      {
        name: "identity",
        type: "string",
        help: "Only what this identity did.",
        ref: "identity",
      },
      {
        name: "method",
        type: "string",
        help: "Only this method.",
      },
      {
        name: "decision",
        type: "enum",
        help: "Only what was allowed, or denied.",
        values: ["AUDIT_DECISION_ALLOWED", "AUDIT_DECISION_DENIED"],
        prefix: "AUDIT_DECISION_",
      },
      {
        name: "resource",
        type: "string",
        help: "Only what was done to this resource itself.",
      },
      {
        name: "since",
        type: "timestamp",
        help: "Only from this time on.",
      },
      {
        name: "until",
        type: "timestamp",
        help: "Only before this time.",
      },
    ],
    uidp: true,
    paged: "token",
    response: [
      {
        name: "uid",
        type: "string",
        output: true,
        help: "Identifies the entry.",
      },
      {
        name: "createTime",
        type: "timestamp",
        output: true,
        help: "When.",
      },
      {
        name: "identity",
        type: "string",
        output: true,
        help: "The identity that did it; empty when nobody was authenticated, and for the server itself.",
      },
      {
        name: "tokenId",
        type: "string",
        output: true,
        help: "The id (jti) of the token of this installation that was shown.",
      },
      {
        name: "act",
        type: "map",
        output: true,
        help: "Issuer and subject of the external token that the identity was assumed by, under iss and sub.",
        valueType: "string",
      },
      {
        name: "method",
        type: "string",
        output: true,
        help: "The method's full name, or what else was done, such as registry.manifest.put.",
      },
      {
        name: "resource",
        type: "string",
        output: true,
        help: "The resource, which may be gone; empty when there is none, or it is not known.",
      },
      {
        name: "decision",
        type: "enum",
        output: true,
        help: "Whether it was done.",
        values: ["AUDIT_DECISION_ALLOWED", "AUDIT_DECISION_DENIED"],
        prefix: "AUDIT_DECISION_",
      },
      {
        name: "code",
        type: "int32",
        output: true,
        help: "The code it was answered with, as google.rpc.Code numbers them.",
      },
      {
        name: "reason",
        type: "string",
        output: true,
        help: "Why it was refused; empty when it was done.",
      },
      {
        name: "details",
        type: "map",
        output: true,
        help: "What else is worth knowing, such as name, tag, digest, or the id of a token that was issued.",
        valueType: "string",
      },
      {
        name: "requestId",
        type: "string",
        output: true,
        help: "The request, as its answer's x-request-id and the server's log have it.",
      },
      {
        name: "remoteAddress",
        type: "string",
        output: true,
        help: "Where the request came from.",
      },
      {
        name: "userAgent",
        type: "string",
        output: true,
        help: "What the client calls itself, 256 characters of it.",
      },
    ],
    items: "auditEntries",
    aliases: ["ls"],
  },
];
