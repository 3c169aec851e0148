// Written by `npm run generate` out of proto/: change it there.
import type { MethodSpec } from "../../resources/spec.ts";

/** The methods of SearchService. */
export const METHODS: readonly MethodSpec[] = [
  {
    method: "moorage.registry.v2.SearchService/Search",
    verb: "search",
    kind: "list",
    http: "GET",
    path: "/registry/v2/search",
    reads: true,
    summary: "find repos, tags, images by digest, and annotations and labels",
    help: "Show repos by a part of their path, tags by a part of their name, manifests by the first digits of their digest, and annotations and labels of images by a part of the key or value. Repos are for who may list repos, tags for who may also list tags, the other two for who may also list the metadata of manifests. A page looks at a bounded number of rows, so it may have few results or none although more pages follow.",
    arguments: [
      {
        form: "text",
        name: "query",
        fields: ["query"],
        required: true,
      },
    ],
    flags: [
      {
        name: "kinds",
        type: "enum",
        repeated: true,
        help: "Only these kinds of results.",
        values: ["REPO", "TAG", "DIGEST", "LABEL"],
        prefix: "SEARCH_KIND_",
      },
    ],
    uidp: true,
    paged: "token",
    response: [
      {
        name: "kind",
        type: "enum",
        help: "What it is.",
        values: ["REPO", "TAG", "DIGEST", "LABEL"],
        prefix: "SEARCH_KIND_",
      },
      {
        name: "repoUid",
        type: "string",
        help: "The repo that it is or is in.",
        ref: "repo",
      },
      {
        name: "name",
        type: "string",
        help: "The path of the repo's image, as `acme/team/app`.",
      },
      {
        name: "tag",
        type: "string",
        help: "The name of the tag.",
      },
      {
        name: "tagUid",
        type: "string",
        help: "The uid of the tag.",
      },
      {
        name: "digest",
        type: "string",
        help: "The digest of the manifest; of a tag, what it points to.",
      },
      {
        name: "labelKey",
        type: "string",
        help: "The key of the annotation or label.",
      },
      {
        name: "labelValue",
        type: "string",
        help: "Its value, at most the first 1,024 characters.",
      },
      {
        name: "updateTime",
        type: "timestamp",
        help: "When the repo was last changed, the tag last came to point to another digest, or the manifest was pushed.",
      },
    ],
    items: "results",
  },
];
