import { crc32, deflateRawSync } from "node:zlib";
import { Header } from "tar";

/** An entry of a tar archive; a file by default. */
export interface TarEntry {
  path: string;
  content?: string | Uint8Array;
  type?: "File" | "Directory" | "SymbolicLink" | "Link" | "CharacterDevice" | "FIFO" | "ExtendedHeader";
  mode?: number;
  linkpath?: string;
}

const BLOCK = 512;

/** A tar archive without its end. */
export function tarPart(entries: readonly TarEntry[]): Buffer {
  return Buffer.concat(
    entries.flatMap(({ path, content = "", type = "File", mode = 0o644, linkpath }) => {
      if (path.length > 100) return [tarPart([longPath(path)]), tarPart([{ path: "long", content, type, mode }])];
      const body = Buffer.from(content as Uint8Array);
      const block = Buffer.alloc(BLOCK);
      const header = new Header({
        path,
        mode,
        size: body.length,
        type,
        ...(linkpath === undefined ? {} : { linkpath }),
      });
      header.encode(block);
      return [block, body, Buffer.alloc((BLOCK - (body.length % BLOCK)) % BLOCK)];
    }),
  );
}

/** The header of POSIX that gives the next entry its path: a record of which the first number is its own length. */
function longPath(path: string): TarEntry {
  const record = ` path=${path}\n`;
  const length = [1, 2, 3, 4, 5].map((digits) => digits + record.length).find((all, n) => String(all).length === n + 1);
  return { path: "PaxHeader", type: "ExtendedHeader", content: `${length}${record}` };
}

/** A whole tar archive. */
export function tarOf(entries: readonly TarEntry[]): Buffer {
  return Buffer.concat([tarPart(entries), Buffer.alloc(2 * BLOCK)]);
}

/** A zip archive, whose entries are packed. */
export function zipOf(entries: Readonly<Record<string, string | Uint8Array>>): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, value] of Object.entries(entries)) {
    const body = Buffer.from(value as Uint8Array);
    const packed = deflateRawSync(body);
    const title = Buffer.from(name);
    // From "version needed" to "extra field length", which both records have.
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(crc32(body), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(body.length, 18);
    common.writeUInt16LE(title.length, 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), common, title, packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\x00"), common, rest, title]));
    parts.push(local);
    offset += local.length;
  }
  const end = Buffer.alloc(18);
  end.writeUInt16LE(parts.length, 4);
  end.writeUInt16LE(parts.length, 6);
  end.writeUInt32LE(Buffer.concat(directory).length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, ...directory, Buffer.from("PK\x05\x06"), end]);
}
