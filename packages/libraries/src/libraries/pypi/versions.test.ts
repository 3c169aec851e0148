import assert from "node:assert/strict";
import { test } from "node:test";
import { cudaOf } from "./versions.ts";

test("the version of CUDA is the last part of a local version that names one", () => {
  const cases: [string, string][] = [
    ["2.4.0+cu121", "121"],
    ["2.4.0+cpu", ""],
    ["2.4.0", ""],
    ["2.4.0+git.cu118.post1", "118"],
    ["2.4.0+cu11.cu12", "12"],
    ["2.4.0.cu121", ""],
    ["2.4.0+cu1", ""],
    ["2.4.0+cu12345", ""],
    [`1+${"cu12.+0".repeat(100_000)}cu9`, "12"],
  ];
  for (const [version, cuda] of cases) assert.equal(cudaOf(version), cuda, version.slice(0, 30));
});
