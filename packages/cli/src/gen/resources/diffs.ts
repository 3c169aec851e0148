// Written by `npm run generate` out of proto/: change it there.
import type { MethodSpec } from "../../resources/spec.ts";

/** The methods of DiffsService. */
export const METHODS: readonly MethodSpec[] = [
  {
    method: "moorage.registry.v2.DiffsService/GetDiff",
    verb: "get",
    kind: "get",
    http: "GET",
    path: "/registry/v2/repos/{repoUid=**}/diff",
    reads: true,
    summary: "compare two images of a repo, or two points of a tag's history",
    help: "Compare two images of a repo, or two points of a tag's history: packages, vulnerabilities, configuration, labels, layers and size, for each platform. NOT_FOUND when a tag is not there, or was not then, and for a digest that the repo does not hold.",
    arguments: [
      {
        form: "ref",
        name: "repo",
        kind: "repo",
        fields: ["repoUid"],
        required: true,
      },
    ],
    flags: [
      {
        name: "from",
        type: "string",
        required: true,
        help: "What is compared: a tag, a digest, or `tag@time`, the digest that the tag had at that time by its history.",
      },
      {
        name: "to",
        type: "string",
        required: true,
        help: "What it is compared with, in the same forms.",
      },
      {
        name: "format",
        type: "enum",
        help: "With MARKDOWN the answer has `markdown` in place of platforms, packages and vulnerabilities.",
        values: ["MARKDOWN"],
        prefix: "DIFF_FORMAT_",
      },
      {
        name: "asOf",
        type: "timestamp",
        help: "Vulnerabilities of both sides are those that were known at this time.",
      },
    ],
    paged: "token",
    response: [
      {
        name: "from",
        type: "message",
        help: "What was compared.",
      },
      {
        name: "to",
        type: "message",
        help: "What it was compared with.",
      },
      {
        name: "platforms",
        type: "message",
        repeated: true,
        help: "One for each platform that either side has, in the order of their names.",
      },
      {
        name: "packages",
        type: "message",
        repeated: true,
        help: "The packages that differ, in the order of their purls.",
      },
      {
        name: "packagesComplete",
        type: "bool",
        help: "Whether the packages of all platforms were compared.",
      },
      {
        name: "addedPackages",
        type: "int32",
        help: "How many packages were added, over all pages.",
      },
      {
        name: "removedPackages",
        type: "int32",
        help: "How many were removed, over all pages.",
      },
      {
        name: "changedPackages",
        type: "int32",
        help: "How many have other versions, over all pages.",
      },
      {
        name: "truncated",
        type: "bool",
        help: "Whether differences of configuration, labels, annotations and layers were left out: 2,000 are answered.",
      },
      {
        name: "nextPageToken",
        type: "string",
        help: "Where the next page of packages and vulnerabilities begins; empty on the last.",
      },
      {
        name: "markdown",
        type: "string",
        help: "The same as Markdown, when the request asks for it, with at most 1,000 packages and 1,000 vulnerabilities.",
      },
      {
        name: "annotations",
        type: "message",
        repeated: true,
        help: "Annotations of the manifests or indexes that are compared.",
      },
      {
        name: "vulnerabilities",
        type: "message",
        repeated: true,
        help: "The vulnerabilities that differ, the worst first.",
      },
      {
        name: "vulnerabilitiesComplete",
        type: "bool",
        help: "Whether the vulnerabilities of all platforms were compared.",
      },
      {
        name: "addedVulnerabilities",
        type: "int32",
        help: "How many vulnerabilities were added, over all pages.",
      },
      {
        name: "removedVulnerabilities",
        type: "int32",
        help: "How many were removed, over all pages.",
      },
      {
        name: "changedVulnerabilities",
        type: "int32",
        help: "How many have another state, over all pages.",
      },
      {
        name: "staleFeeds",
        type: "message",
        repeated: true,
        help: "The feeds that the vulnerabilities rest on and that are older than their own interval.",
      },
    ],
    items: "diffs",
  },
];
