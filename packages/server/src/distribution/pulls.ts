import type { Call } from "../call.ts";
import { createSnapshotCache, type Database, type SnapshotCache } from "../store/index.ts";
import type { Exchange } from "./context.ts";

/** A manifest as it goes out. */
export interface PulledManifest {
  digest: string;
  mediaType: string;
  /** Its bytes, each as the character of that number: Node sends head and body of a text in one piece, of bytes in two. */
  latin1: string;
}
/** Where the bytes of a blob are. */
export interface PulledBlob { size: number; generation: string }

/**
 * What was decided about pulls, kept while nothing at all was committed to the database: that the path leads to this repo, that the token's caller
 * may pull from there, and what the tag or digest is. Whether the token is good is asked at every pull, before.
 */
export interface Pulls { manifests: SnapshotCache<PulledManifest>; blobs: SnapshotCache<PulledBlob> }

const MANIFEST_CACHE_BYTES = 16 * 1024 * 1024;
const MAX_BLOBS = 20_000;
// What an entry takes beside the manifest.
const ENTRY_BYTES = 700;

/** `reader` sees what is committed and never writes. */
export function createPulls(reader: Database): Pulls {
  return {
    manifests: createSnapshotCache(reader, MANIFEST_CACHE_BYTES, ({ latin1 }) => latin1.length + ENTRY_BYTES),
    blobs: createSnapshotCache(reader, MAX_BLOBS),
  };
}

/** What the work finds for the exchange's authorized caller; it must depend on nothing but the caller, the name, the reference and the database. */
export function pull<V>(cache: SnapshotCache<V>, { deps, callData, caller, name }: Exchange, reference: string, work: (call: Call) => Promise<V | undefined>): Promise<V | undefined> {
  const load = (): Promise<V | undefined> => deps.transactor.read(callData, work);
  // The id of a token stands for all that its claims say of the caller.
  return caller.tokenId === undefined ? load() : cache.remember(`${caller.tokenId} ${name} ${reference}`, load);
}
