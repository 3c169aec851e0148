const TAR_BLOCK = 512;
const TYPE_AT = 156;
const SUM_AT = 148;

/** A file of an archive. */
export interface TarFile {
  /** At most 100 characters of ASCII. */
  path: string;
  mode: number;
  content: Buffer;
}

/** The header of a file. Source: POSIX.1, pax, ustar interchange format. */
export function tarHeader({ path, mode, size }: { path: string; mode: number; size: number }): Buffer {
  const bytes = Buffer.alloc(TAR_BLOCK);
  bytes.write(path, 0, "latin1");
  const octal = (value: number, at: number, digits: number): void => {
    bytes.write(value.toString(8).padStart(digits, "0"), at, "latin1");
  };
  octal(mode, 100, 7);
  octal(0, 108, 7);
  octal(0, 116, 7);
  octal(size, 124, 11);
  octal(0, 136, 11);
  bytes.write("0", TYPE_AT, "latin1");
  bytes.write("ustar\u000000", 257, "latin1");
  // The sum is made with the field itself as spaces.
  bytes.write(" ".repeat(8), SUM_AT, "latin1");
  let sum = 0;
  for (const byte of bytes) sum += byte;
  bytes.write(`${sum.toString(8).padStart(6, "0")}\u0000 `, SUM_AT, "latin1");
  return bytes;
}

/** An archive of the files. */
export function tarOf(files: readonly TarFile[]): Buffer<ArrayBuffer> {
  const parts = files.flatMap(({ path, mode, content }) => {
    if (path.length > 100) throw new Error(`${path} is too long for a header`);
    const padding = (TAR_BLOCK - (content.length % TAR_BLOCK)) % TAR_BLOCK;
    return [tarHeader({ path, mode, size: content.length }), content, Buffer.alloc(padding)];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * TAR_BLOCK)]);
}
