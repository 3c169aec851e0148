// Written by `npm run generate` out of proto/: change it there.
import type { MethodSpec } from "../../resources/spec.ts";

/** The methods of ExposuresService. */
export const METHODS: readonly MethodSpec[] = [
  {
    method: "moorage.vulnerabilities.v2.ExposuresService/ListExposures",
    verb: "list",
    kind: "list",
    http: "GET",
    path: "/vulnerabilities/v2/exposures",
    reads: true,
    summary: "show who pulled images in which a vulnerability is open, since it was known to be",
    help: "Show who pulled images in which a vulnerability is open, since it was known to be: a row for each image and each identity that pulled it, in the order of digests and repos. Images that no tag points to any longer are in it while they are here. Who pulled an image before the vulnerability was known, or before pulls were counted, and runs it since, is not in it: the coverage says since when there are statistics.",
    arguments: [
      {
        form: "text",
        name: "vulnerability",
        fields: ["vulnerability"],
        required: true,
      },
    ],
    flags: [
      {
        name: "since",
        type: "timestamp",
        help: "Only pulls since this time.",
      },
    ],
    uidp: true,
    paged: "token",
    response: [
      {
        name: "identity",
        type: "string",
        help: "Who pulled; empty for pulls without a log-in.",
      },
      {
        name: "repoUid",
        type: "string",
        help: "The repo.",
        ref: "repo",
      },
      {
        name: "image",
        type: "string",
        help: "The path of the image, as `acme/team/app`.",
      },
      {
        name: "digest",
        type: "string",
        help: "The image in which the vulnerability is open.",
      },
      {
        name: "firstPullTime",
        type: "timestamp",
        help: "The first pull since then, exact to a day where it is older.",
      },
      {
        name: "lastPullTime",
        type: "timestamp",
        help: "The last pull.",
      },
      {
        name: "pulls",
        type: "int64",
        help: "How many pulls there were.",
      },
      {
        name: "openTime",
        type: "timestamp",
        help: "Since when the vulnerability is open in the image.",
      },
      {
        name: "package",
        type: "string",
        help: "The package in which it is.",
      },
      {
        name: "version",
        type: "string",
        help: "That version.",
      },
      {
        name: "fix",
        type: "string",
        help: "The first version in which it is fixed; empty when none is known.",
      },
    ],
    items: "exposures",
    aliases: ["ls"],
  },
];
