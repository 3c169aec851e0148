// Written by `npm run generate` out of proto/: change it there.
import type { MethodSpec } from "../../resources/spec.ts";

/** The methods of EventsService. */
export const METHODS: readonly MethodSpec[] = [
  {
    method: "moorage.events.v2.EventsService/ListEvents",
    verb: "list",
    kind: "list",
    http: "GET",
    path: "/events/v2/events",
    reads: true,
    summary: "show the events of a group and of all below it that come after the cursor",
    help: "Show the events of a group and of all below it that come after the cursor. Who keeps the cursor of an answer together with what it made of its events misses none and sees none twice. FAILED_PRECONDITION with the violation CURSOR_EXPIRED says that events after the cursor were removed because of their age, or that the database was replaced by an older copy of itself since the cursor was given: without a cursor the reader goes on with the oldest that is kept.",
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
        name: "typePrefixes",
        type: "string",
        repeated: true,
        help: "Only events whose type begins with one of these.",
      },
      {
        name: "subjectPrefixes",
        type: "string",
        repeated: true,
        help: "Only events whose subject begins with one of these uids.",
      },
      {
        name: "taggedOnly",
        type: "bool",
        help: "Of pushes and pulls only those by a tag, as of a subscription.",
      },
    ],
    paged: "cursor",
    response: [
      {
        name: "specversion",
        type: "string",
        output: true,
        help: "The version of CloudEvents: 1.0.",
      },
      {
        name: "id",
        type: "string",
        output: true,
        help: "Identifies the event, the same for everybody and at each try.",
      },
      {
        name: "source",
        type: "string",
        output: true,
        help: "The installation: its base URL.",
      },
      {
        name: "type",
        type: "string",
        output: true,
        help: "What happened, such as dev.moorage.registry.push.v1.",
      },
      {
        name: "subject",
        type: "string",
        output: true,
        help: "The uid of the resource that it happened to.",
      },
      {
        name: "time",
        type: "timestamp",
        output: true,
        help: "When it happened.",
      },
      {
        name: "datacontenttype",
        type: "string",
        output: true,
        help: "The form of data: application/json.",
      },
      {
        name: "data",
        type: "json",
        output: true,
        help: "Who did it, under actor, and what happened, under body.",
      },
      {
        name: "group",
        type: "string",
        output: true,
        help: "The group it happened in.",
      },
      {
        name: "audience",
        type: "string",
        output: true,
        help: "For whom it is: customer.",
      },
      {
        name: "actor",
        type: "string",
        output: true,
        help: "The identity that did it; empty for nobody, and for the server itself.",
      },
      {
        name: "sequence",
        type: "string",
        output: true,
        help: "Its number among the events of the subject, from 1 on without gaps.",
      },
    ],
    items: "events",
    aliases: ["ls"],
  },
];
