import type { ReceivedFile } from "../http/receive.ts";
import { documentOf, newVersionOf, type NewNpmVersion } from "./document.ts";

// What is read of the documents that clients send: small answers to large documents.

/** A document of `npm publish`, `npm deprecate` or `npm unpublish` as it arrived. `name`: that of the path. */
export interface SentDocument {
  name: string;
  json: Uint8Array;
}

/** The tarball that came with a document. */
export interface SentTarball {
  name: string;
  file: Pick<ReceivedFile, "sha1" | "sha512">;
}

/** The version that is published, and the tags that it gets. Throws 400 and 413. */
export function publishedVersion({ tarball, ...sent }: SentDocument & { tarball: SentTarball }): {
  version: NewNpmVersion;
  tags: Record<string, string>;
} {
  const document = read(sent);
  return { version: newVersionOf(document, tarball), tags: document.tags };
}

/** Why each version is deprecated, empty for one that is not. Throws 400. */
export function deprecationsIn(sent: SentDocument): Record<string, string> {
  return Object.fromEntries(
    Object.entries(read(sent).versions).map(([version, { deprecated }]) => [
      version,
      typeof deprecated === "string" ? deprecated : "",
    ]),
  );
}

/** The versions that stay, and the tags that they have. Throws 400. */
export function keptVersions(sent: SentDocument): { versions: string[]; tags: Record<string, string> } {
  const { versions, tags } = read(sent);
  return { versions: Object.keys(versions), tags };
}

function read({ json, name }: SentDocument): ReturnType<typeof documentOf> {
  return documentOf(Buffer.from(json.buffer, json.byteOffset, json.length), name);
}
