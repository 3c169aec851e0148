// The Node that README.md asks for is one that every installed package runs on: otherwise the first thing that a
// newcomer sees is npm's warnings.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
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
    const [, least] = /\bNode (\d+\.\d+) or later and npm\b/.exec(read(document)) ?? [];
    assert.ok(least, `${document} names the version of Node`);
    const unfit = Object.entries(packages).filter(([, { engines }]) => {
      const range = Array.isArray(engines) ? undefined : engines?.node;
      return range !== undefined && !satisfies(`${least}.0`, range);
    });
    assert.deepEqual(
      unfit.map(([name]) => name),
      [],
      `Node ${least} of ${document}`,
    );
  }
});

test("an installation on an older Node says in one line which Node the project brings", () => {
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  assert.equal(scripts["preinstall"], "node scripts/note-node.js");
  assert.match(read(".npmrc"), /^loglevel=error$/m);
  const saidOn = (node: string): string =>
    spawnSync(process.execPath, ["scripts/note-node.js"], {
      cwd: new URL("..", import.meta.url),
      env: { npm_config_user_agent: `npm/11.19.1 node/${node} linux x64 workspaces/false` },
      encoding: "utf8",
      timeout: 60_000,
    }).stdout;
  assert.equal(
    saidOn("v20.20.2"),
    "Node 20 only installs: the npm scripts run on Node 26, which this project brings along.\n",
  );
  assert.equal(saidOn("v24.1.0"), "");
});
