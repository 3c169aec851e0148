import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { probeFolderInBackground } from "./probe-folder.ts";

describe("a probe of a folder in the background", () => {
  it("leaves nothing behind, and asks a folder again once it has answered", async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "moorage-probe-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const first = probeFolderInBackground(folder);
    await first;
    assert.deepEqual(readdirSync(folder), []);
    rmSync(folder, { recursive: true });
    await assert.rejects(probeFolderInBackground(folder), { code: "ENOENT" });
    mkdirSync(folder);
    await probeFolderInBackground(folder);
  });

  it("is one probe for all who ask while the disk has not answered", async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "moorage-probe-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const probes = Array.from({ length: 100 }, () => probeFolderInBackground(folder));
    assert.equal(new Set(probes).size, 1);
    await Promise.all(probes);
  });
});
