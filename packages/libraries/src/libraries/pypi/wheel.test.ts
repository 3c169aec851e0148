import assert from "node:assert/strict";
import { test } from "node:test";
import { zipOf } from "../../../../server/test/support/zip.ts";
import { coreMetadata } from "./core-metadata.ts";
import { WheelError, wheelMetadata } from "./wheel.ts";

const METADATA =
  "Metadata-Version: 2.1\nName: My.Project\nVersion: 1.0\nRequires-Python: >=3.8,\n <4\nSummary: First\nSummary: Second\n\nName: other\n";

function read(bytes: Buffer): Promise<Buffer> {
  return wheelMetadata(async (start, end) => bytes.subarray(start, end), bytes.length, "my-project");
}

test("the metadata of a wheel is read byte for byte", async () => {
  const wheel = zipOf([
    { name: "my_project/__init__.py", content: "" },
    { name: "other-1.0.dist-info/METADATA", content: "Name: other\n" },
    { name: "my_project-1.0.dist-info/METADATA", content: METADATA },
  ]);
  const found = await read(wheel);
  assert.equal(found.toString(), METADATA);
  assert.deepEqual(coreMetadata(found.toString()), {
    name: "My.Project",
    version: "1.0",
    summary: "First",
    requiresPython: ">=3.8, <4",
    license: "",
  });
});

test("a license is an expression, a short field, or a classifier, in this order", () => {
  const said = (...lines: string[]): string =>
    coreMetadata(["Name: a", ...lines, "", "License: MIT"].join("\n")).license;
  const mit = "Classifier: License :: OSI Approved :: MIT License";
  assert.equal(said(mit, "License: BSD", "License-Expression: MIT OR Apache-2.0"), "MIT OR Apache-2.0");
  assert.equal(said(mit, "License: BSD"), "BSD");
  assert.equal(said("License: UNKNOWN", "Classifier: License :: OSI Approved", mit), "MIT License");
  assert.equal(said(`License: Permission is\n hereby granted ${"x".repeat(200)}`, mit), "MIT License");
  assert.equal(said(mit, "Classifier: License :: Public Domain"), "MIT License, Public Domain");
  assert.equal(said(), "");
});

test("what is no wheel of the project is rejected with the reason", async () => {
  const wheel = zipOf([{ name: "my_project-1.0.dist-info/METADATA", content: METADATA }]);
  const damaged = Buffer.from(wheel);
  damaged.fill(0xff, 60, 90);
  const cases: [Buffer, RegExp][] = [
    [Buffer.from("no zip at all"), /not a zip archive/],
    [Buffer.alloc(0), /not a zip archive/],
    [zipOf([]), /has no my-project/],
    [zipOf([{ name: "x/my_project-1.0.dist-info/METADATA", content: METADATA }]), /has no my-project/],
    [zipOf([{ name: "../my_project-1.0.dist-info/METADATA", content: METADATA }]), /list of files is damaged/],
    [damaged, /cannot be unpacked/],
    // Says that it is small, and is not.
    [
      zipOf([
        { name: "my_project-1.0.dist-info/METADATA", content: Buffer.alloc(20 * 1024 * 1024), claimedBytes: 100 },
      ]),
      /cannot be unpacked/,
    ],
    [
      zipOf([{ name: "my_project-1.0.dist-info/METADATA", content: Buffer.alloc(20 * 1024 * 1024) }]),
      /more than 8388608/,
    ],
  ];
  for (const [bytes, reason] of cases)
    await assert.rejects(
      read(bytes),
      (error: Error) => error instanceof WheelError && reason.test(error.message),
      String(reason),
    );
});
