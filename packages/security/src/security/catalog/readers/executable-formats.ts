import type { HeldFile } from "../held-file.ts";

/** A part of a program: where it is loaded, and where in the file it lies. */
interface Section {
  name: string;
  address: number;
  offset: number;
  size: number;
}

/** A program of ELF, Mach-O or PE, as far as readers need it. */
export interface Program {
  isBigEndian: boolean;
  sections: readonly Section[];
  /** What is loaded as initialized data that the program may write. */
  data: Section | undefined;
  /** The bytes of the file, fewer at its end. */
  bytes(offset: number, length: number): Buffer;
  /** The bytes that are loaded at an address; empty where nothing is. */
  loaded(address: number, length: number): Buffer;
}

const MAX_SECTIONS = 2_000;
const MAX_NAMES_BYTES = 1024 * 1024;

/** Undefined for a file that is none of these. Throws when it is damaged. */
export function openExecutable(file: HeldFile): Program | undefined {
  const magic = file.bytes(0, 4).toString("hex");
  if (magic === "7f454c46") return elf(file);
  if (magic.startsWith("4d5a")) return portable(file);
  if (magic === "cafebabe") {
    // Several architectures in one file; what was compiled in is the same. A class file of Java has the same magic.
    const head = file.bytes(0, 28);
    return head.readUInt32BE(4) > 32 ? undefined : mach(file, head.readUInt32BE(16));
  }
  return mach(file, 0);
}

function program(
  file: HeldFile,
  base: number,
  parts: { isBigEndian: boolean; sections: Section[]; segments: Section[]; data: Section | undefined },
): Program {
  const bytes = (offset: number, length: number): Buffer => file.bytes(base + offset, length);
  return {
    ...parts,
    bytes,
    loaded(address, length) {
      const part = parts.segments.find((each) => address >= each.address && address < each.address + each.size);
      if (part === undefined) return Buffer.alloc(0);
      const at = address - part.address;
      return bytes(part.offset + at, Math.min(length, part.size - at));
    },
  };
}

/** Reads numbers of either order and of 32 or 64 bits. */
function numbers(isBigEndian: boolean): Record<"u16" | "u32" | "u64", (buffer: Buffer, at: number) => number> {
  return {
    u16: (buffer, at) => (isBigEndian ? buffer.readUInt16BE(at) : buffer.readUInt16LE(at)),
    u32: (buffer, at) => (isBigEndian ? buffer.readUInt32BE(at) : buffer.readUInt32LE(at)),
    u64: (buffer, at) => Number(isBigEndian ? buffer.readBigUInt64BE(at) : buffer.readBigUInt64LE(at)),
  };
}

/** Names of sections that readers look for are shorter; each of thousands could be a megabyte. */
const MAX_NAME = 64;

function cString(buffer: Buffer, at: number): string {
  const part = buffer.subarray(at, at + MAX_NAME);
  const end = part.indexOf(0);
  return part.toString("latin1", 0, end < 0 ? part.length : end);
}

/** Source: System V ABI, chapters 4 and 5. */
function elf(file: HeldFile): Program {
  const head = file.bytes(0, 64);
  const is64 = head[4] === 2;
  const isBigEndian = head[5] === 2;
  const { u16, u32, u64 } = numbers(isBigEndian);
  const word = is64 ? u64 : u32;
  const field = (buffer: Buffer, at32: number, at64: number): number => word(buffer, is64 ? at64 : at32);
  const table = (offset: number, size: number, count: number): Buffer[] => {
    if (count > MAX_SECTIONS || size < (is64 ? 56 : 32)) return [];
    const all = file.bytes(offset, size * count);
    return Array.from({ length: Math.floor(all.length / size) }, (_, n) => all.subarray(n * size, (n + 1) * size));
  };
  const counts = is64 ? 54 : 42;
  const segments = table(field(head, 28, 32), u16(head, counts), u16(head, counts + 2))
    .filter((row) => u32(row, 0) === 1)
    .map((row) => ({
      name: "",
      flags: u32(row, is64 ? 4 : 24),
      offset: field(row, 4, 8),
      address: field(row, 8, 16),
      size: field(row, 16, 32),
    }));
  const rows = table(field(head, 32, 40), u16(head, counts + 4), u16(head, counts + 6)).filter(
    (row) => row.length >= (is64 ? 64 : 40),
  );
  const named = rows[u16(head, counts + 8)];
  const names =
    named === undefined
      ? Buffer.alloc(0)
      : file.bytes(field(named, 16, 24), Math.min(MAX_NAMES_BYTES, field(named, 20, 32)));
  const sections = rows.map((row) => ({
    name: cString(names, Math.min(u32(row, 0), names.length)),
    address: field(row, 12, 16),
    offset: field(row, 16, 24),
    size: u32(row, 4) === 8 ? 0 : field(row, 20, 32),
  }));
  // Writable, and not to be run.
  const data = segments.find(({ flags }) => (flags & 3) === 2);
  return program(file, 0, { isBigEndian, sections, segments, data });
}

/** Source: Microsoft, PE Format. */
function portable(file: HeldFile): Program | undefined {
  const at = file.bytes(0x3c, 4).readUInt32LE(0);
  const head = file.bytes(at, 24);
  if (head.length < 24 || head.toString("latin1", 0, 4) !== "PE\0\0") return undefined;
  const optional = file.bytes(at + 24, head.readUInt16LE(20));
  const base = optional.readUInt16LE(0) === 0x20b ? Number(optional.readBigUInt64LE(24)) : optional.readUInt32LE(28);
  const rows = file.bytes(at + 24 + optional.length, 40 * Math.min(MAX_SECTIONS, head.readUInt16LE(6)));
  const sections = Array.from({ length: Math.floor(rows.length / 40) }, (_, n) => {
    const row = rows.subarray(n * 40, n * 40 + 40);
    return {
      name: cString(row.subarray(0, 8), 0),
      address: base + row.readUInt32LE(12),
      size: row.readUInt32LE(16),
      offset: row.readUInt32LE(20),
      flags: row.readUInt32LE(36),
    };
  });
  // Initialized data, readable and writable.
  const data = sections.find(({ flags, size }) => size > 0 && (flags & 0x4000_0040) !== 0 && flags >>> 31 === 1);
  return program(file, 0, { isBigEndian: false, sections, segments: sections, data });
}

/** Source: Apple, mach-o/loader.h. */
function mach(file: HeldFile, base: number): Program | undefined {
  const head = file.bytes(base, 32);
  const magic = head.toString("hex", 0, 4);
  const isBigEndian = magic.startsWith("feedfa");
  const is64 = magic === "feedfacf" || magic === "cffaedfe";
  if (!is64 && magic !== "feedface" && magic !== "cefaedfe") return undefined;
  const { u32, u64 } = numbers(isBigEndian);
  const word = is64 ? u64 : u32;
  const commands = file.bytes(base + (is64 ? 32 : 28), Math.min(MAX_NAMES_BYTES, u32(head, 20)));
  const segments: Section[] = [];
  const sections: Section[] = [];
  for (let at = 0, n = u32(head, 16); n > 0 && at + 8 <= commands.length; n--) {
    const size = u32(commands, at + 4);
    if (size < 8 || at + size > commands.length || sections.length > MAX_SECTIONS) break;
    const command = commands.subarray(at, at + size);
    at += size;
    if (u32(command, 0) !== (is64 ? 0x19 : 1)) continue;
    const step = is64 ? 8 : 4;
    const segment = { name: cString(command.subarray(8, 24), 0), address: word(command, 24) };
    segments.push({ ...segment, offset: word(command, 24 + 2 * step), size: word(command, 24 + 3 * step) });
    const length = is64 ? 80 : 68;
    for (let row = is64 ? 72 : 56; row + length <= command.length; row += length)
      sections.push({
        name: cString(command.subarray(row, row + 16), 0),
        address: word(command, row + 32),
        size: word(command, row + 32 + step),
        offset: u32(command, row + 32 + 2 * step),
      });
  }
  const data = segments.find(({ name }) => name === "__DATA");
  return program(file, base, { isBigEndian, sections, segments, data });
}
