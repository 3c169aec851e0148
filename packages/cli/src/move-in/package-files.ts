// What sources of packages send as a whole: files, and packuments of npm.
import { jsonOf, type SourceClient } from "./client.ts";
import { SourceError } from "./source-error.ts";

const MAX_FILE_BYTES = 256 << 20;
const FILE_TIMEOUT_MS = 10 * 60_000;
const MAX_PACKUMENT_BYTES = 32 << 20;

/** The bytes of a file, at most 256 MiB. Throws a SourceError when it is not there. */
export async function fileFrom(client: SourceClient, path: string): Promise<Uint8Array[]> {
  const found = await client.chunks(path, { accept: "*/*", maxBytes: MAX_FILE_BYTES, timeoutMs: FILE_TIMEOUT_MS });
  if (found === undefined) throw new SourceError("its file is not there");
  return found;
}

/** A packument as JSON, at most 32 MiB; undefined for a package that is not there. */
export async function packumentFrom(client: SourceClient, path: string): Promise<unknown> {
  const answer = await client.ask(path, { maxBytes: MAX_PACKUMENT_BYTES });
  return answer.status === 404 ? undefined : jsonOf(answer);
}
