// Written by `npm run generate` out of proto/: change it there.
import type { MethodSpec } from "../../resources/spec.ts";

/** The methods of FindingsService. */
export const METHODS: readonly MethodSpec[] = [
  {
    method: "moorage.vulnerabilities.v2.FindingsService/ListFindings",
    verb: "list",
    kind: "list",
    http: "GET",
    path: "/vulnerabilities/v2/findings",
    reads: true,
    summary: "show findings of images that tags point to, directly or through an index, or of one image by its digest",
    help: "Show findings of images that tags point to, directly or through an index, or of one image by its digest. NOT_FOUND for a repo, tag or image that is not there or that you may not see. They are not counted: the list has no total.",
    arguments: [],
    flags: [
      {
        name: "repo",
        type: "string",
        help: 'Only this repo: its uid, or the path of the image, as "acme/app".',
        ref: "repo",
      },
      {
        name: "tag",
        type: "string",
        help: "Only the image that this tag of the repo points to.",
      },
      {
        name: "digest",
        type: "string",
        help: "Only this image, whether a tag points to it or not; of an index its images.",
      },
      {
        name: "vulnerabilities",
        type: "string",
        repeated: true,
        help: "Only these vulnerabilities, by their id or any of their aliases, in upper or lower case.",
      },
      {
        name: "packages",
        type: "string",
        repeated: true,
        help: "Only these packages, by their name or that of their source package, or by their package URL.",
      },
      {
        name: "minSeverity",
        type: "enum",
        help: "Only what is at least as bad.",
        values: ["UNKNOWN", "NONE", "NEGLIGIBLE", "LOW", "MEDIUM", "HIGH", "CRITICAL"],
        prefix: "FINDING_SEVERITY_",
      },
      {
        name: "kev",
        type: "bool",
        help: "Only what is known to be exploited, or with false, what is not.",
      },
      {
        name: "fixable",
        type: "bool",
        help: "Only what has a version that fixes it, or with false, what has none.",
      },
      {
        name: "state",
        type: "enum",
        help: "Unspecified: open.",
        values: ["OPEN", "CLOSED"],
        prefix: "FINDING_STATE_",
      },
      {
        name: "asOf",
        type: "timestamp",
        help: "As of this time: the tags and findings of then.",
      },
    ],
    uidp: true,
    paged: "token",
    response: [
      {
        name: "vulnerability",
        type: "string",
        help: "The id of the vulnerability: the CVE if there is one.",
      },
      {
        name: "aliases",
        type: "string",
        repeated: true,
        help: "Its other ids.",
      },
      {
        name: "repo",
        type: "string",
        help: "The uid of the repo.",
      },
      {
        name: "digest",
        type: "string",
        help: "The image.",
      },
      {
        name: "tags",
        type: "string",
        repeated: true,
        help: "The tags that point to the image, directly or through an index: those that moved last first, at most 50.",
      },
      {
        name: "package",
        type: "message",
        help: "The package.",
      },
      {
        name: "locations",
        type: "message",
        repeated: true,
        help: "Where the package lies in the image.",
      },
      {
        name: "severity",
        type: "enum",
        help: "How bad it is.",
        values: ["UNKNOWN", "NONE", "NEGLIGIBLE", "LOW", "MEDIUM", "HIGH", "CRITICAL"],
        prefix: "FINDING_SEVERITY_",
      },
      {
        name: "score",
        type: "double",
        help: "The score of CVSS, 0.0 to 10.0.",
      },
      {
        name: "kev",
        type: "bool",
        help: "It is known to be exploited.",
      },
      {
        name: "epss",
        type: "double",
        help: "The probability that it is exploited within 30 days, by EPSS, 0 to 1.",
      },
      {
        name: "epssPercentile",
        type: "double",
        help: "The share of vulnerabilities with an EPSS that is not higher, 0 to 1.",
      },
      {
        name: "fixState",
        type: "enum",
        help: "What is known of a fix.",
        values: ["FIXED", "NOT_FIXED", "WONT_FIX"],
        prefix: "FIX_STATE_",
      },
      {
        name: "fixVersions",
        type: "string",
        repeated: true,
        help: "The versions of the package that fix it, in their order.",
      },
      {
        name: "records",
        type: "message",
        repeated: true,
        help: "The records that say so.",
      },
      {
        name: "state",
        type: "enum",
        help: "Whether it holds.",
        values: ["OPEN", "CLOSED"],
        prefix: "FINDING_STATE_",
      },
      {
        name: "openTime",
        type: "timestamp",
        help: "Since when it has held without a break, whichever images held the package then.",
      },
      {
        name: "closeTime",
        type: "timestamp",
        help: "Since when it has not held any more.",
      },
      {
        name: "closeReason",
        type: "string",
        help: 'Why it does not hold any more: "CHANGED", "WITHDRAWN" or "REMOVED", each of its record; "VEX_NOT_AFFECTED" or "VEX_FIXED", by a statement that is attached to the image or of a feed; "ADVISORY_FIXED", "ADVISORY_PATCHED" or "ADVISORY_FALSE_POSITIVE", by an advisory.',
      },
      {
        name: "statement",
        type: "message",
        help: "The statement that closed it.",
      },
      {
        name: "decision",
        type: "message",
        help: "What an advisory says of it: it closed the finding, or says what becomes of it while it is open.",
      },
      {
        name: "claims",
        type: "message",
        repeated: true,
        help: "What documents say that were attached by somebody who may not write advisories of the repo's group: it decides nothing.",
      },
      {
        name: "sources",
        type: "string",
        repeated: true,
        help: 'Who says that the image holds the package: "layers", the source of an attachment, or "scan/" and the uid of a scan.',
      },
      {
        name: "contradictions",
        type: "message",
        repeated: true,
        help: "Who names the package in other versions, and not in this one: an attached SBOM that contradicts what was read from the layers, or the other way round.",
      },
      {
        name: "remediations",
        type: "message",
        repeated: true,
        help: "What can be done about it, by the VEX document that counts, whether that closes the finding or leaves it open.",
      },
      {
        name: "tagsTotal",
        type: "int32",
        help: "How many tags point to the image.",
      },
      {
        name: "platform",
        type: "string",
        help: 'The platform for which the image is, as an index of the repo names it, such as "linux/amd64".',
      },
    ],
    items: "findings",
    aliases: ["ls"],
  },
];
