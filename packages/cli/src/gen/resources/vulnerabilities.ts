// Written by `npm run generate` out of proto/: change it there.
import type { MethodSpec } from "../../resources/spec.ts";

/** The methods of SecurityAdvisoryService. */
export const METHODS: readonly MethodSpec[] = [
  {
    method: "moorage.advisory.v2.SecurityAdvisoryService/ListDocuments",
    verb: "list",
    kind: "list",
    http: "GET",
    path: "/advisory/v2/documents",
    reads: true,
    summary: "show what is known about packages, a document for each",
    help: "Show what is known about packages, a document for each.",
    arguments: [],
    flags: [
      {
        name: "id",
        type: "string",
        help: "The document of exactly this package.",
      },
      {
        name: "cves",
        type: "string",
        repeated: true,
        help: "Only what is known about one of these vulnerabilities, under any of their ids.",
      },
    ],
    uidp: true,
    paged: "token",
    response: [
      {
        name: "id",
        type: "string",
        help: "The package: of a distribution the source package, of a language's registry the name there.",
      },
      {
        name: "advisories",
        type: "message",
        repeated: true,
        help: "What is known, by id.",
      },
      {
        name: "incomplete",
        type: "bool",
        help: "The package has more advisories than a document holds.",
      },
    ],
    items: "documents",
    aliases: ["ls"],
  },
  {
    method: "moorage.advisory.v2.SecurityAdvisoryService/ListResolvedVulnsReports",
    verb: "list-resolved",
    kind: "list",
    http: "GET",
    path: "/advisory/v2/images/resolvedVulns",
    reads: true,
    summary: "show which vulnerabilities were resolved in images, a report for each day in UTC",
    help: "Show which vulnerabilities were resolved in images, a report for each day in UTC: those that a newer version of a package ended, and those of which an advisory says that they were none. Days on which it is not known what the images held are left out; days without a change are not. What VEX documents say is in no report, though it closes findings. The caller needs the capabilities on each repo. NOT_FOUND for a repo that you may not see, and for a tag that never was.",
    arguments: [],
    flags: [
      {
        name: "imageRefs",
        type: "message",
        repeated: true,
        help: "The images, with at most 100 tags in all.",
        fields: [
          {
            name: "repo",
            type: "string",
            help: 'The repo: its uid, or the path of the image, as "acme/app".',
          },
          {
            name: "tags",
            type: "string",
            repeated: true,
            help: "The tags; `latest` without any.",
          },
        ],
      },
      {
        name: "startTime",
        type: "timestamp",
        help: "The first day is that of this time; without it the reports are those of 30 days.",
      },
      {
        name: "endTime",
        type: "timestamp",
        help: "The last day is that of this time; today without it.",
      },
    ],
    uidp: true,
    paged: "token",
    response: [
      {
        name: "date",
        type: "timestamp",
        help: "The beginning of the day, in UTC.",
      },
      {
        name: "resolvedVulns",
        type: "message",
        repeated: true,
        help: "The vulnerabilities, in the order of their ids.",
      },
      {
        name: "state",
        type: "string",
        help: "What is known of the images of the day, as it is now, the least of them: NOT_READ when it is not known what all of one holds, NO_DATA when no feed covers some of its packages, or READ.",
      },
      {
        name: "stateReason",
        type: "string",
        help: "Why the vulnerabilities of images are not known.",
      },
      {
        name: "staleFeeds",
        type: "message",
        repeated: true,
        help: "The feeds that it rests on and that were older than their own interval when the day ended, by when they were last read.",
      },
    ],
    items: "resolvedVulnsReports",
    aliases: ["resolved"],
  },
  {
    method: "moorage.advisory.v2.SecurityAdvisoryService/ListVulnerabilityMetadata",
    verb: "list-metadata",
    kind: "list",
    http: "GET",
    path: "/advisory/v2/metadata",
    reads: true,
    summary: "show what is known about vulnerabilities, under each of their ids",
    help: "Show what is known about vulnerabilities, under each of their ids.",
    arguments: [],
    flags: [
      {
        name: "id",
        type: "string",
        help: "Only this vulnerability, in upper or lower case.",
      },
      {
        name: "ids",
        type: "string",
        repeated: true,
        help: "Only these vulnerabilities, in upper or lower case.",
      },
    ],
    uidp: true,
    paged: "token",
    response: [
      {
        name: "id",
        type: "string",
        help: "One of the ids of the vulnerability.",
      },
      {
        name: "summary",
        type: "string",
        help: "What it is, in one line.",
      },
      {
        name: "details",
        type: "string",
        help: "What it is, as Markdown.",
      },
      {
        name: "references",
        type: "message",
        repeated: true,
        help: "Pages about it.",
      },
      {
        name: "severities",
        type: "message",
        repeated: true,
        help: "How severe it is, as each source says.",
      },
      {
        name: "aliases",
        type: "string",
        repeated: true,
        help: "Its other ids, as the sources say.",
      },
      {
        name: "severity",
        type: "string",
        help: "The worst severity among those of the sources: UNKNOWN, NONE, NEGLIGIBLE, LOW, MEDIUM, HIGH or CRITICAL.",
      },
      {
        name: "cvssScore",
        type: "double",
        help: "The CVSS score that the severity comes from, 0 to 10.",
      },
      {
        name: "knownExploited",
        type: "message",
        help: "Set when it is known to be exploited.",
      },
      {
        name: "epss",
        type: "message",
        help: "How probable it is that it will be exploited.",
      },
      {
        name: "withdrawTime",
        type: "timestamp",
        help: "Set when every source has withdrawn it: since when it does not hold any more.",
      },
      {
        name: "sources",
        type: "message",
        repeated: true,
        help: "The sources.",
      },
    ],
    items: "vulnerabilityMetadata",
    aliases: ["metadata"],
  },
];
