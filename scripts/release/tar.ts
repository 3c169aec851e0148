// Archives that are the same bytes each time: entries sorted by name, fixed times, no names of users.
import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path";
import { constants, gzipSync } from "node:zlib";

/** One entry. A folder has neither content nor target. */
export interface Entry {
  /** Relative, with slashes, without one at the end. */
  name: string;
  /** Permission bits. Defaults to 0o755 for folders and 0o644 for files. */
  mode?: number;
  content?: Uint8Array | string;
  /** Makes it a symbolic link. */
  target?: string;
  /** Owner and group, by number. Defaults to 0. */
  owner?: number;
}

const BLOCK_BYTES = 512;
/** When everything was last changed, in seconds since 1970: 1980 is the earliest that all formats can express. */
const FIXED_TIME_S = 315_532_800;

/** The archive of these entries, sorted by name, in the format of POSIX with names of any length. */
export function tarOf(entries: readonly Entry[]): Buffer {
  const sorted = entries.toSorted((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0));
  const blocks = sorted.flatMap((entry) => blocksOf(entry));
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK_BYTES)]);
}

/**
 * Compressed, with neither a time nor a name in its header. The best compression would take minutes for a binary of
 * Node.
 */
export function gzipped(content: Uint8Array): Buffer {
  return gzipSync(content, { level: content.length > 32_000_000 ? 6 : constants.Z_BEST_COMPRESSION });
}

/** The entries of a folder and all below it, under that name. Files that somebody may execute are 0o755. */
export function entriesOf(folder: string, name: string): Entry[] {
  const found: Entry[] = name === "" ? [] : [{ name }];
  for (const item of readdirSync(folder, { withFileTypes: true })) {
    const [path, below] = [join(folder, item.name), name === "" ? item.name : `${name}/${item.name}`];
    if (item.isDirectory()) found.push(...entriesOf(path, below));
    else if (item.isSymbolicLink()) found.push({ name: below, target: readlinkSync(path) });
    else found.push({ name: below, content: readFileSync(path), mode: statSync(path).mode & 0o111 ? 0o755 : 0o644 });
  }
  return found;
}

function blocksOf(entry: Entry): Buffer[] {
  const { name, content, target } = entry;
  const body = Buffer.from(content ?? "");
  const long = [
    ...(Buffer.byteLength(name) > 99 ? [record("path", name)] : []),
    ...(target !== undefined && Buffer.byteLength(target) > 99 ? [record("linkpath", target)] : []),
  ].join("");
  const extended = long === "" ? [] : [header({ name: "PaxHeader", content: long }, "x"), padded(Buffer.from(long))];
  const type = target !== undefined ? "2" : content === undefined ? "5" : "0";
  return [...extended, header(entry, type), padded(body)];
}

/** A record of an extended header: its length, which counts itself, its key and its value. Source: POSIX, pax. */
function record(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  let length = Buffer.byteLength(rest) + 1;
  while (Buffer.byteLength(`${length}${rest}`) !== length) length += 1;
  return `${length}${rest}`;
}

function header({ name, mode, content, target, owner = 0 }: Entry, type: string): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES);
  const octal = (value: number, at: number, digits: number): void =>
    void block.write(value.toString(8).padStart(digits, "0"), at);
  const size = type === "0" || type === "x" ? Buffer.byteLength(content ?? "") : 0;
  block.write((type === "5" ? `${name}/` : name).slice(0, 99), 0);
  octal(mode ?? (type === "5" ? 0o755 : type === "2" ? 0o777 : 0o644), 100, 7);
  octal(owner, 108, 7);
  octal(owner, 116, 7);
  octal(size, 124, 11);
  octal(FIXED_TIME_S, 136, 11);
  block.write(" ".repeat(8), 148);
  block.write(type, 156);
  block.write((target ?? "").slice(0, 99), 157);
  block.write("ustar\u000000", 257);
  octal(
    block.reduce((sum, byte) => sum + byte, 0),
    148,
    6,
  );
  block.write("\0 ", 154);
  return block;
}

function padded(content: Buffer): Buffer {
  const rest = content.length % BLOCK_BYTES;
  return rest === 0 ? content : Buffer.concat([content, Buffer.alloc(BLOCK_BYTES - rest)]);
}
