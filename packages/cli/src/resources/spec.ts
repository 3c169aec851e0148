// What is known of the API's methods without their descriptors: `npm run generate` makes it out of proto/.

import type { Kind } from "../api/name-kinds.ts";

/** What a value looks like in JSON. `json`: any value (google.protobuf.Struct). */
export type FieldType =
  | "string"
  | "bool"
  | "int32"
  | "int64"
  | "double"
  | "enum"
  | "timestamp"
  | "duration"
  | "bytes"
  | "json"
  | "message"
  | "map";

/** A field of a request or a resource. */
export interface FieldSpec {
  /** Its name in JSON, such as `createTime`. */
  readonly name: string;
  readonly type: FieldType;
  readonly repeated?: true;
  readonly required?: true;
  /** The server sets it. */
  readonly output?: true;
  /** The server never shows it: a secret, or what other fields show. */
  readonly input?: true;
  /** It is a field of the request beside the resource in the body. */
  readonly inQuery?: true;
  /** The first sentence of its comment; empty without one. */
  readonly help: string;
  /** The names of an enum's values, without the one that means "not given". */
  readonly values?: readonly string[];
  /** What the names of an enum's values begin with, such as `CATALOG_TIER_`. Empty when they have nothing in common. */
  readonly prefix?: string;
  /** The fields of a message, down to a depth of three; of a map, those of its values when they are messages. */
  readonly fields?: readonly FieldSpec[];
  /** Of a map: the type of its values. */
  readonly valueType?: FieldType;
  /** The oneof that it is in: only one of its fields may be given. */
  readonly oneof?: string;
  /** It holds the uid of a resource of this kind; commands take its name. */
  readonly ref?: Kind;
}

/**
 * What a command takes as an argument, and the fields of the request that it fills.
 *
 * - `ref`: the name or uid of a resource; its uid goes into the field.
 * - `new`: the path of a resource to be made, such as `acme/team/app`: what stands before its own name is the parent.
 *   The fields are the parent's and the name's.
 * - `image`: a repo with a digest, or with a tag that is looked up. The fields are the repo's and the digest's.
 * - `tag`: a repo with a tag. The fields are the repo's and the tag's.
 * - `text`: as it is.
 */
export interface ArgumentSpec {
  readonly form: "ref" | "new" | "image" | "tag" | "text";
  /** How help calls it, such as `repo`. */
  readonly name: string;
  /** Of a `ref` the kind that it names, of a `new` that of its parent. Absent for uids that have no names. */
  readonly kind?: Kind;
  /** Dotted names of JSON, such as `repo.uid`. */
  readonly fields: readonly string[];
  /** Absent for those that may be left out. */
  readonly required?: true;
  /** Of a `new`: it may have no parent. */
  readonly root?: true;
}

/** What a method does, as the commands see it. `call`: none of the standard methods. */
export type MethodKind = "list" | "get" | "create" | "update" | "delete" | "call";

/** A method of the API as a command. */
export interface MethodSpec {
  /** Such as `moorage.registry.v2.ReposService/ListRepos`. */
  readonly method: string;
  /** The command's name below its noun, such as `list`. The noun's own name: it is what the noun does by itself. */
  readonly verb: string;
  readonly aliases?: readonly string[];
  readonly kind: MethodKind;
  readonly http: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  /** Such as `/registry/v2/repos/{uid=**}`, with fields' names of JSON. */
  readonly path: string;
  /** A second path without the parent, such as `/iam/v2/groups` for groups at the root. */
  readonly rootPath?: string;
  /** The request's field that is the body; `*` for all that are not in the path. Absent without a body. */
  readonly body?: string;
  /** Whether it only reads. */
  readonly reads: boolean;
  /** The first sentence of its comment, for lists of commands. */
  readonly summary: string;
  /** Its whole comment. */
  readonly help: string;
  readonly arguments: readonly ArgumentSpec[];
  /** The fields that flags fill: of the body and of the request, without those of arguments and of paging. */
  readonly flags: readonly FieldSpec[];
  /** Whether the request takes `uidp`. */
  readonly uidp?: true;
  /** How the pages of a list follow one another: by page tokens (AIP-158), or by cursors. */
  readonly paged?: "token" | "cursor";
  /** Whether anybody may call it, signed in or not. */
  readonly isPublic?: true;
  /** Whether it can be asked what it would do (AIP-163). */
  readonly dryRun?: true;
  /** Whether the request has a mask of the fields to change. */
  readonly masked?: true;
  /** The response's fields; those of one item where the response is a list. */
  readonly response: readonly FieldSpec[];
  /** The field of a list's items in its response, such as `repos`; of other responses the plural of its message. */
  readonly items?: string;
}

/** A noun: the commands of one resource. */
export interface NounSpec {
  readonly name: string;
  /** The heading that it stands below in the list of commands. */
  readonly section: Section;
  readonly summary: string;
  readonly aliases?: readonly string[];
  /** The JSON of its methods (method-data.ts). */
  load(): Promise<{ readonly DATA: string }>;
}

/** The headings of the list of commands, in their order. */
export const SECTIONS = [
  "Registry",
  "Access",
  "Security",
  "Events",
  "Operations of an installation",
  "This command",
] as const;

/** One of the headings. */
export type Section = (typeof SECTIONS)[number];
