// Written by `npm run generate` out of proto/: change it there.
import type { MethodSpec } from "../../resources/spec.ts";

/** The methods of UsageService. */
export const METHODS: readonly MethodSpec[] = [
  {
    method: "moorage.registry.v2.UsageService/ListUsage",
    verb: "list",
    kind: "list",
    http: "GET",
    path: "/registry/v2/usage",
    reads: true,
    summary: "show the bytes and the traffic of groups by day or month",
    help: "Show the bytes and the traffic of groups by day or month: of the named group and of each group directly below it; without one, or where you may list only parts of it, of the outermost groups that it may list. Each row is of the group with all below it. What is not known is absent, and never 0.",
    arguments: [],
    flags: [
      {
        name: "startTime",
        type: "timestamp",
        help: "Only from the period on in which this is.",
      },
      {
        name: "endTime",
        type: "timestamp",
        help: "Only up to the period in which this is, that period included.",
      },
      {
        name: "period",
        type: "enum",
        help: "What a row is about.",
        values: ["DAY", "MONTH"],
        prefix: "USAGE_PERIOD_",
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
        name: "groupUid",
        type: "string",
        help: "The group.",
      },
      {
        name: "name",
        type: "string",
        help: "Its name.",
      },
      {
        name: "period",
        type: "string",
        help: "The day or month in UTC, as `2026-11-27` or `2026-11`.",
      },
      {
        name: "bytes",
        type: "int64",
        help: "The bytes that its images take up, each content counted once, at the last measurement of the period.",
      },
      {
        name: "bytesAtLeast",
        type: "bool",
        help: "Whether there is more content than was counted, so that `bytes` is a lower bound.",
      },
      {
        name: "growth",
        type: "int64",
        help: "By how many bytes it grew since the last measurement before the period.",
      },
      {
        name: "pulls",
        type: "int64",
        help: "How many manifests were pulled.",
      },
      {
        name: "trafficBytes",
        type: "int64",
        help: "Bytes that were pulled.",
      },
      {
        name: "incomplete",
        type: "bool",
        help: "Whether pulls of the period are missing in the sums: they are counted only since a time within it, or some were lost.",
      },
      {
        name: "costLabels",
        type: "map",
        help: "The labels by which the group's cost is accounted for.",
        valueType: "string",
      },
    ],
    items: "usage",
    aliases: ["ls"],
  },
  {
    method: "moorage.registry.v2.UsageService/ReportUsage",
    verb: "report",
    kind: "call",
    http: "POST",
    path: "/registry/v2/usage:report",
    body: "*",
    reads: false,
    summary: "note which images run somewhere",
    help: "Note which images run somewhere. An image that runs need not be pulled: for 7 days after the time of the report it counts as pulled, for the retention of tags and for deletes. Takes the capability to report usage, where the image is.",
    arguments: [],
    flags: [
      {
        name: "source",
        type: "string",
        required: true,
        help: "Where they run, such as the name of a cluster.",
      },
      {
        name: "references",
        type: "message",
        repeated: true,
        required: true,
        help: "The images.",
        fields: [
          {
            name: "image",
            type: "string",
            required: true,
            help: "The path of the image, as `acme/team/app`, without registry and tag.",
          },
          {
            name: "digest",
            type: "string",
            required: true,
            help: "The digest of its manifest or index.",
          },
          {
            name: "time",
            type: "timestamp",
            help: "When it was seen to run.",
          },
        ],
      },
    ],
    response: [
      {
        name: "recorded",
        type: "int32",
        help: "How many references were noted.",
      },
      {
        name: "unknown",
        type: "int32",
        repeated: true,
        help: "The positions, from 0, of those that were not: no repo of this path with this manifest, or none for which the caller may report.",
      },
    ],
    items: "reportUsageResponses",
  },
];
