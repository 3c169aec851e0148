const STEP_BYTES = 256 * 1024;

/** The bytes in parts of which each is written in one step. */
export function* steps(bytes: Uint8Array): Generator<Uint8Array, void, undefined> {
  for (let at = 0; at < bytes.length; at += STEP_BYTES) yield bytes.subarray(at, at + STEP_BYTES);
}
