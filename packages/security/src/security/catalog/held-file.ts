import { closeSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";

/** Up to this size a file is held in memory, in bytes. Larger ones are written to the folder for temporary files. */
const IN_MEMORY_BYTES = 8 * 1024 * 1024;

/** The folder for temporary files cannot be written, which says nothing of the image. */
export class TempFolderError extends Error {}

/** The folder for temporary files. Names of files in it are numbers: nothing of an image decides them. */
export class TempFolder {
  readonly #folder: string;
  #next = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  newPath(): string {
    return join(this.#folder, String(this.#next++));
  }
}

/** One file of a layer, whose bytes are written once and then read at any place. */
export class HeldFile {
  readonly #temp: TempFolder;
  #chunks: Buffer[] = [];
  #path: string | undefined;
  #fd: number | undefined;
  #size = 0;

  constructor(temp: TempFolder) {
    this.#temp = temp;
  }

  get size(): number {
    return this.#size;
  }

  /** Adds bytes at the end; they are copied. */
  write(chunk: Uint8Array): void {
    this.#size += chunk.length;
    if (this.#fd === undefined && this.#size <= IN_MEMORY_BYTES) this.#chunks.push(Buffer.from(chunk));
    else writeAll(this.#file(), chunk);
  }

  /** The bytes from `offset`, fewer than `length` at the end of the file. */
  bytes(offset: number, length: number): Buffer {
    const wanted = Math.max(0, Math.min(length, this.#size - offset));
    if (this.#fd === undefined) {
      const whole = this.whole();
      return whole.subarray(offset, offset + wanted);
    }
    const buffer = Buffer.alloc(wanted);
    let done = 0;
    while (done < wanted) {
      const count = readSync(this.#fd, buffer, done, wanted - done, offset + done);
      if (count === 0) break;
      done += count;
    }
    return buffer.subarray(0, done);
  }

  /** All of it. Readers bound the size of files that they read in one piece. */
  whole(): Buffer {
    if (this.#fd !== undefined) return this.bytes(0, this.#size);
    if (this.#chunks.length !== 1) this.#chunks = [Buffer.concat(this.#chunks)];
    return this.#chunks[0] ?? Buffer.alloc(0);
  }

  text(): string {
    return this.whole().toString("utf8");
  }

  /** A path at which the file lies, for what opens files by itself. */
  path(): string {
    this.#file();
    return this.#path ?? "";
  }

  /** A new file in the same folder. */
  another(): HeldFile {
    return new HeldFile(this.#temp);
  }

  /** Removes it. */
  release(): void {
    this.#chunks = [];
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
    if (this.#path !== undefined) rmSync(this.#path, { force: true });
    this.#path = undefined;
  }

  #file(): number {
    if (this.#fd !== undefined) return this.#fd;
    this.#path = this.#temp.newPath();
    try {
      this.#fd = openSync(this.#path, "wx+", 0o600);
    } catch (error) {
      throw notWritten(error);
    }
    for (const chunk of this.#chunks) writeAll(this.#fd, chunk);
    this.#chunks = [];
    return this.#fd;
  }
}

function writeAll(fd: number, chunk: Uint8Array): void {
  try {
    for (let at = 0; at < chunk.length;) at += writeSync(fd, chunk, at);
  } catch (error) {
    throw notWritten(error);
  }
}

function notWritten(cause: unknown): TempFolderError {
  return new TempFolderError(`the folder for temporary files cannot be written: ${(cause as Error).message}`, {
    cause,
  });
}
