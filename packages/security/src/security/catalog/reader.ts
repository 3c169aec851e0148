import type { FoundPackages } from "./budget.ts";
import type { HeldFile } from "./held-file.ts";
import type { Reading } from "./types.ts";

/** Reads one kind of file. */
export interface FileReader {
  /** The name under which findings state their source. */
  name: string;
  /** Whether the file may be of this kind, by its path in the image, its mode and its size in bytes. */
  wants(path: string, file: { mode: number; size: number }): boolean;
  /** Whether it is, by its first bytes (at least 8, or the whole file). Absent when the path is enough. */
  accepts?(head: Buffer): boolean;
  /** The most bytes that it reads; a larger file is named as not read. */
  maxBytes: number;
  /**
   * Adds the packages of the file at the path. When it throws, none of them count, and the file is named as not read.
   */
  read(file: HeldFile, packages: FoundPackages, path: string): Reading | Promise<Reading>;
}
