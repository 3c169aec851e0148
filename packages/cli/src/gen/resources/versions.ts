// Written by `npm run generate` out of proto/: change it there.
import type { MethodSpec } from "../../resources/spec.ts";

/** The methods of VersionsService. */
export const METHODS: readonly MethodSpec[] = [
  {
    method: "moorage.registry.v2.VersionsService/GetPackageVersionMetadata",
    verb: "get",
    kind: "get",
    http: "GET",
    path: "/registry/v2/versions/{package=**}",
    reads: true,
    summary: "show the release cycles of a product",
    help: "Show the release cycles of a product. NOT_FOUND when no feed has it.",
    arguments: [
      {
        form: "text",
        name: "package",
        fields: ["package"],
        required: true,
      },
    ],
    flags: [],
    response: [
      {
        name: "product",
        type: "string",
        help: "The product's id.",
      },
      {
        name: "versions",
        type: "message",
        repeated: true,
        help: "The cycles that are not past their end of life, the newest first.",
      },
      {
        name: "eolVersions",
        type: "message",
        repeated: true,
        help: "Those that are, the newest first.",
      },
      {
        name: "latestVersion",
        type: "string",
        help: "The latest version of the newest cycle.",
      },
      {
        name: "gracePeriodMonths",
        type: "int32",
        help: "How many months grace lasts after an end of life.",
      },
      {
        name: "updateTime",
        type: "timestamp",
        help: "When the feed was last read without an error.",
      },
      {
        name: "feed",
        type: "message",
        help: "The feed, and its license.",
      },
      {
        name: "staleFeeds",
        type: "message",
        repeated: true,
        help: "The feed again, when it is older than its own interval.",
      },
    ],
    items: "packageVersionMetadatas",
  },
];
