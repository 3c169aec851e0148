// Small byte arrays that cross to another thread cost 20 µs each, as every one gets a memory of its own there; a string
// of as many characters costs one.

/** The bytes as a string, a character each. */
export function packed(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

/** The opposite of packed. */
export function unpacked(text: string): Uint8Array {
  return Buffer.from(text, "latin1");
}
