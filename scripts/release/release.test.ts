import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { sized } from "../../packages/server/test/support/extent.ts";
import { ROOT } from "../bundle/programs.ts";
import { makeChart } from "./chart.ts";
import { notesFrom } from "./documents.ts";
import { PINS } from "./inputs.ts";
import type { Descriptor } from "./oci-layout.ts";
import { entriesOf, gzipped, tarOf } from "./tar.ts";

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "moorage-release-"));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  return folder;
}

test("an archive holds what went in, in whatever order it was named, for the system's own tar", async (t) => {
  const folder = temporaryFolder(t);
  const long = `a/${"long/".repeat(40)}file`;
  const entries = [
    { name: long, content: "deep" },
    { name: "b", content: "run", mode: 0o755 },
    { name: "link", target: `${"x".repeat(120)}/target` },
    { name: "a" },
  ];
  const archive = tarOf(entries);
  assert.deepEqual(tarOf(entries.toReversed()), archive);
  writeFileSync(join(folder, "some.tar.gz"), gzipped(archive));
  const unpacked = spawnSync("tar", ["-xzf", "some.tar.gz"], { cwd: folder, encoding: "utf8" });
  assert.deepEqual([unpacked.status, unpacked.stderr], [0, ""]);
  assert.equal(readFileSync(join(folder, long), "utf8"), "deep");
  const again = entriesOf(folder, "").filter(({ name }) => name !== "some.tar.gz");
  assert.deepEqual(
    [again.find(({ name }) => name === "b")?.mode, again.find(({ name }) => name === "link")?.target],
    [0o755, `${"x".repeat(120)}/target`],
  );
});

test("the chart's layout is complete, names what is in it, and is the same each time", (t) => {
  const [one, other] = [temporaryFolder(t), temporaryFolder(t)];
  makeChart(one);
  makeChart(other);
  const blobs = join(one, "blobs/sha256");
  assert.deepEqual(readdirSync(join(other, "blobs/sha256")).toSorted(), readdirSync(blobs).toSorted());
  assert.equal(readFileSync(join(one, "index.json"), "utf8"), readFileSync(join(other, "index.json"), "utf8"));
  const blob = ({ digest, size }: Descriptor): Buffer => {
    const content = readFileSync(join(blobs, digest.slice("sha256:".length)));
    assert.equal(content.length, size);
    assert.equal(`sha256:${createHash("sha256").update(content).digest("hex")}`, digest);
    return content;
  };
  const index = JSON.parse(readFileSync(join(one, "index.json"), "utf8")) as { manifests: [Descriptor] };
  const manifest = JSON.parse(blob(index.manifests[0]).toString()) as { config: Descriptor; layers: [Descriptor] };
  assert.equal((JSON.parse(blob(manifest.config).toString()) as { name: string }).name, "moorage");
  const archive = gunzipSync(blob(manifest.layers[0])).toString("latin1");
  for (const file of ["Chart.yaml", "values.yaml", "templates/deployment.yaml"])
    assert.ok(archive.includes(`moorage/${file}\0`), file);
});

test("notes are the section of the version, or of what is unreleased", () => {
  const changelog = "# Changelog\n\n## [Unreleased]\n\n- new\n\n## [1.0.0] - 2026-01-01\n\n- old\n";
  assert.equal(notesFrom(changelog, "1.0.0"), "# Moorage 1.0.0\n\n- old\n");
  assert.equal(notesFrom(changelog, "1.1.0"), "# Moorage 1.1.0\n\n- new\n");
  assert.throws(() => notesFrom("# Changelog\n", "1.0.0"), /no section/);
});

test("the pinned Node is the one that the project brings", () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, "node_modules/node/package.json"), "utf8")) as {
    version: string;
  };
  assert.equal(PINS.node.version, version, "scripts/release/pins.json names another one");
});

test(
  "processes of their own make the same one file",
  { skip: sized<string | false>("in npm run test:all", false) },
  async () => {
    const program = `const { oneFileOf } = await import(${JSON.stringify(join(ROOT, "scripts/bundle/one-file.ts"))});
    const { createHash } = await import("node:crypto");
    console.log(createHash("sha256").update((await oneFileOf("moorage")).text).digest("hex"));`;
    const made = await Promise.all(
      [1, 2].map(() => promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program])),
    );
    assert.match(made[0]?.stdout ?? "", /^[0-9a-f]{64}\n$/);
    assert.equal(made[0]?.stdout, made[1]?.stdout);
  },
);
