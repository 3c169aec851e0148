/** Tags of elements in DER. Source: X.690, section 8. */
export const INTEGER = 0x02;
export const NULL = 0x05;
export const OBJECT_IDENTIFIER = 0x06;
export const OCTET_STRING = 0x04;
export const SEQUENCE = 0x30;

/** An element in DER with these contents. */
export function writeDer(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag, ...lengthOf(content.length)]), content]);
}

function lengthOf(length: number): number[] {
  if (length < 0x80) return [length];
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 0x100)) bytes.unshift(rest % 0x100);
  return [0x80 | bytes.length, ...bytes];
}
