// Written by `npm run generate` out of proto/: change it there.
import type { MethodSpec } from "../../resources/spec.ts";

/** The methods of BlocksService. */
export const METHODS: readonly MethodSpec[] = [
  {
    method: "moorage.libraries.v2.BlocksService/ListBlocks",
    verb: "list",
    kind: "list",
    http: "GET",
    path: "/libraries/v2/blocks",
    reads: true,
    summary: "show what was blocked, or in PREVIEW would have been, where you may list it, the latest first",
    help: "Show what was blocked, or in PREVIEW would have been, where you may list it, the latest first. Entries are removed with those of the audit log, and the oldest ones when an organization has more than 50,000.",
    arguments: [],
    flags: [
      {
        name: "ecosystem",
        type: "enum",
        help: "Only of this ecosystem.",
        values: ["ECOSYSTEM_JAVA", "ECOSYSTEM_PYTHON", "ECOSYSTEM_JAVASCRIPT"],
        prefix: "ECOSYSTEM_",
      },
      {
        name: "name",
        type: "string",
        help: "Only of the library with this name.",
      },
      {
        name: "identity",
        type: "string",
        help: "Only what this identity asked for.",
      },
      {
        name: "reason",
        type: "enum",
        help: "Only for this reason.",
        values: ["COOLDOWN", "MALWARE", "PURL", "LICENSE"],
        prefix: "BLOCK_REASON_",
      },
      {
        name: "mode",
        type: "enum",
        help: "Only in this mode.",
        values: ["PREVIEW", "ENFORCE"],
        prefix: "POLICY_MODE_",
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
        name: "ecosystem",
        type: "enum",
        output: true,
        help: "Where the library comes from.",
        values: ["ECOSYSTEM_JAVA", "ECOSYSTEM_PYTHON", "ECOSYSTEM_JAVASCRIPT"],
        prefix: "ECOSYSTEM_",
      },
      {
        name: "name",
        type: "string",
        output: true,
        help: "What the library is called: @acme/ui, or org.example:app.",
      },
      {
        name: "version",
        type: "string",
        output: true,
        help: "The version: that of the URL, or of metadata that would be the latest.",
      },
      {
        name: "identity",
        type: "string",
        output: true,
        help: "Who asked for it.",
      },
      {
        name: "reason",
        type: "enum",
        output: true,
        help: "Why it is blocked.",
        values: ["COOLDOWN", "MALWARE", "PURL", "LICENSE"],
        prefix: "BLOCK_REASON_",
      },
      {
        name: "detail",
        type: "string",
        output: true,
        help: "The id of the record, the package URL of the policy, the license; of a cooldown, when the version was published.",
      },
      {
        name: "mode",
        type: "enum",
        output: true,
        help: "ENFORCE when it was blocked, PREVIEW when it would have been.",
        values: ["PREVIEW", "ENFORCE"],
        prefix: "POLICY_MODE_",
      },
      {
        name: "count",
        type: "int32",
        output: true,
        help: "How often it was asked for.",
      },
      {
        name: "firstTime",
        type: "timestamp",
        output: true,
        help: "When it was first asked for.",
      },
      {
        name: "lastTime",
        type: "timestamp",
        output: true,
        help: "When it was last asked for.",
      },
      {
        name: "openTime",
        type: "timestamp",
        output: true,
        help: "When the version opens by itself, as it was known then; absent: it does not.",
      },
    ],
    items: "blocks",
    aliases: ["ls"],
  },
];
