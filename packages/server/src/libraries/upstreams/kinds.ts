import type { Awaitable } from "../../lib/awaitable.ts";

/** What the parsing of a document gets beside its bytes. Plain data, as the document itself. */
export interface ParseContext<T> {
  /** Of the answer: those of its headers that documents are read by. */
  headers: Readonly<Partial<Record<"content-type" | "last-modified", string>>>;
  /** The URL that answered, after redirects: links in the document are relative to it. */
  url: string;
  /** The time of the answer, in milliseconds since 1970. */
  nowMs: number;
  /** What the document said before; undefined at first. */
  previous: T | undefined;
}

/** A large document in parts: what is of the whole, and its entries, each by a key, in their order. */
export interface Split<Head, Entry> {
  head: Head;
  entries: readonly (readonly [key: string, entry: Entry])[];
}

/** A kind of documents of upstreams. `T` is plain data: it is kept as JSON. */
export interface DocumentKind<T, Args, Head = unknown, Entry = unknown> {
  /**
   * What is kept of the document: only what is served. What it throws counts as a bad answer of the upstream: its
   * message is the reason that people read.
   */
  parse(bytes: Buffer, args: Args, context: ParseContext<T>): Awaitable<T>;
  /** How a large one is divided, so that one entry is read without the others. Without it, none of them is large. */
  parts?: {
    split(value: T): Split<Head, Entry>;
    join(split: Split<Head, Entry>): T;
  };
}

/** All kinds. Each is loaded where it is first needed. */
const KINDS = {
  "npm.package": async () => (await import("../npm/upstream-document.ts")).packageKind,
  "npm.attestations": async () => (await import("../npm/attestation-kinds.ts")).attestationsKind,
  "npm.keys": async () => (await import("../npm/attestation-kinds.ts")).keysKind,
  "pypi.project": async () => (await import("../pypi/upstream-page.ts")).projectKind,
  "maven.metadata": async () => (await import("../maven/upstream-metadata.ts")).metadataKind,
  "maven.pom": async () => (await import("../maven/pom-facts.ts")).pomKind,
} as const;

type Kinds = { [Name in keyof typeof KINDS]: Awaited<ReturnType<(typeof KINDS)[Name]>> };

export type KindName = keyof Kinds;
export type KindArgs<Name extends KindName> = Parameters<Kinds[Name]["parse"]>[1];
export type KindValue<Name extends KindName> = Awaited<ReturnType<Kinds[Name]["parse"]>>;
type PartsOf<Name extends KindName> =
  Kinds[Name] extends DocumentKind<infer _T, infer _A, infer Head, infer Entry> ? Split<Head, Entry> : never;
export type KindHead<Name extends KindName> = PartsOf<Name>["head"];
export type KindEntry<Name extends KindName> = PartsOf<Name>["entries"][number][1];

/** A kind by its name. */
export async function loadKind<Name extends KindName>(
  name: Name,
): Promise<DocumentKind<KindValue<Name>, KindArgs<Name>, KindHead<Name>, KindEntry<Name>>> {
  return (await KINDS[name]()) as never;
}
