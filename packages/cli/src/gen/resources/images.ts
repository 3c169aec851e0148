// Written by `npm run generate` out of proto/: change it there.
import type { MethodSpec } from "../../resources/spec.ts";

/** The methods of ImagesService and SignaturesService. */
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
  {
    method: "moorage.registry.v2.SignaturesService/ListImageSignatures",
    verb: "signatures",
    kind: "list",
    http: "GET",
    path: "/registry/v2/repos/{repoUid=**}/digests/{digest}/signatures",
    reads: true,
    summary:
      "show the signatures that are attached to an image or index in this repo, and what each is worth by each signer of the repo's groups",
    help: "Show the signatures that are attached to an image or index in this repo, and what each is worth by each signer of the repo's groups; the last attached first. What was not verified is answered with its reason, and counted.",
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
        name: "asOf",
        type: "timestamp",
        help: "What was attached and known then.",
      },
    ],
    response: [
      {
        name: "manifest",
        type: "string",
        help: "The manifest that holds it.",
      },
      {
        name: "source",
        type: "string",
        help: "How that is attached: empty for a referrer, or the name of a tag.",
      },
      {
        name: "format",
        type: "enum",
        help: "In which form it is.",
        values: ["SIMPLE_SIGNING", "BUNDLE", "DSSE", "NOTATION"],
        prefix: "SIGNATURE_FORMAT_",
      },
      {
        name: "predicateType",
        type: "string",
        help: "What an attestation states; empty for a signature of the image itself.",
      },
      {
        name: "attachTime",
        type: "timestamp",
        help: "When it was attached.",
      },
      {
        name: "detachTime",
        type: "timestamp",
        help: "When it was not attached any longer.",
      },
      {
        name: "attachedBy",
        type: "string",
        help: "The identity that attached it; empty when that is not known.",
      },
      {
        name: "identity",
        type: "string",
        help: "Who says to have made it: of a certificate its subject and issuer.",
      },
      {
        name: "signedTime",
        type: "timestamp",
        help: "When it was made, by whoever time_source names.",
      },
      {
        name: "timeSource",
        type: "enum",
        help: "Who says so.",
        values: ["LOG", "TIMESTAMP", "REGISTRY"],
        prefix: "SIGNATURE_TIME_",
      },
      {
        name: "verdicts",
        type: "message",
        repeated: true,
        help: "What it is worth by each signer of the repo's groups.",
      },
      {
        name: "state",
        type: "enum",
        help: "The best of the verdicts; what is wrong with it whoever made it; or why there are none.",
        values: ["TRUSTED", "UNTRUSTED", "INVALID", "EXPIRED", "REVOKED", "WAITING"],
        prefix: "SIGNATURE_STATE_",
      },
      {
        name: "code",
        type: "enum",
        help: "The same for programs.",
        values: [
          "NOT_READ",
          "UNREADABLE",
          "UNKNOWN_FORMAT",
          "NO_SIGNER",
          "OTHER_SIGNER",
          "OTHER_IMAGE",
          "OTHER_PAYLOAD",
          "EXPIRED",
          "REVOKED",
          "NOT_LOGGED",
          "NO_TRUST_ROOT",
          "BAD_CERTIFICATE",
        ],
        prefix: "SIGNATURE_CODE_",
      },
      {
        name: "reason",
        type: "string",
        help: "The same in words; empty for what is trusted.",
      },
      {
        name: "number",
        type: "int32",
        help: "Which one it is in its manifest: the number of its layer, from 0.",
      },
    ],
    items: "signatures",
  },
  {
    method: "moorage.registry.v2.SignaturesService/GetSignatureDecision",
    verb: "signature-decision",
    kind: "get",
    http: "GET",
    path: "/registry/v2/repos/{repoUid=**}/digests/{digest}/signatureDecision",
    reads: true,
    summary: "show what each policy of the repo's groups says of an image or index now, rule by rule",
    help: "Show what each policy of the repo's groups says of an image or index now, rule by rule: by the same judgment that pulls, promotions and copies ask.",
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
        name: "tag",
        type: "string",
        help: "The tag that is to point to it, of a promotion or a copy.",
      },
      {
        name: "action",
        type: "enum",
        help: "What would be done.",
        values: ["PULL", "PROMOTE", "COPY"],
        prefix: "SIGNATURE_ACTION_",
      },
    ],
    response: [
      {
        name: "held",
        type: "bool",
        help: "Whether an enforcing policy keeps it back.",
      },
      {
        name: "waiting",
        type: "bool",
        help: "Whether that is only until something is verified.",
      },
      {
        name: "message",
        type: "string",
        help: "What the rejection would say; empty when it passes.",
      },
      {
        name: "policies",
        type: "message",
        repeated: true,
        help: "What each policy says, the outermost group's first.",
      },
    ],
    items: "signatureDecisions",
  },
];
