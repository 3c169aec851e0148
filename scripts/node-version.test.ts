// The Node that README.md asks for is one that every installed package runs on: otherwise the first thing that a
// newcomer sees is npm's warnings.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { satisfies } from "semver";

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");

interface Lock {
  packages: Record<string, { engines?: { node?: string } | string[] }>;
}

test("every package runs on the Node that the README and CONTRIBUTING name", () => {
  const { packages } = JSON.parse(read("package-lock.json")) as Lock;
  for (const document of ["README.md", "CONTRIBUTING.md"]) {
    const [, major] = /\bNode (\d+) or later/.exec(read(document)) ?? [];
    assert.ok(major, `${document} names the version of Node`);
    const unfit = Object.entries(packages).filter(([, { engines }]) => {
      const range = Array.isArray(engines) ? undefined : engines?.node;
      return range !== undefined && !satisfies(`${major}.99.0`, range);
    });
    assert.deepEqual(
      unfit.map(([name]) => name),
      [],
      `Node ${major} of ${document}`,
    );
  }
});
