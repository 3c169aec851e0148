import type { HeldFile } from "../held-file.ts";
import type { FoundPackages } from "../budget.ts";
import type { Reading } from "../types.ts";
import type { FileReader } from "../reader.ts";
import { packageOfHeader } from "./rpm-header.ts";
import { sqliteHeaders } from "./rpm-sqlite.ts";

const FOLDERS = ["var/lib/rpm/", "usr/lib/sysimage/rpm/"];
const MAX_BYTES = 1024 * 1024 * 1024;
const MAX_HEADER_BYTES = 32 * 1024 * 1024;
const PAGE_BYTES = 4_096;
const isDatabase = (path: string, name: string): boolean => FOLDERS.some((folder) => path === folder + name);

/** Packages of Red Hat, SUSE and their relatives, in the databases that rpm has had since 2020. */
export const rpmReaders: readonly FileReader[] = [
  {
    name: "rpm",
    maxBytes: MAX_BYTES,
    wants: (path) => isDatabase(path, "rpmdb.sqlite"),
    read: (file, packages) => addAll(sqliteHeaders(file, MAX_HEADER_BYTES), packages),
  },
  {
    name: "rpm",
    maxBytes: MAX_BYTES,
    wants: (path) => isDatabase(path, "Packages.db"),
    read: (file, packages) => addAll(ndbHeaders(file), packages),
  },
  {
    name: "rpm",
    maxBytes: MAX_BYTES,
    wants: (path, { size }) => size > 0 && isDatabase(path, "rpmdb.sqlite-wal"),
    read: () => ({ unread: "the newest changes of the rpm database are in a log that is not read" }),
  },
  {
    name: "rpm",
    maxBytes: MAX_BYTES,
    wants: (path) => isDatabase(path, "Packages"),
    accepts: () => true,
    read: () => ({ unread: "an rpm database of BerkeleyDB is not read" }),
  },
];

function addAll(headers: Iterable<Buffer>, packages: FoundPackages): Reading {
  for (const header of headers) {
    const found = packageOfHeader(header);
    if (found !== undefined) packages.add(found);
  }
  return {};
}

/**
 * The headers of rpm's own database: slots of 16 bytes in pages of 4 KiB, each with the place of a blob, in blocks of
 * 16 bytes. Source: rpm, lib/backend/ndb/rpmpkg.c.
 */
function* ndbHeaders(file: HeldFile): Generator<Buffer> {
  const start = file.bytes(0, 32);
  if (start.length < 32 || start.toString("latin1", 0, 4) !== "RpmP" || start.readUInt32LE(4) !== 0)
    throw new Error("it is no database of rpm");
  const pages = start.readUInt32LE(12);
  if (pages * PAGE_BYTES > file.size) throw new Error("it is shorter than it says");
  // Places may lie upon each other: together they are not longer than the file.
  let left = file.size;
  let page = start;
  // The first two places of slots are those of the database's own header.
  for (let at = 32; at < pages * PAGE_BYTES; at += 16) {
    if (at % PAGE_BYTES === 0 || at === 32) page = file.bytes(at - (at % PAGE_BYTES), PAGE_BYTES);
    const slot = page.subarray(at % PAGE_BYTES, (at % PAGE_BYTES) + 16);
    const blobAt = slot.readUInt32LE(8) * 16;
    if (slot.toString("latin1", 0, 4) !== "Slot" || blobAt === 0) continue;
    const head = file.bytes(blobAt, 16);
    if (head.length < 16 || head.toString("latin1", 0, 4) !== "BlbS" || head.readUInt32LE(4) !== slot.readUInt32LE(4))
      throw new Error("a package is damaged");
    const length = head.readUInt32LE(12);
    if (length > MAX_HEADER_BYTES) throw new Error(`a package has more than ${MAX_HEADER_BYTES} bytes`);
    left -= 16 + length;
    if (left < 0) throw new Error("a package is damaged");
    yield file.bytes(blobAt + 16, length);
  }
}
