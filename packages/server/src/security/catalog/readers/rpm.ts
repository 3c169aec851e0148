import { DatabaseSync } from "node:sqlite";
import type { HeldFile } from "../held-file.ts";
import type { FileReader, FoundPackage } from "../types.ts";
import { packageOfHeader } from "./rpm-header.ts";

const FOLDERS = ["var/lib/rpm/", "usr/lib/sysimage/rpm/"];
const MAX_BYTES = 1024 * 1024 * 1024;
const MAX_HEADER_BYTES = 32 * 1024 * 1024;
const isDatabase = (path: string, name: string): boolean => FOLDERS.some((folder) => path === folder + name);

/** Packages of Red Hat, SUSE and their relatives, in the databases that rpm has had since 2020. */
export const rpmReaders: readonly FileReader[] = [
  {
    name: "rpm",
    maxBytes: MAX_BYTES,
    wants: (path) => isDatabase(path, "rpmdb.sqlite"),
    read: (file) => ({ packages: fromHeaders(sqliteHeaders(file)) }),
  },
  {
    name: "rpm",
    maxBytes: MAX_BYTES,
    wants: (path) => isDatabase(path, "Packages.db"),
    read: (file) => ({ packages: fromHeaders(ndbHeaders(file)) }),
  },
  {
    name: "rpm",
    maxBytes: MAX_BYTES,
    wants: (path, { size }) => size > 0 && isDatabase(path, "rpmdb.sqlite-wal"),
    read: () => ({ packages: [], unread: "the newest changes of the rpm database are in a log that is not read" }),
  },
  {
    name: "rpm",
    maxBytes: MAX_BYTES,
    wants: (path) => isDatabase(path, "Packages"),
    accepts: () => true,
    read: () => ({ packages: [], unread: "an rpm database of BerkeleyDB is not read" }),
  },
];

function fromHeaders(headers: Iterable<Buffer>): FoundPackage[] {
  const packages: FoundPackage[] = [];
  for (const header of headers) {
    const found = packageOfHeader(header);
    if (found !== undefined) packages.push(found);
  }
  return packages;
}

/** The file is somebody else's: it may define views and triggers, none of which are run. */
function* sqliteHeaders(file: HeldFile): Generator<Buffer> {
  const db = new DatabaseSync(file.path(), { allowExtension: false });
  try {
    db.exec("pragma trusted_schema = off; pragma cell_size_check = on; pragma mmap_size = 0");
    const table = db.prepare("select type from sqlite_schema where name = 'Packages'").get();
    if (table?.["type"] !== "table") throw new Error("it has no table of packages");
    const query = `select blob from Packages where length(blob) <= ${MAX_HEADER_BYTES}`;
    for (const { blob } of db.prepare(query).iterate())
      if (blob instanceof Uint8Array) yield Buffer.from(blob.buffer, blob.byteOffset, blob.byteLength);
  } finally {
    db.close();
  }
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
  if (pages * 4096 > file.size) throw new Error("it is shorter than it says");
  // The first two places of slots are those of the database's own header.
  for (let at = 32; at < pages * 4096; at += 16) {
    const slot = file.bytes(at, 16);
    const blobAt = slot.readUInt32LE(8) * 16;
    if (slot.toString("latin1", 0, 4) !== "Slot" || blobAt === 0) continue;
    const head = file.bytes(blobAt, 16);
    if (head.length < 16 || head.toString("latin1", 0, 4) !== "BlbS" || head.readUInt32LE(4) !== slot.readUInt32LE(4))
      throw new Error("a package is damaged");
    const length = head.readUInt32LE(12);
    if (length <= MAX_HEADER_BYTES) yield file.bytes(blobAt + 16, length);
  }
}
