import assert from "node:assert/strict";
import { test } from "node:test";
import { listedProject } from "./upstream-page.ts";

const URL_OF_PAGE = "https://pypi.example.com/simple/my-project/";
const SUM = "ab".repeat(32);

const page = (text: string, contentType: string) => ({ bytes: Buffer.from(text), contentType, url: URL_OF_PAGE });
const json = (value: object) => page(JSON.stringify(value), "application/vnd.pypi.simple.v1+json");
const html = (text: string) => page(text, "text/html; charset=utf-8");

test("a page in JSON says files, sums, times, sizes and what else clients choose by", async () => {
  const { files } = await listedProject(
    json({
      meta: { "api-version": "1.4" },
      name: "My.Project",
      files: [
        {
          filename: "my_project-1.0-RC1-py3-none-any.whl",
          url: "no file of the project: its name is none of a wheel",
        },
        {
          filename: "my_project-1.0rc1-py3-none-any.whl",
          url: "../../files/a%2Bb/my_project-1.0rc1-py3-none-any.whl#sha256=ignored",
          hashes: { sha256: SUM.toUpperCase(), blake2b: "00" },
          size: 123,
          "upload-time": "2024-02-03T04:05:06.789012Z",
          "requires-python": ">=3.8",
          yanked: "broken\nbadly",
          "core-metadata": { sha256: SUM },
          "dist-info-metadata": false,
          provenance: "https://pypi.example.com/integrity/x/provenance",
        },
        { filename: "my-project-v1.0.tar.gz", url: "https://files.example.com/x", hashes: {}, yanked: true },
      ],
    }),
    "my-project",
  );
  assert.deepEqual(files, [
    {
      name: "my_project-1.0rc1-py3-none-any.whl",
      version: "1.0rc1",
      url: "https://pypi.example.com/files/a%2Bb/my_project-1.0rc1-py3-none-any.whl",
      sums: { sha256: SUM },
      sizeBytes: 123,
      uploadMs: Date.UTC(2024, 1, 3, 4, 5, 6, 789),
      requiresPython: ">=3.8",
      yanked: "broken badly",
      metadata: SUM,
      provenance: "https://pypi.example.com/integrity/x/provenance",
    },
    { name: "my-project-v1.0.tar.gz", version: "1.0", url: "https://files.example.com/x", sums: {}, yanked: "" },
  ]);
});

test("a page in HTML says the same, as browsers and pip read it", async () => {
  const { files } = await listedProject(
    html(`<!DOCTYPE html><meta name=pypi:repository-version content="1.0"><base href="/mirror/">
      <!-- <a href="my_project-0.1.tar.gz">hidden</a> -->
      <a HREF='my_project-1.0.tar.gz#sha256=${SUM}' data-requires-python="&gt;=3.8,&#60;4" data-yanked>text</a><br>
      <a href="https://files.example.com/my_project-2.0%2Bcu121-py3-none-any.whl#md5=${"0".repeat(32)}"
         data-yanked="why &amp; when" data-dist-info-metadata="sha256=${SUM}" data-provenance="p.json">
      <a href="my_project-3.0.tar.gz" data-core-metadata=true rel=internal>unclosed
      <script>"<a href='my_project-4.0.tar.gz'>"</script><a name="no link"><a href="../">up</a>`),
    "my-project",
  );
  assert.deepEqual(files, [
    {
      name: "my_project-1.0.tar.gz",
      version: "1.0",
      url: "https://pypi.example.com/mirror/my_project-1.0.tar.gz",
      sums: { sha256: SUM },
      requiresPython: ">=3.8,<4",
      yanked: "",
    },
    {
      name: "my_project-2.0+cu121-py3-none-any.whl",
      version: "2.0+cu121",
      url: "https://files.example.com/my_project-2.0%2Bcu121-py3-none-any.whl",
      sums: { md5: "0".repeat(32) },
      yanked: "why & when",
      metadata: SUM,
      provenance: "https://pypi.example.com/simple/my-project/p.json",
    },
    {
      name: "my_project-3.0.tar.gz",
      version: "3.0",
      url: "https://pypi.example.com/mirror/my_project-3.0.tar.gz",
      sums: {},
      metadata: true,
    },
  ]);
});

test("what is no file of the project is left out", async () => {
  const entry = (filename: unknown, more: object = {}) => ({
    filename,
    url: "https://files.example.com/x",
    hashes: { sha256: SUM },
    ...more,
  });
  const { files } = await listedProject(
    json({
      files: [
        entry("other-1.0.tar.gz"),
        entry("../my_project-1.0.tar.gz"),
        entry("my_project-1.0.egg"),
        entry("my_project-1.0.tar.gz\n"),
        entry(7),
        null,
        entry("my_project-1.1.tar.gz", { hashes: { sha256: "short" } }),
        entry("my_project-1.2.tar.gz", { hashes: { sha256: 7 } }),
        entry("my_project-1.3.tar.gz", { url: "file:///etc/passwd" }),
        entry("my_project-1.4.tar.gz", { url: "https://user:password@files.example.com/" }),
        entry("my_project-1.5.tar.gz", { size: -1, "upload-time": "yesterday", yanked: false }),
        entry("my_project-1.5.tar.gz", { hashes: { sha256: "cd".repeat(32) } }),
      ],
    }),
    "my-project",
  );
  assert.deepEqual(files, [
    { name: "my_project-1.5.tar.gz", version: "1.5", url: "https://files.example.com/x", sums: { sha256: SUM } },
  ]);
});

test("an answer that is no page of the project is rejected with the reason", async () => {
  const cases: [ReturnType<typeof page>, RegExp][] = [
    [json({ name: "other", files: [] }), /of another project/],
    [json({ meta: { "api-version": "2.0" }, name: "my-project", files: [] }), /version 2\.0/],
    [html('<meta name="pypi:repository-version" content="2.0">'), /version 2\.0/],
    [json({ name: "my-project" }), /no list of files/],
    [json([]), /no list of files/],
    [page("{", "application/vnd.pypi.simple.v1+json"), /not JSON/],
    [page("[".repeat(100_000), "application/json"), /not JSON/],
    [page("hello", "text/plain"), /text\/plain/],
    [page("hello", ""), /of no type/],
  ];
  for (const [given, reason] of cases) await assert.rejects(listedProject(given, "my-project"), reason, String(reason));
});
