// What is known of the API's methods without their descriptors: gen/resources.ts has it, scripts/cli-commands.ts writes
// it out of proto/.

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
}

/** What a method does, as the commands see it. `call`: none of the standard methods. */
export type MethodKind = "list" | "get" | "create" | "update" | "delete" | "call" | "watch";

/** A method of the API as a command. */
export interface MethodSpec {
  /** Such as `moorage.registry.v2.ReposService/ListRepos`. */
  readonly method: string;
  /** The command's name below its noun, such as `list`. */
  readonly verb: string;
  readonly aliases?: readonly string[];
  readonly kind: MethodKind;
  readonly http: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  /** Such as `/registry/v2/repos/{uid=**}`, with fields' names of JSON. Empty for a stream, which REST does not offer. */
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
  /** The request's fields, without those of paging and without `uidp` of a list. */
  readonly request: readonly FieldSpec[];
  /** Whether the request takes `uidp`. */
  readonly uidp?: true;
  /** Whether it takes a page size, a page token, an order and a number to skip. */
  readonly paged?: true;
  /** The response's fields; those of one item where the response is a list. */
  readonly response: readonly FieldSpec[];
  /** The field of a list's items in its response, such as `repos`. */
  readonly items?: string;
}

/** A noun: the commands of one resource. */
export interface NounSpec {
  readonly name: string;
  /** The heading that it stands below in the list of commands. */
  readonly section: Section;
  readonly summary: string;
  readonly aliases?: readonly string[];
  load(): Promise<{ readonly METHODS: readonly MethodSpec[] }>;
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
