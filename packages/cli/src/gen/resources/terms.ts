// Written by `npm run generate` out of proto/: change it there.
import type { MethodSpec } from "../../resources/spec.ts";

/** The methods of TermsService. */
export const METHODS: readonly MethodSpec[] = [
  {
    method: "moorage.iam.v2.TermsService/AcceptTerms",
    verb: "accept",
    kind: "call",
    http: "POST",
    path: "/iam/v2/terms/{group=**}",
    body: "*",
    reads: false,
    summary: "accept documents for a group and everything below it",
    help: "Accept documents for a group and everything below it. What is accepted already stays as it is.",
    arguments: [
      {
        form: "ref",
        name: "group",
        kind: "group",
        fields: ["group"],
        required: true,
      },
    ],
    flags: [
      {
        name: "documentIds",
        type: "string",
        repeated: true,
        required: true,
        help: "The documents.",
      },
    ],
    dryRun: true,
    response: [
      {
        name: "group",
        type: "string",
        help: "The group.",
      },
      {
        name: "documentIds",
        type: "string",
        repeated: true,
        help: "The documents that were named.",
      },
    ],
    items: "acceptTermsResponses",
  },
  {
    method: "moorage.iam.v2.TermsService/ListTermsAcceptances",
    verb: "list",
    kind: "list",
    http: "GET",
    path: "/iam/v2/terms/{group=**}",
    reads: true,
    summary: "show what was accepted for the group and its ancestors",
    help: "Show what was accepted for the group and its ancestors. Callers that see the group and may not list them get PERMISSION_DENIED.",
    arguments: [
      {
        form: "ref",
        name: "group",
        kind: "group",
        fields: ["group"],
        required: true,
      },
    ],
    flags: [],
    paged: "token",
    response: [
      {
        name: "docId",
        type: "string",
        output: true,
        help: "The document.",
      },
      {
        name: "acceptedBy",
        type: "string",
        output: true,
        help: "The identity that accepted it.",
      },
      {
        name: "orgUid",
        type: "string",
        output: true,
        help: "The group it was accepted for.",
      },
      {
        name: "createTime",
        type: "timestamp",
        output: true,
        help: "When.",
      },
    ],
    items: "termsAcceptances",
    aliases: ["ls"],
  },
];
