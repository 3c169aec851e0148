// What servers answered to completion, kept for seconds: a list in a file each, in the folder of caches of this person.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "../config/paths.ts";

/** One of a list: its uid, its word and what it is. */
export type Named = readonly [uid: string, word: string, help: string];

/** A list as it was answered. `more`: the server has more than these. */
export interface Kept {
  readonly items: readonly Named[];
  readonly more: boolean;
}

const MAX_FILES = 128;
const MAX_FILE_BYTES = 512 * 1024;

/** What is kept of one server for one caller, as JSON by a key. */
export interface Cache {
  /** What was kept under a key at most so many milliseconds ago; whenever it was without a time. */
  read<T>(key: string, maxAgeMs?: number): T | undefined;
  /** Keeps a value. What is too long or cannot be written is not kept. */
  write(key: string, value: unknown): void;
  /** True for the first that asks within a time, whatever the process; false for the others. */
  claim(forMs: number): boolean;
}

interface Entry {
  readonly key: string;
  readonly atMs: number;
  readonly value: unknown;
}

/** The cache for a caller of a server; `who` names both. */
export function cacheFor(who: string): Cache {
  const folder = join(cacheFolder(), "completion");
  const fullKey = (key: string): string => `${who}\n${key}`;
  const fileOf = (key: string): string => join(folder, `${hashOf(fullKey(key))}.json`);
  return {
    read<T>(key: string, maxAgeMs = Infinity): T | undefined {
      try {
        const entry = JSON.parse(readFileSync(fileOf(key), "utf8")) as Entry;
        const ageMs = Date.now() - entry.atMs;
        const isFresh = maxAgeMs === Infinity || (ageMs >= 0 && ageMs < maxAgeMs);
        return isFresh && entry.key === fullKey(key) ? (entry.value as T) : undefined;
      } catch {
        return undefined;
      }
    },
    write(key, value) {
      const text = JSON.stringify({ key: fullKey(key), atMs: Date.now(), value } satisfies Entry);
      if (Buffer.byteLength(text) > MAX_FILE_BYTES) return;
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        const file = fileOf(key);
        const draft = `${file}.${process.pid}`;
        writeFileSync(draft, text, { mode: 0o600 });
        renameSync(draft, file);
        prune(folder);
      } catch {
        // A disk that is full, or a home that cannot be written.
      }
    },
    claim(forMs) {
      const file = `${fileOf("")}.claim`;
      const atMs = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
      if (atMs !== undefined && Math.abs(Date.now() - atMs) < forMs) return false;
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        rmSync(file, { force: true });
        writeFileSync(file, "", { mode: 0o600, flag: "wx" });
        return true;
      } catch {
        return false;
      }
    },
  };
}

/** A number for a file's name: `node:crypto` takes longer to load than all else here. The file has the whole key. */
export function hashOf(text: string): string {
  let [one, other] = [0xde_ad_be_ef, 0x41_c6_ce_57];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    one = Math.imul(one ^ code, 2_654_435_761);
    other = Math.imul(other ^ code, 1_597_334_677);
  }
  return `${(one >>> 0).toString(16).padStart(8, "0")}${(other >>> 0).toString(16).padStart(8, "0")}`;
}

/** Removes the oldest lists, half of them, when there are too many. */
function prune(folder: string): void {
  const names = readdirSync(folder);
  if (names.length <= MAX_FILES) return;
  const atMs = (name: string): number => statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const byAge = names.map((name) => ({ name, atMs: atMs(name) })).toSorted((one, other) => one.atMs - other.atMs);
  for (const { name } of byAge.slice(0, names.length - MAX_FILES / 2)) rmSync(join(folder, name), { force: true });
}
