// Written by `npm run generate` out of proto/: change it there.
import type { MethodSpec } from "../../resources/spec.ts";

/** The methods of ImagesService. */
export const METHODS: readonly MethodSpec[] = [
  {
    method: "moorage.registry.v2.ImagesService/GetArchitectures",
    verb: "get-architectures",
    kind: "get",
    http: "GET",
    path: "/registry/v2/repos/{repoUid=**}/digests/{digest}/architectures",
    reads: true,
    summary: "show the architectures an image or index is for",
    help: "Show the architectures an image or index is for.",
    arguments: [
      {
        form: "image",
        name: "image",
        fields: ["repoUid", "digest"],
        required: true,
      },
    ],
    flags: [],
    response: [
      {
        name: "architectures",
        type: "string",
        repeated: true,
        help: "As GOARCH names them, e.g.",
      },
    ],
    items: "getArchitecturesResponses",
    aliases: ["architectures"],
  },
  {
    method: "moorage.registry.v2.ImagesService/GetSize",
    verb: "get-size",
    kind: "get",
    http: "GET",
    path: "/registry/v2/repos/{repoUid=**}/digests/{digest}/size",
    reads: true,
    summary: "show how many bytes a pull of one architecture moves",
    help: "Show how many bytes a pull of one architecture moves.",
    arguments: [
      {
        form: "image",
        name: "image",
        fields: ["repoUid", "digest"],
        required: true,
      },
    ],
    flags: [
      {
        name: "architecture",
        type: "string",
        help: "Which image of an index.",
      },
    ],
    response: [
      {
        name: "size",
        type: "int64",
        help: "Bytes: the configuration and the layers, compressed.",
      },
      {
        name: "architecture",
        type: "string",
        help: "Which architecture it is.",
      },
    ],
    items: "getSizeResponses",
    aliases: ["size"],
  },
];
