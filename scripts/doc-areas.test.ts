// docs/architecture.md has a row for every area of the server's packages, in the table of its package.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { SERVER_PACKAGES, sourcesOf } from "./server-packages.ts";

const ROOT = dirname(import.meta.dirname);

test("the table of each package has its areas, and nothing else", () => {
  const tables = readFileSync(join(ROOT, "docs/architecture.md"), "utf8").split("\n\n");
  for (const { name, layers } of SERVER_PACKAGES) {
    const table = tables.find((each) => each.startsWith(`| \`packages/${name}\` |`)) ?? "";
    const rows = [...table.matchAll(/^\| `([^`]+)` \|/gm)].slice(1).map(([, area = ""]) => area);
    const areas = layers
      .flat()
      .map((area) => (existsSync(join(sourcesOf(ROOT, name), `${area}.ts`)) ? `${area}.ts` : `${area}/`));
    assert.deepEqual(rows.toSorted(), areas.toSorted(), name);
  }
});
