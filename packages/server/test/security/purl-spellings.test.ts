import assert from "node:assert/strict";
import { test } from "node:test";
import { normalPurl, parsedPurl, purlMatcher } from "../../src/lib/purls/index.ts";
import { imageOf, SPELLED } from "../support/purl-spellings.ts";

// How others write the packages that our own reading finds. Each row stands for an SBOM, a statement, a filter and a
// policy alike.

test("a package URL means a package however it is written, and nothing that looks alike", () => {
  for (const { purl, source, sbom, broader = [], others } of SPELLED) {
    for (const written of [purl, ...sbom, ...broader])
      assert.equal(purlMatcher(written)?.({ purl, source }), true, `${written} is ${purl}`);
    for (const written of others)
      assert.notEqual(purlMatcher(written)?.({ purl, source }), true, `${written} is not ${purl}`);
  }
});

test("every writing of one build has one form", () => {
  for (const spelled of SPELLED)
    for (const written of [spelled.purl, ...spelled.sbom]) {
      const read = parsedPurl(written);
      assert.equal(read && normalPurl(read, imageOf(spelled)).purl, spelled.purl, written);
    }
});
