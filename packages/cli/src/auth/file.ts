// How `moorage auth` changes the configuration file of another program: it shows what it changes, leaves the rest as it
// is, and replaces the file in one step or not at all.
import { randomBytes } from "node:crypto";
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { locked } from "../lock.ts";

/** A changed text, and the lines that show the change to people, without secrets: they begin with + or -. */
export interface Edit {
  readonly text: string;
  readonly changes: readonly string[];
}

/** What to do with a file beside the edit. */
export interface Rewriting {
  /** Shows the changes and writes nothing. */
  dryRun: boolean;
  /** Of a new file. 0600 for files that may hold secrets. */
  mode?: number;
  /** The file is made to be for its owner alone, also when it is there already. */
  secret?: boolean;
}

const OWNER_ONLY = 0o600;
const MAX_FILE_BYTES = 16 * 1024 * 1024;

/**
 * Changes a file by `edit`, which gets the text, or undefined when there is no file, and prints what changed. A file
 * with nothing to change is not written. `edit` throws an Error for a text that it does not understand; then, and when
 * anything else fails, the file is as it was. A link to a file stays a link.
 */
export async function rewrite(
  path: string,
  edit: (text: string | undefined) => Edit,
  { dryRun, mode = OWNER_ONLY, secret = false }: Rewriting,
): Promise<void> {
  const work = async (): Promise<void> => {
    const target = realpathOf(path);
    const before = statOf(target);
    if (before !== undefined && !before.isFile()) throw new Error(`${path} is no file`);
    const old = before && textOf(target, path, before.size);
    const { text, changes } = edit(old);
    const wanted = secret ? OWNER_ONLY : before === undefined ? mode : before.mode & 0o7777;
    const narrowed = before !== undefined && secret && (before.mode & 0o077) !== 0;
    if (changes.length === 0 && !narrowed) return console.log(`${path}: nothing to change`);
    console.log([path, ...changes, ...(narrowed ? ["+ for its owner alone: mode 0600"] : [])].join("\n  "));
    if (dryRun) return console.error("moorage: a dry run: nothing is written");
    replace(target, text, { mode: wanted, ...(before && { before }), ...(old !== undefined && { old }) });
  };
  if (dryRun) return work();
  mkdirSync(dirname(path), { recursive: true, mode: mode === OWNER_ONLY ? 0o700 : 0o755 });
  await locked(realpathOf(path), work);
}

interface Replacing {
  mode: number;
  /** The file that is there: its owner stays. */
  before?: Stats;
  /** Its text when it was read. */
  old?: string;
}

function replace(target: string, text: string, { mode, before, old }: Replacing): void {
  const draft = `${target}.${process.pid}.${randomBytes(4).toString("hex")}`;
  const descriptor = openSync(draft, "wx", OWNER_ONLY);
  try {
    try {
      if (before && (before.uid !== process.getuid?.() || before.gid !== process.getgid?.()))
        fchownSync(descriptor, before.uid, before.gid);
      fchmodSync(descriptor, mode);
      writeFileSync(descriptor, text);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    // The program that the file belongs to knows nothing of our lock.
    if (before && readFileSync(target, "utf8") !== old)
      throw new Error(`${target} was changed meanwhile: run it again`);
    renameSync(draft, target);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

function textOf(target: string, path: string, size: number): string {
  if (size > MAX_FILE_BYTES) throw new Error(`${path} is larger than 16 MiB: it is left as it is`);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(target));
  } catch (cause) {
    if (cause instanceof TypeError) throw broken(path, "it is no UTF-8 text");
    throw new Error(`cannot read ${path}`, { cause });
  }
}

function realpathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return path;
    throw error;
  }
}

function statOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

/** The error for a file that is there and not understood. */
export function broken(path: string, why: string): Error {
  return new Error(`${path} is damaged, and is left as it is: ${why}`);
}
