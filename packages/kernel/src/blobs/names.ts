import { randomBytes } from "node:crypto";
import { notFound } from "../errors.ts";

const UPLOAD_ID = /^[0-9a-f]{32}$/;
const DIGEST = /^(sha256|sha512):([0-9a-f]{64,128})$/;
const GENERATION = /^[0-9a-f]{16}$/;

export function isUploadId(name: string): boolean {
  return UPLOAD_ID.test(name);
}

/** Returns the id of an upload, of which paths and keys are made. NOT_FOUND unless it is 32 hex characters. */
export function checkedUploadId(id: string): string {
  if (!isUploadId(id)) throw notFound("Upload", id);
  return id;
}

/** NOT_FOUND unless the digest is one that content can be stored under. */
export function requireBlobName(digest: string): void {
  blobName(digest, newGeneration());
}

/** A generation that no blob has yet: 16 hex characters. */
export function newGeneration(): string {
  return randomBytes(8).toString("hex");
}

/**
 * Where a generation of a blob is stored: its folder `sha256/9f`, by the first two characters of the hex, and its name
 * `<hex>.<generation>` in that folder. NOT_FOUND when digest or generation is none.
 */
export function blobName(digest: string, generation: string): { folder: string; name: string } {
  const [, algorithm, hex] = DIGEST.exec(digest) ?? [];
  if (!algorithm || !hex || !GENERATION.test(generation)) throw notFound("Blob", digest);
  return { folder: `${algorithm}/${hex.slice(0, 2)}`, name: `${hex}.${generation}` };
}
