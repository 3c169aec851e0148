// Written by `npm run generate` out of proto/: change it there.
import type { MethodSpec } from "../../resources/spec.ts";

/** The methods of OperationsService. */
export const METHODS: readonly MethodSpec[] = [
  {
    method: "moorage.operations.v2.OperationsService/ListJobs",
    verb: "list-jobs",
    kind: "list",
    http: "GET",
    path: "/operations/v2/jobs",
    reads: true,
    summary: "show the work that the server does by itself, sorted by name",
    help: "Show the work that the server does by itself, sorted by name. There are few: they are not paged.",
    arguments: [],
    flags: [],
    response: [
      {
        name: "name",
        type: "string",
        help: 'What it is, such as "gc".',
      },
      {
        name: "holder",
        type: "string",
        help: "The process that does it, or did it last.",
      },
      {
        name: "leaseUntilTime",
        type: "timestamp",
        help: "Until when that process has the lease, unless it renews it.",
      },
      {
        name: "dueTime",
        type: "timestamp",
        help: "When it is due next.",
      },
    ],
    items: "jobs",
    aliases: ["jobs"],
  },
  {
    method: "moorage.operations.v2.OperationsService/ListFeeds",
    verb: "list-feeds",
    kind: "list",
    http: "GET",
    path: "/operations/v2/feeds",
    reads: true,
    summary: "show the feeds of security data, sorted by name",
    help: "Show the feeds of security data, sorted by name. There are few: they are not paged.",
    arguments: [],
    flags: [
      {
        name: "unmatched",
        type: "bool",
        help: "With the statements of the last import of each that were about nothing here.",
      },
    ],
    response: [
      {
        name: "name",
        type: "string",
        help: "Its name.",
      },
      {
        name: "format",
        type: "string",
        help: 'Its format, such as "osv".',
      },
      {
        name: "licence",
        type: "string",
        help: "The licence of its content.",
      },
      {
        name: "records",
        type: "int64",
        help: "How many records it has.",
      },
      {
        name: "problems",
        type: "int64",
        help: "How many of its records could not be read.",
      },
      {
        name: "successTime",
        type: "timestamp",
        help: "When it was last brought up to date; its age is the time since then.",
      },
      {
        name: "attemptTime",
        type: "timestamp",
        help: "When that was last attempted.",
      },
      {
        name: "error",
        type: "string",
        help: "Why the last attempt failed; empty when it did not.",
      },
      {
        name: "address",
        type: "string",
        help: "Where it is fetched from.",
      },
      {
        name: "interval",
        type: "duration",
        help: "How often it is fetched.",
      },
      {
        name: "dueTime",
        type: "timestamp",
        help: "When it is fetched next; in the past: as soon as the server comes to it.",
      },
      {
        name: "isOverdue",
        type: "bool",
        help: "It is older than it should be: it was last brought up to date, or added, longer ago than its interval and an hour.",
      },
      {
        name: "withdrawn",
        type: "int64",
        help: "How many of its records are withdrawn: they hold no more.",
      },
      {
        name: "coverage",
        type: "message",
        repeated: true,
        help: "What its records are about, as far as packages are matched by them, sorted by name.",
      },
      {
        name: "coverageKnown",
        type: "bool",
        help: "Whether `coverage` and `unmatched` are known: from the first import of all its records on.",
      },
      {
        name: "unmatched",
        type: "int64",
        help: "How many of its records match nothing, as a whole or in part.",
      },
      {
        name: "statements",
        type: "int64",
        help: "Of a feed of VEX documents: how many statements its last import read.",
      },
      {
        name: "statementsUnmatched",
        type: "int64",
        help: "How many of these were about nothing that was stored here then: about no package of an image, and no image.",
      },
      {
        name: "unmatchedStatements",
        type: "message",
        repeated: true,
        help: "With `unmatched` in the request: the first 200 of these.",
      },
    ],
    items: "feeds",
    aliases: ["feeds"],
  },
  {
    method: "moorage.operations.v2.OperationsService/ListFeedProblems",
    verb: "list-feed-problems",
    kind: "list",
    http: "GET",
    path: "/operations/v2/feedProblems",
    reads: true,
    summary:
      "show what the last imports of feeds could not read, and what they read and nothing can match, in the order of the feeds' names",
    help: "Show what the last imports of feeds could not read, and what they read and nothing can match, in the order of the feeds' names. Of each feed the first 1,000 of each kind are stored: its `problems` and `unmatched` count all.",
    arguments: [],
    flags: [
      {
        name: "feed",
        type: "string",
        help: "The name of the feed; of all feeds without it.",
      },
    ],
    response: [
      {
        name: "feed",
        type: "string",
        help: "The name of the feed.",
      },
      {
        name: "kind",
        type: "enum",
        help: "What became of the record.",
        values: ["KIND_UNREADABLE", "KIND_UNMATCHED"],
        prefix: "KIND_",
      },
      {
        name: "record",
        type: "string",
        help: "The id of the record; empty when it is not known.",
      },
      {
        name: "position",
        type: "string",
        help: "Where it is: the name of a file, a path in a document, a line, or its id.",
      },
      {
        name: "message",
        type: "string",
        help: "Why, in one line.",
      },
    ],
    items: "problems",
    aliases: ["feed-problems"],
  },
  {
    method: "moorage.operations.v2.OperationsService/ListFeedPresets",
    verb: "list-feed-presets",
    kind: "list",
    http: "GET",
    path: "/operations/v2/feedPresets",
    reads: true,
    summary: "show the feeds that can be added by their names, as `moorage feeds add` does",
    help: "Show the feeds that can be added by their names, as `moorage feeds add` does. There are few: they are not paged. Nothing of them is fetched until they are added.",
    arguments: [],
    flags: [],
    response: [
      {
        name: "name",
        type: "string",
        help: "Its name, which is that of the feed.",
      },
      {
        name: "title",
        type: "string",
        help: "What it is.",
      },
      {
        name: "format",
        type: "string",
        help: "The format of its records.",
      },
      {
        name: "address",
        type: "string",
        help: "Where it would be fetched from.",
      },
      {
        name: "licence",
        type: "string",
        help: "The licence of its content.",
      },
      {
        name: "interval",
        type: "duration",
        help: "How often it would be fetched.",
      },
      {
        name: "covers",
        type: "string",
        help: "What of an image it says something about.",
      },
      {
        name: "ecosystems",
        type: "string",
        repeated: true,
        help: "The ecosystems whose packages its records are about, as OSV names them.",
      },
      {
        name: "isAdded",
        type: "bool",
        help: "Whether a feed with its name is there.",
      },
    ],
    items: "presets",
    aliases: ["feed-presets"],
  },
  {
    method: "moorage.operations.v2.OperationsService/PreviewGarbageCollection",
    verb: "preview-garbage-collection",
    kind: "list",
    http: "GET",
    path: "/operations/v2/garbage",
    reads: true,
    summary: "show what garbage collection would remove now and remove nothing",
    help: "Show what garbage collection would remove now and remove nothing. One count runs at a time in a process: RESOURCE_EXHAUSTED otherwise, and after 50 seconds.",
    arguments: [],
    flags: [],
    response: [
      {
        name: "name",
        type: "string",
        help: "Its path, such as acme/team/app.",
      },
      {
        name: "tags",
        type: "int64",
        help: "Tags that its retention rules delete.",
      },
      {
        name: "manifests",
        type: "int64",
        help: "Manifests that nothing needs.",
      },
      {
        name: "blobs",
        type: "int64",
        help: "Blobs that it would no longer hold.",
      },
      {
        name: "bytes",
        type: "int64",
        help: "Bytes that would be free then.",
      },
    ],
    items: "repos",
  },
  {
    method: "moorage.operations.v2.OperationsService/GetInstallation",
    verb: "get-installation",
    kind: "get",
    http: "GET",
    path: "/operations/v2/installation",
    reads: true,
    summary: "show what runs here",
    help: "Show what runs here.",
    arguments: [],
    flags: [],
    response: [
      {
        name: "version",
        type: "string",
        help: "The version of the process that answers.",
      },
      {
        name: "engine",
        type: "string",
        help: 'The database: "sqlite" or "postgres".',
      },
      {
        name: "blobStore",
        type: "string",
        help: 'Where blobs are: "files" or "s3".',
      },
      {
        name: "startTime",
        type: "timestamp",
        help: "When the process that answers was started.",
      },
      {
        name: "organizations",
        type: "int64",
        help: "How many organizations there are.",
      },
      {
        name: "repos",
        type: "int64",
        help: "How many repos.",
      },
      {
        name: "tags",
        type: "int64",
        help: "How many tags.",
      },
    ],
    items: "installations",
    aliases: ["installation"],
  },
];
