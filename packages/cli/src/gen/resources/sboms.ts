// Written by `npm run generate` out of proto/: change it there.
import type { MethodSpec } from "../../resources/spec.ts";

/** The methods of SbomsService. */
export const METHODS: readonly MethodSpec[] = [
  {
    method: "moorage.registry.v2.SbomsService/GetSbom",
    verb: "get",
    kind: "get",
    http: "GET",
    path: "/registry/v2/repos/{repoUid=**}/digests/{digest}/sbom",
    reads: true,
    summary: "show the software bill of materials of an image",
    help: "Show the software bill of materials of an image; of an index that of all its images together, each package with its platforms. What was attached to the image in this repo is added to what was read from its layers, and takes nothing away. FAILED_PRECONDITION with the reason while an image waits to be read, and when it could not be.",
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
        name: "format",
        type: "enum",
        help: "The format of the document.",
        values: ["CYCLONEDX", "SPDX"],
        prefix: "SBOM_FORMAT_",
      },
      {
        name: "architecture",
        type: "string",
        help: 'Which image of an index, such as "amd64" or "arm/v7".',
      },
      {
        name: "source",
        type: "string",
        help: 'Whose packages: "layers" for what was read from the layers, or the source of an attachment.',
      },
    ],
    response: [
      {
        name: "format",
        type: "enum",
        help: "Which format the document has.",
        values: ["CYCLONEDX", "SPDX"],
        prefix: "SBOM_FORMAT_",
      },
      {
        name: "document",
        type: "json",
        help: "The document.",
      },
      {
        name: "sources",
        type: "string",
        repeated: true,
        help: 'Whose packages these are: "layers", or the source of an attachment; several where something is attached, or the images of an index differ.',
      },
      {
        name: "contradictions",
        type: "message",
        repeated: true,
        help: "The packages of which the sources name different versions: all of them stand in the document.",
      },
      {
        name: "contradictionsTotal",
        type: "int32",
        help: "How many there are.",
      },
    ],
    items: "sboms",
  },
  {
    method: "moorage.registry.v2.SbomsService/GetRawSbom",
    verb: "get-raw",
    kind: "get",
    http: "GET",
    path: "/registry/v2/repos/{repoUid=**}/digests/{digest}/rawSbom",
    reads: true,
    summary: "show an attached document as it was pushed, with its envelope",
    help: "Show an attached document as it was pushed, with its envelope. FAILED_PRECONDITION when none counts and no source is asked for, and for a document of more than 16 MiB.",
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
        help: 'Which image of an index, such as "amd64" or "arm/v7".',
      },
      {
        name: "source",
        type: "string",
        help: "The source of an attachment.",
      },
    ],
    response: [
      {
        name: "content",
        type: "bytes",
        help: "Its bytes.",
      },
      {
        name: "mediaType",
        type: "string",
        help: "Its media type: that of the layer, or of the artifact if the layer states none of a document.",
      },
      {
        name: "source",
        type: "string",
        help: "The source of the attachment.",
      },
    ],
    items: "rawSboms",
    aliases: ["raw"],
  },
  {
    method: "moorage.registry.v2.SbomsService/GetAttachments",
    verb: "get-attachments",
    kind: "get",
    http: "GET",
    path: "/registry/v2/repos/{repoUid=**}/digests/{digest}/attachments",
    reads: true,
    summary:
      "show which documents are attached to an image or index in this repo, which of them could not be read and why, and which one counts",
    help: "Show which documents are attached to an image or index in this repo, which of them could not be read and why, and which one counts; the last attached first.",
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
        name: "unmatched",
        type: "bool",
        help: "With the statements of each document that are about nothing here.",
      },
    ],
    response: [
      {
        name: "attachments",
        type: "message",
        repeated: true,
        help: "The last attached first.",
      },
    ],
    items: "getAttachmentsResponses",
    aliases: ["attachments"],
  },
];
