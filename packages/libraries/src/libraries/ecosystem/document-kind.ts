import type { Awaitable } from "@moorage/kernel/lib/awaitable";

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

/** How documents of a kind are read. `T` is plain data: it is kept as JSON. */
export interface DocumentReader<T, Args, Head = unknown, Entry = unknown> {
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

/** A kind of documents of upstreams, such as what they say of a package. Its reader is loaded where it is needed. */
export interface DocumentKind<T, Args, Head = unknown, Entry = unknown> {
  /** `<ecosystem>.<what it is>`, unique. */
  readonly name: string;
  load(): Promise<DocumentReader<T, Args, Head, Entry>>;
}

/** Any kind: what its documents are is known where the kind itself is. */
// oxlint-disable-next-line typescript/no-explicit-any -- a kind both takes and gives its types
export type AnyKind = DocumentKind<any, any, any, any>;

export type KindValue<K extends AnyKind> = K extends DocumentKind<infer T, infer _A, infer _H, infer _E> ? T : never;
export type KindArgs<K extends AnyKind> = K extends DocumentKind<infer _T, infer A, infer _H, infer _E> ? A : never;
export type KindHead<K extends AnyKind> = K extends DocumentKind<infer _T, infer _A, infer H, infer _E> ? H : never;
export type KindEntry<K extends AnyKind> = K extends DocumentKind<infer _T, infer _A, infer _H, infer E> ? E : never;

/** Declares a kind of documents. */
export function documentKind<T, Args, Head = unknown, Entry = unknown>(
  name: string,
  load: () => Promise<DocumentReader<T, Args, Head, Entry>>,
): DocumentKind<T, Args, Head, Entry> {
  return { name, load };
}
