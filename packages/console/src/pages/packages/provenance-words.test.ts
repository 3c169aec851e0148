import assert from "node:assert/strict";
import { test } from "node:test";
import { provenanceWords } from "./provenance-words.ts";

test("provenance is named as what its publisher says, and as what nobody verified here", () => {
  const file = { name: "a", url: "/a" };
  assert.equal(provenanceWords({ files: [file], dependencies: [] }), "Not attached");
  assert.equal(
    provenanceWords({ files: [file], dependencies: [], attestation: "https://slsa.dev/provenance/v1" }),
    "SLSA provenance 1; not verified here, npm audit signatures does",
  );
  assert.match(provenanceWords({ files: [], dependencies: [], attestation: "x".repeat(9_999) }), /^Attached: x{80}; /);
  const files = [{ ...file, isAttested: true }, file];
  assert.equal(provenanceWords({ files, dependencies: [] }), "Attached to 1 of 2 files; not verified here");
  assert.equal(
    provenanceWords({ files: files.slice(0, 1), dependencies: [] }),
    "Attached to each file; not verified here",
  );
});
