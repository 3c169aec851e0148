import assert from "node:assert/strict";
import { test } from "node:test";
import { NOUNS } from "../gen/resources.ts";
import type { NounData } from "./method-data.ts";
import { deletedManyWords, deletedWords } from "./delete-words.ts";

test("a delete says what kind it deleted, of what goes by the name of its group as well", async () => {
  const words: Record<string, string> = {};
  for (const noun of NOUNS) {
    const { methods } = JSON.parse((await noun.load()).DATA) as NounData;
    for (const method of methods)
      if (method.kind === "delete") words[`${noun.name} ${method.verb}`] = deletedWords(noun.name, method, "acme/hub");
  }
  assert.equal(words["groups delete"], "the group acme/hub");
  assert.equal(words["registry-upstreams delete"], "the upstream of acme/hub");
  assert.equal(words["quotas delete"], "the quota of acme/hub");
  assert.equal(words["associations delete"], "the association of acme/hub");
  assert.equal(words["libraries delete"], "the library acme/hub");
  assert.equal(words["libraries delete-version"], "the version acme/hub");
  assert.equal(words["signature-policies delete"], "the signature policy acme/hub");
  assert.equal(words["personal-tokens delete"], "the personal token acme/hub");
  assert.equal(words["operations delete-feed"], "the feed acme/hub");
  assert.equal(new Set(Object.values(words)).size, Object.keys(words).length, "no two kinds go by the same words");
  assert.equal(deletedManyWords("signature-policies", ["a", "b", "c", "d"]), "4 signature policies (a, b, c, …)");
});
