// Written by `npm run generate` out of proto/: change it there.
import type { MethodSpec } from "../../resources/spec.ts";

/** The methods of StorageService. */
export const METHODS: readonly MethodSpec[] = [
  {
    method: "moorage.registry.v2.StorageService/ListStorage",
    verb: "list",
    kind: "list",
    http: "GET",
    path: "/registry/v2/storage",
    reads: true,
    summary: "show what is stored by group",
    help: "Show what is stored by group: of the named group its own repos and each group directly below it; without one, or where you may list only parts of it, the outermost groups that it may list. Content is counted up to 50,000 links of blobs to repos, as many manifests, and as many libraries, in each row.",
    arguments: [],
    flags: [],
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
        name: "own",
        type: "bool",
        help: "Whether these are the repos directly in the group alone; otherwise those at every depth.",
      },
      {
        name: "blobBytes",
        type: "int64",
        help: "Bytes of configurations and layers, each content counted once.",
      },
      {
        name: "sharedBytes",
        type: "int64",
        help: "Those of them that another row of the named group has, too.",
      },
      {
        name: "manifestBytes",
        type: "int64",
        help: "Bytes of manifests.",
      },
      {
        name: "blobs",
        type: "int64",
        help: "How many blobs, each counted once.",
      },
      {
        name: "manifests",
        type: "int64",
        help: "How many manifests.",
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
      {
        name: "truncated",
        type: "bool",
        help: "Whether there is more content than was counted: the numbers of blobs, manifests and libraries are lower bounds.",
      },
      {
        name: "largestRepos",
        type: "message",
        repeated: true,
        help: "The 20 repos with the most bytes, those first.",
      },
      {
        name: "libraries",
        type: "int64",
        help: "How many libraries: npm packages, Python projects and Maven artifacts.",
      },
      {
        name: "libraryBytes",
        type: "int64",
        help: "Bytes of their files, whether or not images or other libraries have the same content.",
      },
    ],
    items: "storage",
    aliases: ["ls"],
  },
];
