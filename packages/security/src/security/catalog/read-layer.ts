import { Parser, type ReadEntry } from "tar";
import { HeldFile, type TempFolder, TempFolderError } from "./held-file.ts";
import { cleanPath, LayerChanges, type MergedFiles } from "./merged-files.ts";
import { countLinked, FoundPackages, type ReadingBudget } from "./budget.ts";
import { FILE_READERS } from "./readers/index.ts";
import { unpacked } from "./unpack.ts";
import { CatalogError, type Layer, type Reading, type Unread } from "./types.ts";
import type { FileReader } from "./reader.ts";

/** What reading a layer needs to know. */
export interface LayerContext {
  temp: TempFolder;
  /** That of the image. */
  budget: ReadingBudget;
  signal: AbortSignal;
  below: MergedFiles;
  /** Called for what was seen and not read. */
  unread(file: Unread): void;
}

/** Paths that are longer or deeper do not occur in real images; they are ignored. */
const MAX_PATH = 4_096;
const MAX_DEPTH = 128;

/** The first bytes by which a reader recognizes its file. */
const HEAD_BYTES = 8;

/** What may follow the end of an archive, such as padding, before reading stops. */
const MAX_AFTER_END_BYTES = 1024 * 1024;

/** Hard links of one layer to files that readers want; further ones are named as not read. */
const MAX_LINKS = 100_000;

/** A hard link says nothing of the mode and the size of its target. */
const LINKED = { mode: 0o755, size: 1024 };

interface Wanted {
  path: string;
  reader: FileReader;
  file: HeldFile;
}

/**
 * Reads one layer to its end and answers what it changes. One file is held at a time, and the small ones that end in
 * the same piece of the archive. Throws CatalogError when the layer is damaged or a limit is exceeded.
 */
export async function readLayer(layer: Layer, context: LayerContext): Promise<LayerChanges> {
  const { budget, signal, temp } = context;
  const changes = new LayerChanges(context.below);
  const complete: Wanted[] = [];
  const links: [string, string][] = [];
  let open: Wanted | undefined;
  let fault: CatalogError | undefined;
  let ended = false;
  let afterEnd = 0;
  const parser = new Parser({
    filter: (_path, entry) => isWanted(entry as ReadEntry),
    onReadEntry: (entry) => collect(entry),
    onwarn: (code, message) => {
      if (code === "TAR_BAD_ARCHIVE" || (!ended && String(message).includes("checksum failure")))
        fault ??= new CatalogError(`layer ${layer.digest} is no tar archive, or is damaged`);
    },
  });
  parser.on("eof", () => (ended = true));
  let next: { path: string; reader: FileReader } | undefined;

  function isWanted(entry: ReadEntry): boolean {
    next = undefined;
    if (!counts(() => budget.enter())) return false;
    const path = entry.path.length > MAX_PATH ? undefined : cleanPath(entry.path);
    if (path === undefined || path === "" || path.split("/", MAX_DEPTH + 1).length > MAX_DEPTH) return false;
    if (!changes.see(path, entry.type === "Directory")) return false;
    if (entry.type === "Link") noteLink(path, entry.linkpath ?? "");
    if (entry.type !== "File" && entry.type !== "OldFile" && entry.type !== "ContiguousFile") return false;
    const file = { mode: entry.mode ?? 0, size: entry.size };
    const reader = wantedBy(path, file);
    if (reader === undefined) return false;
    if (file.size > reader.maxBytes) {
      context.unread({ path, layer: layer.digest, reason: `it has more than ${reader.maxBytes} bytes` });
      return false;
    }
    next = { path, reader };
    return true;
  }

  /** Whether that is within the limits. The parser of archives takes no errors from here. */
  function counts(count: () => void): boolean {
    try {
      if (fault === undefined) count();
    } catch (error) {
      fault ??= error as CatalogError;
    }
    return fault === undefined;
  }

  function noteLink(path: string, linkpath: string): void {
    const target = linkpath.length > MAX_PATH ? undefined : cleanPath(linkpath);
    if (target === undefined || target === "" || wantedBy(path, LINKED) === undefined) return;
    if (links.length === MAX_LINKS)
      context.unread({
        path,
        layer: layer.digest,
        reason: `more than ${MAX_LINKS} hard links precede it in its layer`,
      });
    else if (counts(() => budget.hold(path.length + target.length))) links.push([path, target]);
  }

  /**
   * A hard link has no content of its own; it holds what its target holds, which lies before it or below. Its packages
   * count like those of any file.
   */
  function follow([path, target]: readonly [string, string]): void {
    const record = changes.added.get(target) ?? (changes.hides(target) ? undefined : context.below.files.get(target));
    if (record === undefined || changes.added.has(path)) return;
    countLinked(budget, path, record.packages);
    changes.added.set(path, { ...record, packages: record.packages.map((each) => ({ ...each, layer: layer.digest })) });
  }

  function collect(entry: ReadEntry): void {
    if (next === undefined) return void entry.resume();
    const wanted: Wanted = { ...next, file: new HeldFile(temp) };
    open = wanted;
    let head: Buffer | undefined = Buffer.alloc(0);
    let isRejected = false;
    const decide = (): void => {
      isRejected = wanted.reader.accepts?.(head ?? Buffer.alloc(0)) === false;
      if (!isRejected && head !== undefined) wanted.file.write(head);
      head = undefined;
    };
    entry.on("data", (chunk: Buffer) => {
      if (head !== undefined) {
        head = Buffer.concat([head, chunk]);
        if (head.length >= HEAD_BYTES) decide();
      } else if (!isRejected) wanted.file.write(chunk);
    });
    entry.on("end", () => {
      if (head !== undefined) decide();
      open = undefined;
      if (isRejected) wanted.file.release();
      else complete.push(wanted);
    });
  }

  async function finish(wanted: Wanted): Promise<void> {
    const { path, reader, file } = wanted;
    try {
      const found = new FoundPackages(budget, path);
      const { os, unread } = await readFile(wanted, found);
      if (unread !== undefined) context.unread({ path, layer: layer.digest, reason: unread });
      else if (found.leftOut > 0) context.unread({ path, layer: layer.digest, reason: leftOut(found.leftOut) });
      if (found.list.length === 0 && os === undefined) return;
      const packages = found.list.map((each) => ({ ...each, layer: layer.digest }));
      changes.added.set(path, { reader: reader.name, packages, os });
    } finally {
      file.release();
    }
  }

  try {
    for await (const chunk of unpacked(layer.open())) {
      signal.throwIfAborted();
      budget.unpack(chunk.length);
      if (ended) afterEnd += chunk.length;
      if (afterEnd > MAX_AFTER_END_BYTES) break;
      if (!ended) parser.write(chunk);
      if (fault !== undefined) throw fault;
      for (let wanted = complete.shift(); wanted !== undefined; wanted = complete.shift()) await finish(wanted);
    }
    parser.end();
    if (fault !== undefined) throw fault;
    for (let wanted = complete.shift(); wanted !== undefined; wanted = complete.shift()) await finish(wanted);
    links.forEach(follow);
  } finally {
    open?.file.release();
    for (const { file } of complete) file.release();
  }
  return changes;
}

function wantedBy(path: string, file: { mode: number; size: number }): FileReader | undefined {
  return FILE_READERS.find((each) => each.wants(path, file));
}

/** Why packages of a file do not count. */
export function leftOut(count: number): string {
  return `${count} packages in it are left out: they have names or versions that no package has`;
}

/** A file that is not what its reader takes it for is no reason to fail: it is named as not read. */
async function readFile({ reader, file, path }: Wanted, packages: FoundPackages): Promise<Reading> {
  try {
    return await reader.read(file, packages, path);
  } catch (error) {
    if (error instanceof CatalogError || error instanceof TempFolderError) throw error;
    packages.list.length = 0;
    return { unread: `it cannot be read: ${(error as Error).message.slice(0, 200)}` };
  }
}
