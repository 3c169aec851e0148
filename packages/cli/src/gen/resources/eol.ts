// Written by `npm run generate` out of proto/: change it there.
import type { MethodSpec } from "../../resources/spec.ts";

/** The methods of EolTagsService. */
export const METHODS: readonly MethodSpec[] = [
  {
    method: "moorage.registry.v2.EolTagsService/ListEolTags",
    verb: "list",
    kind: "list",
    http: "GET",
    path: "/registry/v2/eolTags",
    reads: true,
    summary: "show the tags whose main package, the product that the image is, was past its end of life at a time",
    help: "Show the tags whose main package, the product that the image is, was past its end of life at a time. A page may have fewer tags than were asked for, none even, while next_page_token is not empty: tags are looked at in the order of their uids, a bounded number for each page.",
    arguments: [],
    flags: [
      {
        name: "name",
        type: "string",
        help: "Exactly this name of a tag.",
      },
      {
        name: "asOf",
        type: "timestamp",
        help: "Past its end of life at this time.",
      },
    ],
    uidp: true,
    paged: "token",
    response: [
      {
        name: "uid",
        type: "string",
        help: "The tag.",
      },
      {
        name: "name",
        type: "string",
        help: "Its name.",
      },
      {
        name: "digest",
        type: "string",
        help: "What it points to.",
      },
      {
        name: "product",
        type: "string",
        help: "The product, by its id in the feed.",
      },
      {
        name: "version",
        type: "string",
        help: "The version in the image.",
      },
      {
        name: "versionSource",
        type: "string",
        help: "What the version was read from, such as the purl of a package or `tag`.",
      },
      {
        name: "productSource",
        type: "enum",
        help: "What says that the image is this product.",
        values: ["PRODUCT_SOURCE_REPO", "PRODUCT_SOURCE_LABEL", "PRODUCT_SOURCE_IMAGE", "PRODUCT_SOURCE_PACKAGE"],
        prefix: "PRODUCT_SOURCE_",
      },
      {
        name: "release",
        type: "message",
        help: "The release cycle of the version, with its end of life.",
      },
      {
        name: "status",
        type: "enum",
        help: "How long ago that was.",
        values: ["EOL_TAG_STATUS_IN_GRACE", "EOL_TAG_STATUS_INACTIVE"],
        prefix: "EOL_TAG_STATUS_",
      },
      {
        name: "graceExpireTime",
        type: "timestamp",
        help: "Until when grace lasts, six months after the end of life; absent when the feed has no date.",
      },
      {
        name: "feed",
        type: "message",
        help: "The feed that says so, and its license.",
      },
    ],
    items: "eolTags",
    aliases: ["ls"],
  },
];
