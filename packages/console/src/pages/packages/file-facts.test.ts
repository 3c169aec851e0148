import assert from "node:assert/strict";
import { test } from "node:test";
import { npmFacts, pythonFacts, requiredDistributions } from "./file-facts.ts";

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

test("what core metadata require ends with their head, and of more dependencies than 200 the rest is counted", () => {
  const metadata = "Name: a\nRequires-Dist: b>=1\nrequires-dist: c ; extra == 'x'\r\n\nRequires-Dist: of the readme";
  assert.deepEqual(requiredDistributions(metadata), ["b>=1", "c ; extra == 'x'"]);
  const many = Object.fromEntries(Array.from({ length: 203 }, (_, at) => [`d${at}`, "1"]));
  const facts = npmFacts(place, { dependencies: many });
  assert.deepEqual([facts.dependencies?.length, facts.moreDependencies], [200, 3]);
  assert.equal(pythonFacts(place, { files: [] }).dependencies, undefined);
});
