import assert from "node:assert/strict";
import { test } from "node:test";
import { simpleFormOf, simpleIndexParts, simpleProject, type SimpleFile } from "./simple-pages.ts";

const JSON_TYPE = "application/vnd.pypi.simple.v1+json";
const HTML_TYPE = "application/vnd.pypi.simple.v1+html";

test("the form is the one that the client wants most", () => {
  const cases: [string | undefined, string | undefined][] = [
    [undefined, "text/html; charset=utf-8"],
    ["*/*", "text/html; charset=utf-8"],
    // What pip sends.
    [`${JSON_TYPE}, ${HTML_TYPE}; q=0.1, text/html; q=0.01`, JSON_TYPE],
    [`${HTML_TYPE};q=0.9,${JSON_TYPE};q=0.2`, HTML_TYPE],
    ["application/vnd.pypi.simple.latest+json", JSON_TYPE],
    ["application/vnd.pypi.simple.v2+json", undefined],
    [`${JSON_TYPE};q=0`, undefined],
    ["image/png", undefined],
  ];
  for (const [accept, mediaType] of cases)
    assert.equal(simpleFormOf(accept)?.mediaType, mediaType, accept ?? "no header");
});

const FILE: SimpleFile = {
  filename: "a-1.0+x-py3-none-any.whl",
  sums: { sha256: "ab".repeat(32) },
  sizeBytes: 5,
  uploadTimeMs: 0,
  requiresPython: '>=3.8,<"4"',
  metadata: "cd".repeat(32),
  yanked: "<script>alert(1)</script>",
};

test("what publishers write is text in HTML, and never markup", () => {
  const page = simpleProject("html", { name: "a", versions: ["1.0"], files: [FILE] });
  assert.ok(!page.includes("<script>"), page);
  assert.ok(page.includes('data-requires-python="&gt;=3.8,&lt;&quot;4&quot;"'), page);
  assert.ok(page.includes(`href="a-1.0%2Bx-py3-none-any.whl#sha256=${"ab".repeat(32)}"`), page);
  assert.ok(page.includes(`data-core-metadata="sha256=${"cd".repeat(32)}"`), page);
});

test("JSON says the same, with sizes and times", () => {
  const { files, ...rest } = JSON.parse(simpleProject("json", { name: "a", versions: ["1.0"], files: [FILE] }));
  assert.deepEqual(rest, { meta: { "api-version": "1.3" }, name: "a", versions: ["1.0"] });
  assert.deepEqual(files[0], {
    filename: FILE.filename,
    url: "a-1.0%2Bx-py3-none-any.whl",
    hashes: FILE.sums,
    "requires-python": FILE.requiresPython,
    size: 5,
    "upload-time": "1970-01-01T00:00:00.000Z",
    yanked: FILE.yanked,
    "core-metadata": { sha256: FILE.metadata },
    provenance: null,
  });
  // Yanked without a reason.
  assert.equal(
    JSON.parse(simpleProject("json", { name: "a", versions: [], files: [{ ...FILE, yanked: "" }] })).files[0].yanked,
    true,
  );
});

test("what an upstream does not say is left out, and no version is claimed that asks for it", () => {
  const file = {
    ...FILE,
    sums: { md5: "0".repeat(32) },
    sizeBytes: undefined,
    uploadTimeMs: undefined,
    metadata: true,
  } as const;
  const page = JSON.parse(simpleProject("json", { name: "a", versions: ["1.0"], files: [file] }));
  assert.equal(page.meta["api-version"], "1.0");
  const [said] = page.files;
  assert.deepEqual(
    [said.hashes, said["core-metadata"], "size" in said, "upload-time" in said],
    [file.sums, true, false, false],
  );
  const html = simpleProject("html", { name: "a", versions: ["1.0"], files: [file] });
  assert.ok(html.includes(`.whl#md5=${file.sums.md5}"`) && html.includes('data-core-metadata="true"'), html);
  assert.ok(
    simpleProject("html", { name: "a", versions: [], files: [{ ...file, sums: {} }] }).includes('.whl" '),
    "no sum",
  );
});

test("the index has a link for each project", () => {
  const indexOf = (form: "json" | "html", names: string[]): string => {
    const { head, item, between, tail } = simpleIndexParts(form);
    return head + names.map(item).join(between) + tail;
  };
  assert.deepEqual(JSON.parse(indexOf("json", ["a", "b-c"])).projects, [{ name: "a" }, { name: "b-c" }]);
  assert.deepEqual(JSON.parse(indexOf("json", [])).projects, []);
  assert.equal(indexOf("html", ["a", "b-c"]).match(/<a href="[^"]*\/">/g)?.length, 2);
});
