import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** The tags of a package's header: numbers are int32, texts are strings. */
export type RpmTags = Readonly<Record<number, string | number>>;

/** The header of a package as the rpm database holds it. Source: rpm.org, "RPM v4 header format". */
export function rpmHeader(tags: RpmTags): Buffer {
  const index: Buffer[] = [];
  const data: Buffer[] = [];
  let at = 0;
  for (const [tag, value] of Object.entries(tags)) {
    const body = typeof value === "number" ? Buffer.alloc(4) : Buffer.from(`${value}\0`);
    if (typeof value === "number") {
      const padding = (4 - (at % 4)) % 4;
      data.push(Buffer.alloc(padding));
      at += padding;
      body.writeUInt32BE(value);
    }
    const entry = Buffer.alloc(16);
    entry.writeUInt32BE(Number(tag), 0);
    entry.writeUInt32BE(typeof value === "number" ? 4 : 6, 4);
    entry.writeUInt32BE(at, 8);
    entry.writeUInt32BE(1, 12);
    index.push(entry);
    data.push(body);
    at += body.length;
  }
  const counts = Buffer.alloc(8);
  counts.writeUInt32BE(index.length, 0);
  counts.writeUInt32BE(at, 4);
  return Buffer.concat([counts, ...index, ...data]);
}

/** rpmdb.sqlite with these headers, made by SQLite itself. */
export function rpmSqlite(headers: readonly Buffer[], more = ""): Buffer {
  const folder = mkdtempSync(join(tmpdir(), "moorage-rpm-"));
  try {
    const path = join(folder, "rpmdb.sqlite");
    const db = new DatabaseSync(path);
    db.exec(
      `pragma journal_mode = wal; pragma synchronous = off; create table Packages (hnum integer primary key autoincrement, blob blob not null); ${more}`,
    );
    const isTable = db.prepare("select 1 from sqlite_schema where name = 'Packages' and type = 'table'").get();
    db.exec("begin");
    if (isTable !== undefined && headers.length > 0) {
      const insert = db.prepare("insert into Packages (blob) values (?)");
      for (const header of headers) insert.run(header);
    }
    db.exec("commit");
    db.close();
    return readFileSync(path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Packages.db with these headers. Source: rpm, lib/backend/ndb/rpmpkg.c. */
export function rpmNdb(headers: readonly Buffer[]): Buffer {
  const slots = Buffer.alloc(4096);
  slots.write("RpmP", 0);
  slots.writeUInt32LE(1, 12);
  const blobs: Buffer[] = [];
  let block = 4096 / 16;
  headers.forEach((header, n) => {
    const blob = Buffer.alloc(Math.ceil((16 + header.length + 12) / 16) * 16);
    blob.write("BlbS", 0);
    blob.writeUInt32LE(n + 1, 4);
    blob.writeUInt32LE(header.length, 12);
    header.copy(blob, 16);
    blob.write("BlbE", blob.length - 12);
    const slot = 32 + n * 16;
    slots.write("Slot", slot);
    slots.writeUInt32LE(n + 1, slot + 4);
    slots.writeUInt32LE(block, slot + 8);
    slots.writeUInt32LE(blob.length / 16, slot + 12);
    blobs.push(blob);
    block += blob.length / 16;
  });
  return Buffer.concat([slots, ...blobs]);
}
