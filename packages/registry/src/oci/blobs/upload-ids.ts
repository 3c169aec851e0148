import { randomBytes } from "node:crypto";
import { openText, sealText } from "@moorage/kernel/aip/page-token";

/** Whose upload it is: the uids of the repo and of the identity. */
export interface UploadOwner {
  repo: string;
  identity: string;
}

const TIME_BYTES = 6;
const RANDOM_BYTES = 10;
const MAX_LENGTH = 64;

/**
 * A new upload, as the blob store and the database name it: 32 hex characters, of which the first say when it began, so
 * that they are in the order of time.
 */
export function newUpload(nowMs: number): string {
  const bytes = Buffer.alloc(TIME_BYTES + RANDOM_BYTES);
  bytes.writeUIntBE(nowMs, 0, TIME_BYTES);
  randomBytes(RANDOM_BYTES).copy(bytes, TIME_BYTES);
  return bytes.toString("hex");
}

/** When an upload began, in milliseconds since 1970. */
export function beginningOf(upload: string): number {
  return Number.parseInt(upload.slice(0, 2 * TIME_BYTES), 16);
}

/** Every upload that began before has a smaller name than this, and every later one a larger. */
export function uploadsBefore(timeMs: number): string {
  return Math.max(0, timeMs)
    .toString(16)
    .padStart(2 * TIME_BYTES, "0");
}

/** The id of an upload for its client: it is accepted of this owner alone, and nothing need be stored of it. */
export function signUpload(key: Uint8Array, upload: string, owner: UploadOwner): string {
  return sealText(key, Buffer.from(upload, "hex"), purposeOf(owner));
}

/** The upload of an id that `signUpload` made for this owner. Undefined for any other text. */
export function openUpload(key: Uint8Array, id: string, owner: UploadOwner): string | undefined {
  return openText(key, id, MAX_LENGTH, purposeOf(owner))?.toString("hex");
}

function purposeOf({ repo, identity }: UploadOwner): Buffer {
  return Buffer.from(`upload\n${repo}\n${identity}\n`);
}
