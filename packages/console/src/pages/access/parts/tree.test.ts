import assert from "node:assert/strict";
import { test } from "node:test";
import { groupsOf, wordsOf } from "./capability-words.ts";
import { fromLines, toLines } from "./lines.ts";
import { flat, parentOf, pathsOf, treeOf } from "./tree.ts";

test("groups stand below their parents, by name; one whose parent is not seen at the top", () => {
  const groups = [
    { uid: "a/2", name: "team" },
    { uid: "a/1", name: "base" },
    { uid: "a", name: "acme" },
    { uid: "b/9/8", name: "deep" },
    { uid: "a/2/3", name: "x" },
  ];
  assert.deepEqual(
    flat(treeOf(groups)).map(({ path }) => path),
    ["acme", "acme/base", "acme/team", "acme/team/x", "deep"],
  );
  assert.equal(pathsOf(groups).get("a/2/3"), "acme/team/x");
  assert.equal(parentOf("a/2/3"), "a/2");
  assert.equal(parentOf("a"), "");
});

test("capabilities in words, by what they are about", () => {
  assert.deepEqual(wordsOf("CAP_IAM_ROLE_BINDINGS_LIST"), { about: "Role bindings", verb: "see" });
  assert.deepEqual(wordsOf("CAP_TAG_UPDATE"), { about: "Tags", verb: "change" });
  assert.deepEqual(
    groupsOf(["CAP_TAG_CREATE", "CAP_REPO_LIST", "CAP_TAG_LIST"]).map(({ about, items }) => [about, items.length]),
    [
      ["Tags", 2],
      ["Repositories", 1],
    ],
  );
});

test("a map as lines, and back", () => {
  const map = { ref: "refs/heads/main", query: "a=b" };
  assert.deepEqual(fromLines(toLines(map)), map);
  assert.deepEqual(fromLines("\n  a = b \n c"), { a: "b", c: "" });
});
