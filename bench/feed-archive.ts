import { randomBytes } from "node:crypto";
import { closeSync, openSync, writeSync } from "node:fs";
import { crc32, deflateRawSync } from "node:zlib";

// Records as those of PyPI: a text, some versions, one package with a range.
const TEXT_BYTES = 2_400;
const VERSIONS = 60;

/** Records of OSV, all different; their texts can hardly be compressed. */
export function* osvRecords(count: number): Generator<{ id: string; content: string }> {
  for (let n = 0; n < count; n += 1) {
    const id = `BENCH-${String(n).padStart(8, "0")}`;
    const name = `package-${n % Math.max(1, count >> 1)}`;
    const versions = Array.from({ length: VERSIONS }, (_, at) => `${at >> 3}.${at & 7}.${n % 97}`);
    const record = {
      schema_version: "1.7.0",
      id,
      modified: "2026-01-01T00:00:00Z",
      aliases: [`CVE-2026-${n}`],
      details: randomBytes(TEXT_BYTES).toString("base64"),
      affected: [
        {
          package: { ecosystem: "PyPI", name },
          ranges: [{ type: "ECOSYSTEM", events: [{ introduced: "0" }, { fixed: `8.0.${n % 97}` }] }],
          versions,
        },
      ],
    };
    yield { id, content: JSON.stringify(record) };
  }
}

/**
 * Writes the records as an archive, each in a file of its own, at most 65,535 of them; answers the bytes that it
 * unpacks to. One record is in memory at a time. Source of the format: PKWARE APPNOTE.TXT 6.3.
 */
export function writeArchive(file: string, records: Iterable<{ id: string; content: string }>): number {
  const out = openSync(file, "w");
  try {
    const directory: Buffer[] = [];
    let [offset, unpacked] = [0, 0];
    for (const { id, content } of records) {
      const [name, plain] = [Buffer.from(`${id}.json`), Buffer.from(content)];
      const packed = deflateRawSync(plain, { level: 1 });
      const common = Buffer.alloc(26);
      common.writeUInt16LE(20, 0);
      common.writeUInt16LE(8, 4);
      common.writeUInt32LE(crc32(plain), 10);
      common.writeUInt32LE(packed.length, 14);
      common.writeUInt32LE(plain.length, 18);
      common.writeUInt16LE(name.length, 22);
      const place = Buffer.alloc(14);
      place.writeUInt32LE(offset, 10);
      directory.push(Buffer.concat([Buffer.from("504b01021400", "hex"), common, place, name]));
      offset += writeSync(out, Buffer.concat([Buffer.from("504b0304", "hex"), common, name, packed]));
      unpacked += plain.length;
    }
    const central = Buffer.concat(directory);
    const end = Buffer.alloc(22);
    end.writeUInt32LE(0x06054b50, 0);
    end.writeUInt16LE(directory.length, 8);
    end.writeUInt16LE(directory.length, 10);
    end.writeUInt32LE(central.length, 12);
    end.writeUInt32LE(offset, 16);
    writeSync(out, Buffer.concat([central, end]));
    return unpacked;
  } finally {
    closeSync(out);
  }
}
