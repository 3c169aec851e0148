import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { SILENT } from "../../src/admin/progress.ts";
import { backupInstallation, checkInstallation, exportInstallation, loadConfig } from "../../src/index.ts";
import { newDataDir, startDiskServer } from "../support/disk-server.ts";
import { smallDisk } from "../support/small-disk.ts";

/** Fills the file system to its last byte. */
function fill(folder: string): void {
  const file = openSync(join(folder, "ballast"), "a");
  try {
    for (;;) writeSync(file, Buffer.alloc(4096));
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, "ENOSPC");
  } finally {
    closeSync(file);
  }
}

test(
  "fsck, export and backup say in one line which folder is full, and on which file system",
  { timeout: 300_000 },
  async (t) => {
    const full = smallDisk(t, 1);
    if (full === undefined) return;
    const dataDir = newDataDir(t);
    const server = await startDiskServer(t, dataDir);
    assert.equal((await server.push(randomBytes(300_000))).status, 201);
    assert.equal(await server.stop(), 0);
    const config = loadConfig({ MOORAGE_DATA_DIR: dataDir });
    fill(full);
    const isNamed = (error: unknown): boolean => {
      assert.ok(error instanceof Error);
      const line = new RegExp(
        `^no space left in ${full}(?:/out|/copy)?, on the file system of ${full}: \\d+ of \\d+ bytes`,
      );
      assert.match(error.message, line);
      assert.doesNotMatch(error.message, /\n/);
      assert.doesNotMatch(error.message, new RegExp(dataDir), "the folder that has space is not named");
      return true;
    };
    const temporary = process.env["TMPDIR"];
    process.env["TMPDIR"] = full;
    t.after(() => {
      if (temporary === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = temporary;
    });
    await assert.rejects(checkInstallation(config, { repair: false, deep: false }, SILENT), (error) => {
      assert.match(String(error), /TMPDIR names another folder/);
      return isNamed(error);
    });
    await assert.rejects(exportInstallation(config, join(full, "out"), SILENT), isNamed);
    await assert.rejects(backupInstallation(config, join(full, "copy"), SILENT), isNamed);
  },
);
