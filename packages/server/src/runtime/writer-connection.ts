import { type FileIdentity, openWriter, type OpenWriter, requireSameFile, sqliteMeaning } from "@moorage/kernel/store";

/** The connection of the writer thread, which is opened again after faults of the disk. */
export interface WriterConnection {
  /**
   * The open connection. Throws the fault when the file cannot be opened, or its path leads to no file or to another.
   */
  current(): OpenWriter;
  /** Notes a fault of the disk: a connection may keep what it met, such as that the file is read-only. */
  failed(): void;
  close(): void;
}

const REOPEN_EVERY_MS = 1_000;

/** `identity`: of the file as it was when the server started. */
export function writerConnection(path: string, identity: FileIdentity): WriterConnection {
  let opened: OpenWriter | undefined;
  let openedMs = -Infinity;
  let isSuspect = false;
  const close = (): void => {
    try {
      opened?.raw.close();
    } catch {
      // The errors of its transactions have been answered.
    }
    opened = undefined;
  };
  return {
    current() {
      requireSameFile(path, identity);
      if (isSuspect && performance.now() - openedMs > REOPEN_EVERY_MS) close();
      if (opened !== undefined) return opened;
      try {
        opened = openWriter(path, { waits: false });
      } catch (error) {
        throw sqliteMeaning(error, path);
      }
      openedMs = performance.now();
      isSuspect = false;
      return opened;
    },
    failed() {
      isSuspect = true;
    },
    close,
  };
}
