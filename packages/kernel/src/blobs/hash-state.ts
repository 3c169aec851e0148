import { createHash } from "node:crypto";
import type { Hash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import type { DigestAlgorithm } from "./blob-store.ts";

const READ_BYTES = 512 * 1024;

/** How many hash states of uploads a store keeps in memory, while no request is writing to them. */
export const MAX_IDLE_HASHES = 1000;

/** A hash over the first `bytes` bytes of an upload. */
export interface HashState {
  algorithm: DigestAlgorithm;
  hash: Hash;
  bytes: number;
}

/** The algorithm of a digest. */
export function algorithmOf(digest: string): DigestAlgorithm {
  return digest.startsWith("sha512:") ? "sha512" : "sha256";
}

export function emptyHash(algorithm: DigestAlgorithm): HashState {
  return { algorithm, hash: createHash(algorithm), bytes: 0 };
}

/** A copy of the state that can be updated without changing the original. */
export function copyHash(state: HashState): HashState {
  return { ...state, hash: state.hash.copy() };
}

/**
 * Hashes a file from its beginning: after a restart, or when the digest has another algorithm than the one hashed so
 * far.
 */
export async function hashFile(file: FileHandle, size: number, algorithm: DigestAlgorithm): Promise<HashState> {
  const state = emptyHash(algorithm);
  const buffer = Buffer.allocUnsafe(Math.max(1, Math.min(READ_BYTES, size)));
  while (state.bytes < size) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, size - state.bytes), state.bytes);
    if (bytesRead === 0) throw new Error("upload file is shorter than its size");
    state.hash.update(buffer.subarray(0, bytesRead));
    state.bytes += bytesRead;
  }
  return state;
}
