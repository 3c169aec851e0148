import type { HeldFile } from "../held-file.ts";

/** A table or an index, as the file describes it: `type`, `name` and `sql` as in sqlite_schema. */
export interface SqliteObject {
  type: string;
  name: string;
  sql: string;
  rootPage: number;
}

/** A database file of SQLite, of which only stored records are looked at: no SQL of it is ever run or parsed. */
export interface SqliteFile {
  /** What sqlite_schema holds. */
  objects(): Generator<SqliteObject>;
  /** The second column of a table's rows, in the order of their keys. Throws at rows of more than `maxRowBytes`. */
  secondColumn(rootPage: number, maxRowBytes: number): Generator<Buffer>;
}

const MAGIC = "SQLite format 3\0";
const HEADER_BYTES = 100;
const UTF8 = 1;
const LEAF = 0x0d;
const INTERIOR = 0x05;
/** What SQLite itself allows. */
const MAX_DEPTH = 20;
const MAX_SCHEMA_ROW_BYTES = 64 * 1024;
const damaged = (): Error => new Error("the database is damaged");

/**
 * Opens a database that nobody vouches for. Each page is read once at most, so that no arrangement of pages takes
 * longer than the length of the file allows. Throws when it is none. Source: SQLite, "Database File Format".
 */
export function openSqliteFile(file: HeldFile): SqliteFile {
  const head = file.bytes(0, HEADER_BYTES);
  if (head.length < HEADER_BYTES || head.toString("latin1", 0, 16) !== MAGIC)
    throw new Error("it is no database of SQLite");
  if (head.readUInt32BE(56) > UTF8) throw new Error("the texts of the database are not UTF-8");
  const stated = head.readUInt16BE(16);
  const pageBytes = stated === 1 ? 65_536 : stated;
  const usable = pageBytes - (head[20] ?? 0);
  if (pageBytes < 512 || (pageBytes & (pageBytes - 1)) !== 0 || usable < 480) throw damaged();
  const seen = new Set<number>();

  function page(number: number): Buffer {
    if (number < 1 || seen.has(number)) throw damaged();
    seen.add(number);
    const bytes = file.bytes((number - 1) * pageBytes, pageBytes);
    if (bytes.length < pageBytes) throw new Error("the database is shorter than it says");
    return bytes;
  }

  function* rows(number: number, maxRowBytes: number, depth: number): Generator<Buffer> {
    const bytes = page(number);
    const at = number === 1 ? HEADER_BYTES : 0;
    const type = bytes[at];
    if (depth > MAX_DEPTH || (type !== LEAF && type !== INTERIOR)) throw damaged();
    const cells = bytes.readUInt16BE(at + 3);
    const pointers = at + (type === LEAF ? 8 : 12);
    for (let n = 0; n < cells; n++) {
      const cell = bytes.readUInt16BE(pointers + 2 * n);
      if (type === LEAF) yield payload(bytes, cell, maxRowBytes);
      else yield* rows(bytes.readUInt32BE(cell), maxRowBytes, depth + 1);
    }
    if (type === INTERIOR) yield* rows(bytes.readUInt32BE(at + 8), maxRowBytes, depth + 1);
  }

  /** A record: what of it is in the cell, and the rest in a chain of pages. */
  function payload(bytes: Buffer, cell: number, maxRowBytes: number): Buffer {
    const length = varint(bytes, cell);
    const start = varint(bytes, length.end).end;
    if (length.value > maxRowBytes) throw new Error(`a row has more than ${maxRowBytes} bytes`);
    const most = usable - 35;
    const least = Math.floor(((usable - 12) * 32) / 255) - 23;
    const fitting = least + ((length.value - least) % (usable - 4));
    const local = length.value <= most ? length.value : fitting <= most ? fitting : least;
    if (start + local > usable) throw damaged();
    const parts = [bytes.subarray(start, start + local)];
    let missing = length.value - local;
    let next = missing > 0 ? bytes.readUInt32BE(start + local) : 0;
    while (missing > 0) {
      const more = page(next);
      next = more.readUInt32BE(0);
      const part = more.subarray(4, Math.min(usable, 4 + missing));
      parts.push(part);
      missing -= part.length;
    }
    return parts.length === 1 ? (parts[0] ?? Buffer.alloc(0)) : Buffer.concat(parts);
  }

  return {
    *objects() {
      for (const record of rows(1, MAX_SCHEMA_ROW_BYTES, 0)) {
        const [type, name, , rootPage, sql] = columns(record, 5);
        yield {
          type: textOf(type),
          name: textOf(name),
          rootPage: rootPage === undefined || rootPage.isText ? 0 : numberOf(rootPage.bytes),
          sql: textOf(sql),
        };
      }
    },
    *secondColumn(rootPage, maxRowBytes) {
      for (const record of rows(rootPage, maxRowBytes, 0)) {
        const [, column] = columns(record, 2);
        if (column !== undefined) yield column.bytes;
      }
    },
  };
}

interface Column {
  bytes: Buffer;
  isText: boolean;
}

/** The bytes of a record's first columns. Those that are NULL, or a constant of their type, have none. */
function columns(record: Buffer, count: number): Column[] {
  const head = varint(record, 0);
  let at = head.end;
  let place = head.value;
  const found: Column[] = [];
  while (at < head.value && found.length < count) {
    const type = varint(record, at);
    at = type.end;
    const length = type.value >= 12 ? (type.value - 12 - (type.value % 2)) / 2 : (NUMBER_BYTES[type.value] ?? 0);
    if (place + length > record.length) throw damaged();
    found.push({ bytes: record.subarray(place, place + length), isText: type.value >= 13 && type.value % 2 === 1 });
    place += length;
  }
  return found;
}

/** The lengths of the types 0 to 11. */
const NUMBER_BYTES = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0];

function textOf(column: Column | undefined): string {
  return column?.isText === true ? column.bytes.toString("utf8") : "";
}

function numberOf(bytes: Buffer): number {
  return bytes.length === 0 || bytes.length > 6 ? 0 : bytes.readUIntBE(0, bytes.length);
}

/** A number of up to 9 bytes, the highest first, and where it ends. */
function varint(bytes: Buffer, from: number): { value: number; end: number } {
  let value = 0;
  for (let n = 0; n < 8; n++) {
    const byte = bytes[from + n];
    if (byte === undefined) throw damaged();
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) return { value, end: from + n + 1 };
  }
  const last = bytes[from + 8];
  if (last === undefined) throw damaged();
  return { value: value * 256 + last, end: from + 9 };
}
