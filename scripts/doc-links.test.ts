// Links in the documents that git has lead to files that git has, and to headings that are there.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { test } from "node:test";

const ROOT = dirname(import.meta.dirname);
const LINK = /\]\(([^()\s]+)\)/g;

/** What is no link: code. */
function proseOf(text: string): string {
  return text.replaceAll(/^(```|~~~)[^]*?^\1/gm, "").replaceAll(/`[^`\n]*`/g, "");
}

/**
 * The anchors of a document: of its headings, and those that it sets. Source: GitHub Flavored Markdown, as forges
 * number equal headings.
 */
function anchorsOf(text: string): Set<string> {
  const found = new Set([...text.matchAll(/<a id="([\w-]+)">/g)].map(([, id = ""]) => id));
  for (const [, heading = ""] of text.replaceAll(/^(```|~~~)[^]*?^\1/gm, "").matchAll(/^#{1,6} (.+)$/gm)) {
    const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
    const slug = plain.replaceAll(/[^\p{L}\p{N}\p{M}\s_-]/gu, "").replaceAll(/\s/g, "-");
    let name = slug;
    for (let at = 1; found.has(name); at += 1) name = `${slug}-${at}`;
    found.add(name);
  }
  return found;
}

test("every link in a document leads to a file and a heading that git has", () => {
  const files = execFileSync("git", ["ls-files"], { cwd: ROOT, encoding: "utf8" }).trimEnd().split("\n");
  const isThere = (path: string): boolean => files.includes(path) || files.some((file) => file.startsWith(`${path}/`));
  const documents = files.filter((path) => path.endsWith(".md") && existsSync(join(ROOT, path)));
  const texts = new Map(documents.map((path) => [path, readFileSync(join(ROOT, path), "utf8")]));
  const anchors = new Map([...texts].map(([path, text]) => [path, anchorsOf(text)]));
  let count = 0;
  const broken = [...texts].flatMap(([path, text]) =>
    [...proseOf(text).matchAll(LINK)].flatMap(([, target = ""]) => {
      if (/^[a-z]+:/.test(target)) return [];
      count += 1;
      const [file = "", anchor] = target.split("#");
      const to = file === "" ? path : normalize(join(dirname(path), file)).replace(/\/$/, "");
      const isGood =
        isThere(to) && (anchor === undefined || !to.endsWith(".md") || anchors.get(to)?.has(anchor) === true);
      return isGood ? [] : [`${path}: ${target}`];
    }),
  );
  assert.deepEqual(broken, []);
  assert.ok(count > 200, `${count} links`);
});
