import type { FoundPackage } from "../types.ts";
import type { Program } from "./executable-formats.ts";
import { linesOf } from "./lines.ts";

const MAGIC = Buffer.from("\xff Go buildinf:", "latin1");
const HEADER_BYTES = 32;
const SECTIONS = new Set([".go.buildinfo", "__go_buildinfo"]);
/** How far the program's data is searched where no section says where the build information is. */
const MAX_SEARCHED_BYTES = 64 * 1024 * 1024;
const PIECE_BYTES = 1024 * 1024;
const MAX_TEXT_BYTES = 16 * 1024 * 1024;
const MARK_BYTES = 16;
/** Of a line: what it says, the path of a module, its version, its hash. */
const MAX_FIELDS = 4;

/** The modules that a Go program was built of, and the standard library. Source: Go, debug/buildinfo. */
export function* goModules(program: Program): Generator<FoundPackage> {
  const at = find(program);
  if (at === undefined) return;
  const { version, modules } = readInfo(program, at);
  // `go1.22.3 X:experiment`: the first word is the release. What was built from a development tree has none.
  const release = /^go(\d[\w.]*)/.exec(version)?.[1];
  if (release !== undefined) yield { type: "golang", name: "stdlib", version: release };
  let last: string[] | undefined;
  for (const line of linesOf(modules)) {
    const [kind, ...fields] = line.split("\t", MAX_FIELDS);
    // A replacement is what was compiled in; a folder that replaces a module has no version.
    if (kind === "=>") last = fields;
    else {
      yield* moduleOf(last);
      last = kind === "dep" || kind === "mod" ? fields : undefined;
    }
  }
  yield* moduleOf(last);
}

function* moduleOf([path, version]: readonly string[] = []): Generator<FoundPackage> {
  if (path && version && version !== "(devel)") yield { type: "golang", ...splitPath(path), version };
}

function splitPath(path: string): { namespace?: string; name: string } {
  const cut = path.lastIndexOf("/");
  return cut < 0 ? { name: path } : { namespace: path.slice(0, cut), name: path.slice(cut + 1) };
}

/** Where in the file the build information begins. */
function find({ sections, data, bytes }: Program): number | undefined {
  const section = sections.find(({ name }) => SECTIONS.has(name));
  const place = section ?? data;
  if (place === undefined) return undefined;
  const end = place.offset + Math.min(place.size, MAX_SEARCHED_BYTES);
  for (let at = place.offset; at < end; at += PIECE_BYTES) {
    const piece = bytes(at, Math.min(PIECE_BYTES + MAGIC.length, end - at));
    for (let found = piece.indexOf(MAGIC); found >= 0; found = piece.indexOf(MAGIC, found + 1))
      if ((at + found - place.offset) % 16 === 0) return at + found;
    if (piece.length < PIECE_BYTES) break;
  }
  return undefined;
}

function readInfo(program: Program, at: number): { version: string; modules: string } {
  const head = program.bytes(at, HEADER_BYTES);
  const flags = head[15] ?? 0;
  if ((flags & 2) !== 0) {
    // Since Go 1.18: two texts with their lengths in front.
    const version = counted(program, at + HEADER_BYTES);
    return { version: version.text.toString("utf8"), modules: withoutMarks(counted(program, version.end).text) };
  }
  const pointerBytes = head[14] ?? 0;
  const isBigEndian = (flags & 1) !== 0;
  const pointer = (buffer: Buffer, offset: number): number => {
    if (pointerBytes === 4) return isBigEndian ? buffer.readUInt32BE(offset) : buffer.readUInt32LE(offset);
    if (pointerBytes !== 8) throw new Error("its build information is damaged");
    return Number(isBigEndian ? buffer.readBigUInt64BE(offset) : buffer.readBigUInt64LE(offset));
  };
  const text = (address: number): Buffer => {
    const header = program.loaded(address, 2 * pointerBytes);
    if (header.length < 2 * pointerBytes) return Buffer.alloc(0);
    return program.loaded(pointer(header, 0), Math.min(MAX_TEXT_BYTES, pointer(header, pointerBytes)));
  };
  return {
    version: text(pointer(head, 16)).toString("utf8"),
    modules: withoutMarks(text(pointer(head, 16 + pointerBytes))),
  };
}

function counted({ bytes }: Program, at: number): { text: Buffer; end: number } {
  const head = bytes(at, 5);
  let length = 0;
  let used = 0;
  for (let byte = 0x80; (byte & 0x80) !== 0 && used < head.length; used++) {
    byte = head[used] ?? 0;
    length += (byte & 0x7f) * 2 ** (7 * used);
  }
  if (length > MAX_TEXT_BYTES) throw new Error("its build information is damaged");
  return { text: bytes(at + used, length), end: at + used + length };
}

/** The text stands between two marks of 16 bytes. */
function withoutMarks(text: Buffer): string {
  const isMarked = text.length >= 2 * MARK_BYTES + 1 && text[text.length - MARK_BYTES - 1] === 0x0a;
  return isMarked ? text.toString("utf8", MARK_BYTES, text.length - MARK_BYTES) : "";
}
