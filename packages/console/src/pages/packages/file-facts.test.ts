import assert from "node:assert/strict";
import { test } from "node:test";
import { npmFacts, pythonFacts } from "./file-facts.ts";

const place = { group: "acme", name: "a", version: "1.0", ecosystem: "ECOSYSTEM_PYTHON" } as const;

test("files of other versions are left out", () => {
  const files = ["a-1.0.tar.gz", "a-1.0-py3-none-any.whl", "a-1.0.1-py3-none-any.whl", "a-11.0.tar.gz"];
  const facts = pythonFacts(place, { files: files.map((filename) => ({ filename, url: `/${filename}`, size: 3 })) });
  assert.deepEqual(
    facts.files.map(({ name }) => name),
    ["a-1.0.tar.gz", "a-1.0-py3-none-any.whl"],
  );
});

test("a manifest that says nonsense says nothing", () => {
  const odd = { license: { type: "MIT" }, dependencies: "all", dist: { tarball: 7 } };
  const nothing = { files: [], license: undefined, dependencies: [], attestation: undefined };
  assert.deepEqual(npmFacts(place, odd), nothing);
  const oddly = { attestations: { provenance: { predicateType: { a: 1 } } } };
  assert.equal(npmFacts(place, { dist: oddly }).attestation, undefined);
  const { files, license, dependencies } = npmFacts(place, {
    license: "MIT",
    dependencies: { pad: "^1" },
    dist: { tarball: "http://x/a-1.0.tgz", integrity: "sha512-x" },
  });
  assert.deepEqual([files[0]?.name, license, dependencies], ["a-1.0.tgz", "MIT", ["pad ^1"]]);
});
