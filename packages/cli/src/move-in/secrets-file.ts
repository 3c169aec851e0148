// The file for the new passwords: it must be new, and is its owner's alone.
import { type FileHandle, open } from "node:fs/promises";
import { UsageFailure } from "../command/failure.ts";

/** Takes passwords, each on the disk before the next. */
export interface SecretsFile {
  add(secret: object): Promise<void>;
  close(): Promise<void>;
}

/** Makes the file. Throws a UsageFailure when it is there. */
export async function openSecretsFile(file: string): Promise<SecretsFile> {
  let handle: FileHandle;
  try {
    handle = await open(file, "wx", 0o600);
  } catch (cause) {
    const isThere = (cause as NodeJS.ErrnoException).code === "EEXIST";
    const why = isThere ? "is there already, and must be new" : `cannot be made: ${(cause as Error).message}`;
    throw new UsageFailure(`--secrets: ${file} ${why}`, { cause });
  }
  return {
    async add(secret) {
      await handle.write(`${JSON.stringify(secret)}\n`);
      await handle.sync();
    },
    close: () => handle.close(),
  };
}
