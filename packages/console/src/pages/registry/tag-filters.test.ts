import assert from "node:assert/strict";
import { test } from "node:test";
import { filtersOf, fits, isFiltered, isOfImages, ofUnknown, orderOf, requestOf, sinceOf } from "./tag-filters.ts";

test("values that the address has and nobody offered are no filters", () => {
  assert.deepEqual(filtersOf({ updated: "soon", status: "deprecated", hide: "all" }), { status: "deprecated" });
  assert.equal(isFiltered({ updated: "-1" }), false);
});

test("filters are those of the list's request", () => {
  assert.equal(sinceOf({ updated: "7" }, Date.UTC(2026, 10, 27)), "2026-11-20T00:00:00.000Z");
  assert.deepEqual(requestOf({ hide: "attached" }, "2026-11-20T00:00:00Z"), {
    updatedSince: "2026-11-20T00:00:00Z",
    includeReferrers: false,
  });
  assert.deepEqual(requestOf({}, undefined), {});
  assert.deepEqual(requestOf({ platform: "arm64", signature: "trusted", findings: "high" }, undefined), {
    architecture: "arm64",
    signature: "TAG_SIGNATURE_TRUSTED",
    findings: "TAG_FINDINGS_HIGH",
  });
  assert.deepEqual(filtersOf({ platform: "pdp11", findings: "some" }), {});
});

test("what is not known is shown by the filter that has a value for it", () => {
  assert.deepEqual(ofUnknown({ findings: "high", signature: "none" }), { findings: "unknown" });
  assert.deepEqual(ofUnknown({ findings: "unknown", signature: "none" }), { signature: "unknown" });
  assert.equal(ofUnknown({ platform: "arm64" }), undefined);
  assert.deepEqual([isOfImages({ platform: "arm64" }), isOfImages({ hide: "dates" })], [true, false]);
});

test("tags of a status come first, in the order that was chosen", () => {
  assert.equal(orderOf({ status: "deprecated" }, "update_time desc"), "deprecated desc,update_time desc");
  assert.equal(orderOf({ status: "current" }, "deprecated desc"), "deprecated,name");
  assert.equal(orderOf({}, "name"), "name");
  assert.equal(fits({ status: "current" }, { deprecated: true }), false);
  assert.equal(fits({ status: "deprecated" }, { deprecated: true }), true);
});
