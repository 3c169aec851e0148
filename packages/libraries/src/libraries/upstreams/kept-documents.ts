import { createLru } from "@moorage/kernel/lib/lru";
import { INLINE_BYTES } from "../reading/limits.ts";
import type { UpstreamDeps } from "./deps.ts";
import { createDocumentStore, type DividedHead, type StoredDocument } from "./document-store.ts";
import type { AnyKind, KindEntry, KindHead, KindValue } from "../ecosystem/document-kind.ts";
import type { OnceRunner } from "./once.ts";
import { type DocumentInput, entryIn, pieceOf } from "./pieces.ts";
import type { ReadDocument } from "./read-document.ts";
import type { UpstreamSettings } from "./settings.ts";
import { divideKept } from "./tasks.ts";

/** A document of an upstream as it is kept. */
export interface UpstreamDocument<K extends AnyKind> {
  /** Changes with its content: a part of the key of what is rendered from it. */
  revision: string;
  /** When this content came, in milliseconds since 1970. */
  fetchedMs: number;
  /** Until when nobody is asked whether it has changed, in milliseconds since 1970; in the past when asking fails. */
  freshUntilMs: number;
  /** Of its JSON, in bytes. What is made of a large one is made by a task of the pool. */
  size: number;
  /** Its content: from memory, or read and unpacked. Not to be called of a large one. */
  value(): Promise<KindValue<K>>;
  /** What is of the whole, without the entries. */
  head(): Promise<KindHead<K>>;
  /** One of its entries. */
  entry(key: string): Promise<KindEntry<K> | undefined>;
  /** What a task gets of it. */
  input(): Promise<DocumentInput<K>>;
}

/** What is known of a document without its content. */
export interface Known extends Omit<StoredDocument, "checkedMs"> {
  /** Until when nobody is asked, in milliseconds since 1970. */
  freshUntilMs: number;
}

/** A document of an upstream, by its name. */
export interface Place<K extends AnyKind> {
  settings: UpstreamSettings;
  name: string;
  kind: K;
}

/** Documents of upstreams that are kept, with those in memory that were read last. */
interface KeptDocuments {
  /** What is kept, which is fresh for so long after the upstream was asked. A large one is divided. */
  find<K extends AnyKind>(place: Place<K>, freshMs: number): Promise<Known | undefined>;
  shown<K extends AnyKind>(place: Place<K>, known: Known): UpstreamDocument<K> | undefined;
  /** Keeps what was read in place of what was kept. */
  keep<K extends AnyKind>(
    place: Place<K>,
    read: ReadDocument,
    about: Pick<Known, "etag" | "lastModified" | "fetchedMs" | "freshUntilMs"> & { wasDivided: boolean },
  ): Promise<Known>;
}

/** That there is nothing is believed for a shorter time: it may just be published. */
export const MISSING_MS = 60_000;
/** Of the JSON; as objects it is some times as much. */
const MAX_VALUE_BYTES = 32 * 1024 * 1024;
/** What is of the whole of a divided document is small: its tags, its plugins. */
const HEAD_BYTES = 64 * 1024;

/** Which document of which upstream it is, as a text. */
export function idOf({ settings: { uid, url }, name }: Omit<Place<AnyKind>, "kind">): string {
  return `${uid} ${url} ${name}`;
}

export function createKeptDocuments(deps: UpstreamDeps, once: OnceRunner): KeptDocuments {
  const store = createDocumentStore(deps);
  const values = createLru<string, { value: unknown; size: number }>(MAX_VALUE_BYTES, ({ size }) => size);
  const unpacking = new Map<string, Promise<unknown>>();
  const rowOf = ({ settings, name }: Place<AnyKind>) => ({ uid: settings.uid, url: settings.url, name });
  const keyOf = (place: Place<AnyKind>, revision: string, isDivided: boolean): string =>
    `${idOf(place)} ${revision} ${isDivided}`;

  /** The value of one that is not divided, or what is of the whole of one that is. */
  const contentOf = async (place: Place<AnyKind>, known: Known): Promise<unknown> => {
    const key = keyOf(place, known.revision, known.isDivided);
    const found = values.get(key);
    if (found !== undefined) return found.value;
    // It is unpacked once for all who want it at the time.
    const running = unpacking.get(key) ?? unpacked(place, known, key).finally(() => unpacking.delete(key));
    unpacking.set(key, running);
    return await running;
  };
  const unpacked = async (place: Place<AnyKind>, known: Known, key: string): Promise<unknown> => {
    const value = await store.content(rowOf(place), known);
    values.set(key, { value, size: known.isDivided ? HEAD_BYTES : known.size });
    return value;
  };
  const keep: KeptDocuments["keep"] = async (place, { value, ...read }, { wasDivided, ...about }) => {
    const { revision, size, pieces } = read;
    await store.keep(rowOf(place), read, { ...about, wasDivided });
    if (value !== undefined) values.set(keyOf(place, revision, false), { value, size });
    return { ...about, isMissing: false, revision, size, isDivided: pieces !== undefined };
  };
  /** Divides a large one that was kept in one piece, as all of them were once. */
  const divided = async (place: Place<AnyKind>, known: Known): Promise<Known> =>
    await once.run<Known>({
      id: `divide ${idOf(place)}`,
      limitMs: deps.config.upstreamTimeoutMs,
      found: async () => {
        const stored = await store.find(rowOf(place));
        return stored?.isDivided === true ? { ...stored, freshUntilMs: known.freshUntilMs } : undefined;
      },
      work: async () => {
        const packed = async () => ({ kind: place.kind.name, content: await store.packed(rowOf(place), known) });
        const read = await deps.reading.run(divideKept, packed, known.size);
        return await keep(place, read, { ...known, wasDivided: false });
      },
    });

  return {
    keep,
    async find(place, freshMs) {
      const stored = await store.find(rowOf(place));
      if (stored === undefined) return undefined;
      const { checkedMs, ...rest } = stored;
      const known = { ...rest, freshUntilMs: checkedMs + (stored.isMissing ? MISSING_MS : freshMs) };
      if (known.isMissing || known.isDivided || known.size <= INLINE_BYTES) return known;
      return (await place.kind.load()).parts === undefined ? known : await divided(place, known);
    },
    shown<K extends AnyKind>(place: Place<K>, known: Known): UpstreamDocument<K> | undefined {
      if (known.isMissing) return undefined;
      const { revision, fetchedMs, freshUntilMs, size, isDivided } = known;
      const value = async (): Promise<KindValue<K>> => {
        if (isDivided) throw new Error(`the document of ${place.name} is large`);
        return (await contentOf(place, known)) as KindValue<K>;
      };
      const head = async (): Promise<DividedHead> => (await contentOf(place, known)) as DividedHead;
      const parts = async () => {
        const { parts: split } = await place.kind.load();
        return split?.split(await value());
      };
      return {
        revision,
        fetchedMs,
        freshUntilMs,
        size,
        value,
        head: async () => (isDivided ? (await head()).head : (await parts())?.head) as KindHead<K>,
        async entry(key) {
          if (!isDivided) return (await parts())?.entries.find(([each]) => each === key)?.[1];
          const { pieces } = await head();
          const piece = await store.piece(rowOf(place), revision, pieceOf(key, pieces));
          return (await entryIn(piece, key)) as KindEntry<K> | undefined;
        },
        async input() {
          if (!isDivided) return { value: await value() };
          const { head: ofWhole, pieces } = await head();
          return {
            kind: place.kind.name,
            head: ofWhole as KindHead<K>,
            pieces: await store.pieces(rowOf(place), revision, pieces),
          };
        },
      };
    },
  };
}
