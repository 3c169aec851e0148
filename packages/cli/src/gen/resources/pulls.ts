// Written by `npm run generate` out of proto/: change it there.
import type { MethodSpec } from "../../resources/spec.ts";

/** The methods of PullsService. */
export const METHODS: readonly MethodSpec[] = [
  {
    method: "moorage.registry.v2.PullsService/ListPulls",
    verb: "list",
    kind: "list",
    http: "GET",
    path: "/registry/v2/pulls",
    reads: true,
    summary: "show how often and when images were pulled, summed up by what the request names, the latest days first",
    help: "Show how often and when images were pulled, summed up by what the request names, the latest days first. Only pulls that were counted are in it: the coverage of the answer says since when, and on which days some were lost. What has no row was not pulled within the coverage; before that it is not known.",
    arguments: [],
    flags: [
      {
        name: "repoUid",
        type: "string",
        help: "Only of this repo.",
        ref: "repo",
      },
      {
        name: "tag",
        type: "string",
        help: "Only by this tag.",
      },
      {
        name: "digest",
        type: "string",
        help: "Only of this manifest, by whatever tag.",
      },
      {
        name: "identity",
        type: "string",
        help: "Only by this identity.",
      },
      {
        name: "startTime",
        type: "timestamp",
        help: "Only from the day on in which this is, in UTC.",
      },
      {
        name: "endTime",
        type: "timestamp",
        help: "Only up to the day in which this is, that day included.",
      },
      {
        name: "groupBy",
        type: "enum",
        repeated: true,
        help: "By what the sums are.",
        values: ["DAY", "REPO", "TAG", "DIGEST", "IDENTITY"],
        prefix: "PULL_GROUPING_",
      },
      {
        name: "format",
        type: "enum",
        help: "In which form the rows are.",
        values: ["CSV"],
        prefix: "USAGE_FORMAT_",
      },
    ],
    uidp: true,
    paged: "token",
    response: [
      {
        name: "day",
        type: "string",
        help: "The day in UTC, as `2026-11-27`.",
      },
      {
        name: "repoUid",
        type: "string",
        help: "The repo.",
        ref: "repo",
      },
      {
        name: "name",
        type: "string",
        help: "The path of its image, as `acme/team/app`; empty when the repo is gone.",
      },
      {
        name: "tag",
        type: "string",
        help: "The tag that was asked for; empty for pulls by digest.",
      },
      {
        name: "digest",
        type: "string",
        help: "The digest of the manifest.",
      },
      {
        name: "identity",
        type: "string",
        help: "Who pulled; empty for pulls without a log-in.",
      },
      {
        name: "count",
        type: "int64",
        help: "How many manifests were got.",
      },
      {
        name: "bytes",
        type: "int64",
        help: "Bytes of manifests, configurations and layers that were sent, or that clients were sent elsewhere for.",
      },
      {
        name: "firstTime",
        type: "timestamp",
        help: "The first of these pulls.",
      },
      {
        name: "lastTime",
        type: "timestamp",
        help: "The last of them.",
      },
    ],
    items: "pulls",
    aliases: ["ls"],
  },
];
