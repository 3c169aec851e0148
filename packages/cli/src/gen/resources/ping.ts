// Written by `npm run generate` out of proto/: change it there.
import type { MethodSpec } from "../../resources/spec.ts";

/** The methods of PingService. */
export const METHODS: readonly MethodSpec[] = [
  {
    method: "moorage.ping.v2.PingService/Ping",
    verb: "ping",
    kind: "get",
    http: "GET",
    path: "/ping/v2/ping",
    reads: true,
    summary: "ask whether the server answers; needs no sign-in",
    help: "Show without a token.",
    arguments: [],
    flags: [],
    isPublic: true,
    response: [
      {
        name: "response",
        type: "string",
        help: 'Always "pong".',
      },
    ],
    items: "pingResponses",
  },
];
