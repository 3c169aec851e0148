import { libraryError } from "../http/errors.ts";
import type { ReceivedFile } from "../http/receive.ts";
import { bytesIn, type HandedBytes } from "../reading/hand-over.ts";
import { documentOf, newVersionOf, type NewNpmVersion } from "./document.ts";

// What is read of the documents that clients send: small answers to large documents.

/** A document of `npm publish`, `npm deprecate` or `npm unpublish` as it arrived. `name`: that of the path. */
export interface SentDocument {
  name: string;
  json: HandedBytes;
  /** Of the JSON, in bytes. */
  size: number;
}

/** The tarball that came with a document. @public in the packed package's declarations. */
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
  const versions = Object.entries(read(sent).versions);
  requireFew(versions.length);
  return Object.fromEntries(
    versions.map(([version, { deprecated }]) => [version, typeof deprecated === "string" ? deprecated : ""]),
  );
}

/** The versions that stay, and the tags that they have. Throws 400. */
export function keptVersions(sent: SentDocument): { versions: string[]; tags: Record<string, string> } {
  const { versions, tags } = read(sent);
  const numbers = Object.keys(versions);
  requireFew(numbers.length);
  return { versions: numbers, tags };
}

/** Of a package that is published here: those of npm with the most versions have some thousands. */
const MAX_VERSIONS = 20_000;

function requireFew(versions: number): void {
  if (versions > MAX_VERSIONS) throw libraryError(413, `Invalid argument: versions: may have at most ${MAX_VERSIONS}`);
}

function read({ json, name }: SentDocument): ReturnType<typeof documentOf> {
  return documentOf(bytesIn(json), name);
}
